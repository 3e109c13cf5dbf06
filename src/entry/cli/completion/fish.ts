import { type CommandWords, type OptionWord, PROGRAM_NAME, type Word } from './words.ts';

/** Returns a completion script for fish, which contains all words. */
export function writeFishCompletion(all: readonly CommandWords[]): string {
  return `# fish completion for ${PROGRAM_NAME}
function __customshouse_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at/$word"
${writeSteps(all)}
        end
    end
    test "$at" = "$argv[1]"
end
${writeCompletions(PROGRAM_NAME, all)}
`;
}

function writeSteps(all: readonly CommandWords[]): string {
  return all
    .filter(({ path }) => path !== '')
    .map(({ path }) => {
      const words = path.split(' ');
      return `            case '${words.slice(0, -1).join(' ')}/${words.at(-1)}'\n                set at '${path}'`;
    })
    .join('\n');
}

function writeCompletions(name: string, all: readonly CommandWords[]): string {
  return all
    .flatMap(({ path, subcommands, options, values }) => {
      const start = `complete -c ${name} -n "__customshouse_at '${path}'"`;
      return [
        ...subcommands.map((word) => `${start} -f ${writeWord(word)}`),
        ...values.map((word) => `${start} -f ${writeWord({ word, about: '' })}`),
        ...options.map((option) => `${start} ${writeOption(option)}`),
      ];
    })
    .join('\n');
}

function writeWord({ word, about }: Word): string {
  return `-a ${quoteText(word)}${about === '' ? '' : ` -d ${quoteText(about)}`}`;
}

function writeOption({ word, about, takes_value, values }: OptionWord): string {
  const flag = word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`;
  const value = !takes_value ? '' : values.length === 0 ? ' -r' : ` -x -a ${quoteText(values.join(' '))}`;
  return `${flag}${value} -d ${quoteText(about)}`;
}

function quoteText(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
