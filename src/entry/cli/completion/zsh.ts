import { type CommandWords, PROGRAM_NAME, type Word } from './words.ts';

/**
 * Returns a completion script for zsh, which contains all words. Source it, or put it in `fpath` as `_customshouse`.
 */
export function writeZshCompletion(all: readonly CommandWords[]): string {
  return `#compdef ${PROGRAM_NAME}
_customshouse() {
  local command_path='' previous="\${words[CURRENT-1]}" i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    case "$command_path/\${words[i]}" in
${writeSteps(all)}
    esac
  done
  case "$command_path $previous" in
${writeOptionValues(all)}
  esac
  case "$command_path" in
${writeCommandCases(all)}
  esac
  _describe 'command' found || _files
}
if [ "\${funcstack[1]}" = '_customshouse' ]; then _customshouse "$@"; else compdef _customshouse ${PROGRAM_NAME}; fi
`;
}

function writeSteps(all: readonly CommandWords[]): string {
  return all
    .filter(({ path }) => path !== '')
    .map(({ path }) => {
      const words = path.split(' ');
      return `      '${words.slice(0, -1).join(' ')}/${words.at(-1)}') command_path='${path}' ;;`;
    })
    .join('\n');
}

function writeOptionValues(all: readonly CommandWords[]): string {
  return all
    .flatMap(({ path, options }) =>
      options.filter((option) => option.takes_value).map((option) => ({ path, option })),
    )
    .map(({ path, option }) => {
      const answer =
        option.values.length === 0 ? '_files' : `found=(${option.values.join(' ')}); _describe 'value' found`;
      return `    '${path} ${option.word}') ${answer}; return ;;`;
    })
    .join('\n');
}

function writeCommandCases(all: readonly CommandWords[]): string {
  return all
    .map(({ path, subcommands, options, values }) => {
      const words = [...subcommands, ...options, ...values.map((word) => ({ word, about: '' }))];
      return `    '${path}') found=(${words.map(describeWord).join(' ')}) ;;`;
    })
    .join('\n');
}

function describeWord({ word, about }: Word): string {
  const text = about === '' ? word : `${word}:${about.replaceAll(':', '\\:')}`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
