import { type CommandWords, type OptionWord, PROGRAM_NAME, type Word } from './words.ts';

/** Returns a completion script for fish, which contains all words. */
export function writeFishCompletion(all: readonly CommandWords[]): string {
  return `# fish completion for ${PROGRAM_NAME}
function __agent_safety_at
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at/$word"
${steps(all)}
        end
    end
    test "$at" = "$argv[1]"
end
${completions(PROGRAM_NAME, all)}
`;
}

function steps(all: readonly CommandWords[]): string {
  return all
    .filter(({ path }) => path !== '')
    .map(({ path }) => {
      const words = path.split(' ');
      return `            case '${words.slice(0, -1).join(' ')}/${words.at(-1)}'\n                set at '${path}'`;
    })
    .join('\n');
}

function completions(name: string, all: readonly CommandWords[]): string {
  return all
    .flatMap(({ path, subcommands, options, values }) => {
      const start = `complete -c ${name} -n "__agent_safety_at '${path}'"`;
      return [
        ...subcommands.map((word) => `${start} -f ${worded(word)}`),
        ...values.map((word) => `${start} -f ${worded({ word, about: '' })}`),
        ...options.map((option) => `${start} ${optioned(option)}`),
      ];
    })
    .join('\n');
}

function worded({ word, about }: Word): string {
  return `-a ${quoted(word)}${about === '' ? '' : ` -d ${quoted(about)}`}`;
}

function optioned({ word, about, takes_value, values }: OptionWord): string {
  const flag = word.startsWith('--') ? `-l ${word.slice(2)}` : `-s ${word.slice(1)}`;
  const value = !takes_value ? '' : values.length === 0 ? ' -r' : ` -x -a ${quoted(values.join(' '))}`;
  return `${flag}${value} -d ${quoted(about)}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
