/**
 * The result of reading a script: a flat list of the commands that it would run, without their wrappers. Offsets are
 * UTF-16 units of the original text. A command in a quoted script has the span of the command around it.
 */

/** The dialect of a script: a backslash escapes in `posix` and is part of a path in `windows`. */
export type ShellDialect = 'posix' | 'windows';

export interface ShellWord {
  /**
   * The value without quotes and escapes, with known variables expanded; unknown ones are `$NAME`, output is `$()`.
   */
  readonly text: string;
  /** True if any part of it was quoted: `"&&"` is not an operator, and `'#'` not a comment. */
  readonly is_quoted: boolean;
  /** True if all of it was in single quotes, where a `$` does not begin a variable. */
  readonly is_literal?: boolean;
  /** True if it begins with a quoted or escaped tilde, which is no home folder. */
  readonly is_name?: boolean;
  /** True if `*`, `?` or `[` was in it outside of quotes. */
  readonly has_glob?: boolean;
  /** The output of `<(...)`, if known. */
  readonly output?: string;
}

export interface Redirection {
  /** `>`, `>>`, `<`, `<<<`, `<<`, `>&` ..., without the file descriptor before it. */
  readonly operator: string;
  /** A file name; for `<<<` the text, for `<<` the body of the here-document. */
  target: string;
}

/** A file that a script wrote before a command uses it. */
export interface KnownFile {
  /** The content; `null` if unknown. */
  readonly text: string | null;
  readonly origin: 'script' | 'network' | 'decoded';
  /** The path to which it is a symbolic link. */
  readonly link?: string;
  /** Paths of files that it may hold, if its content is unknown. */
  readonly sources?: readonly string[];
}

export type KnownFiles = ReadonlyMap<string, KnownFile>;

export interface Command {
  /** Lower case, without folders and `.exe`; empty if there are only redirections or assignments. */
  readonly name: string;
  /** As written, without quotes. */
  readonly program: string;
  readonly words: readonly ShellWord[];
  readonly assignments: readonly { readonly name: string; readonly value: string }[];
  readonly redirections: readonly Redirection[];
  readonly start: number;
  readonly end: number;
  /** The command whose output it reads through a pipe. */
  readonly previous: Command | null;
  /** True if its output goes into a pipe. */
  feeds_pipe: boolean;
  /** The number of scripts and wrappers around it: 0 in the text itself. */
  readonly depth: number;
  /** Names of the wrappers around it, outermost first: `sudo`, `xargs`. */
  readonly within: readonly string[];
  /** Source code of another language that it runs (`python -c`), or `null`. */
  readonly code: string | null;
  readonly dialect: ShellDialect;
  /** True if it stands for a function that the script defines. */
  readonly is_function: boolean;
  /** Commands that print unknown parts in its texts: those in `$(...)` and `<(...)`, or in a variable's value. */
  sources: readonly Command[];
  /** Files that the script wrote before; `null` if none. */
  files: KnownFiles | null;
  /** The folder that the script entered with `cd`; `null` if unknown or none. */
  folder: string | null;
}

/** Limits of one reading, besides its work budget (work.ts). If one is exceeded, `is_cut` is set. */
export const SHELL_LIMITS = {
  /** The most UTF-16 units of one script; the rest is not read. */
  script_units_max: 131_072,
  /** The most levels of nested scripts and wrappers. */
  depth_max: 10,
  /** The most UTF-16 units of a variable's value that is expanded. */
  variable_units_max: 4096,
} as const;

export interface ReadCommands {
  readonly commands: readonly Command[];
  /** True if a limit ended it before everything was read. */
  readonly is_cut: boolean;
}

/** A script to read. */
export interface ShellScript {
  readonly text: string;
  /** Offset in the original text, or the span that stands for it if the units do not correspond. */
  readonly place: { readonly offset: number } | { readonly start: number; readonly end: number };
  readonly depth: number;
  readonly within: readonly string[];
  readonly previous: Command | null;
  readonly dialect: ShellDialect;
  /** Values of `$0`, `$1` ...; if absent, those of the surrounding script. */
  readonly parameters?: readonly string[];
}

/** Returns the name of a program: `/usr/bin/Rm.exe` is `rm`. */
export function getProgramName(program: string): string {
  const file = program.slice(Math.max(program.lastIndexOf('/'), program.lastIndexOf('\\')) + 1);
  return file.toLowerCase().replace(/\.(?:exe|cmd|bat|com)$/, '');
}
