import { type CommandWords, PROGRAM_NAME } from './words.ts';

/**
 * Returns a completion script for bash 3.2 and later. It contains all words, runs no program and never evaluates the
 * typed text.
 */
export function writeBashCompletion(all: readonly CommandWords[]): string {
  return `# bash completion for ${PROGRAM_NAME}
_customshouse_complete() {
  local cur prev path words i
  cur="\${COMP_WORDS[COMP_CWORD]}"
  prev="\${COMP_WORDS[COMP_CWORD-1]}"
  # Bash takes \`--mode=x\` for three words.
  if [ "$cur" = '=' ]; then cur=''; elif [ "$prev" = '=' ]; then prev="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  path=''
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$path/\${COMP_WORDS[i]}" in
${writeSteps(all)}
    esac
  done
  words=''
  case "$path $prev" in
${writeOptionValues(all)}
    *)
      case "$path" in
${writeCommandCases(all)}
      esac
      ;;
  esac
  COMPREPLY=()
  while IFS='' read -r i; do COMPREPLY+=("$i"); done < <(compgen -W "$words" -- "$cur")
}
complete -o default -F _customshouse_complete ${PROGRAM_NAME} ./${PROGRAM_NAME} ./service
`;
}

function writeSteps(all: readonly CommandWords[]): string {
  const paths = all.map((words) => words.path).filter((path) => path !== '');
  return paths
    .map((path) => `      '${dropLastWord(path)}/${getLastWord(path)}') path='${path}' ;;`)
    .join('\n');
}

function dropLastWord(path: string): string {
  return path.split(' ').slice(0, -1).join(' ');
}

function getLastWord(path: string): string {
  return path.split(' ').at(-1)!;
}

function writeOptionValues(all: readonly CommandWords[]): string {
  const taking = all.flatMap(({ path, options }) =>
    options
      .filter((option) => option.takes_value)
      .map((option) => `    '${path} ${option.word}') words='${option.values.join(' ')}' ;;`),
  );
  return taking.join('\n');
}

function writeCommandCases(all: readonly CommandWords[]): string {
  return all
    .map(({ path, subcommands, options, values }) => {
      const words = [...subcommands, ...options].map(({ word }) => word);
      return `        '${path}') words='${[...words, ...values].join(' ')}' ;;`;
    })
    .join('\n');
}
