import type { InstalledHook } from './settings.ts';

/** The parts of a hook's command line. */
export interface HookCommand {
  /** The words that start this program: absolute paths, or its name alone. */
  readonly program: readonly string[];
  /** The absolute path of the configuration; relative to the project if there is a `project_folder`. */
  readonly config: string;
  /** The expression for the project's folder, which the agent's shell replaces. */
  readonly project_folder?: string;
  readonly dialect: string;
  /** `null` if the agent's payloads name the event. */
  readonly event: string | null;
  /** Further options with their values, such as `--timeout-ms 5000`. Setup writes none. */
  readonly extra?: readonly string[];
  /** True if the line turns every failure into exit code 2, which agents treat as a denial. */
  readonly guards_exit: boolean;
}

/** Returns the words of a hook's command line, without the path of the configuration at its end. */
export function listHookArguments({ program, dialect, event, extra = [] }: HookCommand): readonly string[] {
  const ofEvent = event === null ? [] : ['--event', event];
  return [...program, 'hook', '--dialect', dialect, ...ofEvent, ...extra, '--config'];
}

/** Returns the command line of a hook, quoted for a POSIX shell. */
export function formatHookCommand(command: HookCommand): string {
  const { config, project_folder, guards_exit } = command;
  const path = project_folder === undefined ? quoteArg(config) : `${project_folder}/${quoteArg(config)}`;
  // A missing program ends with 127 and a killed one with 137, and agents continue after both.
  return `${listHookArguments(command).map(quoteArg).join(' ')} ${path}${guards_exit ? ' || exit 2' : ''}`;
}

/** The project's folder for agents that have no variable for it: the root of its Git repository. */
export const GIT_PROJECT_FOLDER = '"$(git rev-parse --show-toplevel)"';

/**
 * Replaces expressions for the project's folder in a word of a hook's command.
 * @param variables the environment variables in which the agent gives the folder
 */
export function replaceProjectFolder(word: string, variables: readonly string[], project: string): string {
  const names = variables.join('|');
  const alternatives = [
    ...(names === '' ? [] : [`\\$(?:${names})\\b`, `\\$\\{(?:${names})\\}`]),
    '\\$\\(git rev-parse --show-toplevel\\)',
  ];
  return word.replaceAll(new RegExp(alternatives.join('|'), 'g'), () => project);
}

/** Quotes a word for a POSIX shell, if it needs quotes. */
export function quoteArg(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Reads the command of an entry in any published form; `null` if it has none. */
export function readCommand(
  members: Readonly<Record<string, unknown>>,
): Pick<InstalledHook, 'command' | 'args' | 'is_ours' | 'config_path'> | null {
  const command = [members.command, members.bash, members.exec].find((each) => typeof each === 'string');
  if (typeof command !== 'string') return null;
  const args = Array.isArray(members.args) ? members.args.map(String) : null;
  const ours = findOurArguments('hook', args === null ? splitCommand(command) : [command, ...args]);
  return { command, args, is_ours: ours !== null, config_path: findConfig(ours ?? []) };
}

function findConfig(words: readonly string[]): string | null {
  const at = words.findIndex((word) => /^(?:--config|-c)(?:=|$)/.test(word));
  return words[at]?.split('=', 2)[1] ?? (at === -1 ? null : (words[at + 1] ?? null));
}

/** This program's file names, also the earlier one, and ends of paths with which Node starts it. */
const OUR_NAMES =
  /(?:^|[\\/])(?:service|customshouse|agent-safety)$|[\\/]entry[\\/]cli[\\/](?:bin\.[jt]s|main\.[jt]s)$/;

/**
 * Returns the arguments that a command line gives to a subcommand of this program; `null` if it runs another program.
 */
export function findOurArguments(
  subcommand: 'hook' | 'mcp',
  words: readonly string[],
): readonly string[] | null {
  const at = words.findIndex((word, index) => OUR_NAMES.test(word) && words[index + 1] === subcommand);
  return at === -1 ? null : words.slice(at + 2);
}

/** Splits the first command of a POSIX shell line into words. Substitutions stay as they are written. */
export function splitCommand(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (const [piece] of line.matchAll(
    /'[^']*'?|"(?:[^"\\]|\\[\s\S])*"?|\\[\s\S]|\s+|[;&|]+|[^'"\\\s;&|]+/g,
  )) {
    if (/^[;&|]/.test(piece)) break;
    if (/^\s/.test(piece)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = `${word ?? ''}${unquoteWord(piece)}`;
  }
  return word === null ? words : [...words, word];
}

function unquoteWord(piece: string): string {
  if (piece.startsWith("'")) return piece.replace(/^'|'$/g, '');
  if (piece.startsWith('"')) return piece.replace(/^"|"$/g, '').replace(/\\(["\\$`])/g, '$1');
  return piece.startsWith('\\') ? piece.slice(1) : piece;
}
