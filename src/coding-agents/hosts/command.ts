import type { InstalledHook } from './host.ts';

/** What makes up the command line of a hook. */
export interface HookCommand {
  /** How this program is started: absolute paths, or its name alone. */
  readonly program: readonly string[];
  /** The configuration, by its absolute path, or by its path in the project behind `below`. */
  readonly config: string;
  /** What the shell puts before `config`: the `project_folder` of a host. */
  readonly below?: string;
  readonly dialect: string;
  /** `null`: the host's payloads name it. */
  readonly event: string | null;
  /** Whether a shell reads the line and is to turn every fault into the code that hosts take for a no. */
  readonly guards_exit: boolean;
}

/** The command line of a hook, quoted for a POSIX shell. */
export function hookCommand({ program, config, below, dialect, event, guards_exit }: HookCommand): string {
  const words = [...program, 'hook', '--dialect', dialect];
  if (event !== null) words.push('--event', event);
  const path = below === undefined ? quoted(config) : `${below}/${quoted(config)}`;
  // A program that is missing ends with 127 and one that was killed with 137, and hosts go on at both.
  return `${[...words, '--config'].map(quoted).join(' ')} ${path}${guards_exit ? ' || exit 2' : ''}`;
}

/** The folder of a project for hosts without a variable for it: the root of its git repository. */
export const GIT_FOLDER = '"$(git rev-parse --show-toplevel)"';

const PROJECT_FOLDERS =
  /\$(?:(?:CLAUDE|CURSOR|GEMINI)_PROJECT_DIR\b|\{(?:CLAUDE|CURSOR|GEMINI)_PROJECT_DIR\}|\(git rev-parse --show-toplevel\))/g;

/** Replaces what stands for the project's folder in a word of a hook's command. */
export function withProjectFolder(word: string, project: string): string {
  return word.replaceAll(PROJECT_FOLDERS, () => project);
}

/** A word as a POSIX shell takes it for one. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The command of an entry of a host, whichever of the published ways it is written in; `null` where it has none. */
export function commandOf(
  members: Readonly<Record<string, unknown>>,
): Pick<InstalledHook, 'command' | 'args' | 'is_ours' | 'config_path'> | null {
  const command = [members.command, members.bash, members.exec].find((each) => typeof each === 'string');
  if (typeof command !== 'string') return null;
  const args = Array.isArray(members.args) ? members.args.map(String) : null;
  const words = args === null ? wordsOf(command) : [command, ...args];
  const told = toldTo('hook', words);
  return { command, args, is_ours: told !== null, config_path: configIn(told ?? []) };
}

function configIn(told: readonly string[]): string | null {
  const at = told.findIndex((word) => /^(?:--config|-c)(?:=|$)/.test(word));
  return told[at]?.split('=', 2)[1] ?? (at === -1 ? null : (told[at + 1] ?? null));
}

/** Base names by which this program is known, and ends of paths by which Node is told to run it. */
const OUR_NAMES = /(?:^|[\\/])(?:service|agent-safety)$|[\\/]entry[\\/]cli[\\/](?:bin\.[jt]s|main\.[jt]s)$/;

/** What a command of this program is told, in the words of a command line; `null` where it is another's. */
export function toldTo(subcommand: 'hook' | 'mcp', words: readonly string[]): readonly string[] | null {
  const at = words.findIndex((word, index) => OUR_NAMES.test(word) && words[index + 1] === subcommand);
  return at === -1 ? null : words.slice(at + 2);
}

/** The first command of a line for a POSIX shell as words, without what is substituted in them. */
export function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (const [piece] of line.matchAll(
    /'[^']*'?|"(?:[^"\\]|\\[\s\S])*"?|\\[\s\S]|\s+|[;&|]+|[^'"\\\s;&|]+/g,
  )) {
    if (/^[;&|]/.test(piece)) break;
    if (/^\s/.test(piece)) {
      if (word !== null) words.push(word);
      word = null;
    } else word = `${word ?? ''}${unquoted(piece)}`;
  }
  return word === null ? words : [...words, word];
}

function unquoted(piece: string): string {
  if (piece.startsWith("'")) return piece.replace(/^'|'$/g, '');
  if (piece.startsWith('"')) return piece.replace(/^"|"$/g, '').replace(/\\(["\\$`])/g, '$1');
  return piece.startsWith('\\') ? piece.slice(1) : piece;
}
