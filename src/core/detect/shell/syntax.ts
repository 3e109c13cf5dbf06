/**
 * What a script comes to once it is read: a flat list of the commands that it would run, whatever they are
 * wrapped in. Offsets are UTF-16 units of the text that was given first; what stands in a quoted script has the
 * span of the command around it.
 */

/** How a text is read: backslashes escape in `posix` and are part of a path in `windows`. */
export type Dialect = 'posix' | 'windows';

export interface Word {
  /** The value: quotes and escapes gone, known variables filled in, unknown ones as `$NAME`, `$()` for output. */
  readonly text: string;
  /** True if any of it was quoted: `"&&"` is no operator, and `'#'` no comment. */
  readonly is_quoted: boolean;
  /** True if all of it stood in single quotes, where a `$` is no variable. */
  readonly is_literal?: boolean;
  /** True if `*`, `?` or `[` stood in it outside of quotes. */
  readonly has_glob?: boolean;
  /** Of `<(...)`, what it prints where that is known. */
  readonly output?: string;
}

export interface Redirection {
  /** `>`, `>>`, `<`, `<<<`, `<<`, `>&` ...; the number before it is left out. */
  readonly operator: string;
  /** A file name, for `<<<` the text itself, for `<<` the body of the here-document. */
  target: string;
}

/** A file that a script wrote before it uses it. */
export interface KnownFile {
  /** What is in it; `null` where that is not known. */
  readonly text: string | null;
  readonly origin: 'script' | 'network' | 'decoded';
}

export type KnownFiles = ReadonlyMap<string, KnownFile>;

export interface Command {
  /** Lower case, without folders and `.exe`; empty where there are only redirections or assignments. */
  readonly name: string;
  /** As it was written, quotes gone. */
  readonly program: string;
  readonly words: readonly Word[];
  readonly assignments: readonly { readonly name: string; readonly value: string }[];
  readonly redirections: readonly Redirection[];
  readonly start: number;
  readonly end: number;
  /** The command whose output it reads through a pipe. */
  readonly previous: Command | null;
  /** True if its output goes into a pipe. */
  feeds_pipe: boolean;
  /** How many scripts and wrappers it is in: 0 where it stands in the text itself. */
  readonly depth: number;
  /** Names of the wrappers around it, the outermost first: `sudo`, `xargs`. */
  readonly within: readonly string[];
  /** Source code of another language that it runs (`python -c`); `null` otherwise. */
  readonly code: string | null;
  /** True if it stands for a function that the script defines. */
  readonly is_function: boolean;
  /** Files that the script wrote before; `null` where it wrote none. */
  files: KnownFiles | null;
  /** The folder that the script went to with `cd`; `null` where it went to none that is known. */
  folder: string | null;
}

/** The limits of one reading, besides those of its work (work.ts); past any of them `is_cut` is set. */
export const SHELL_LIMITS = {
  /** UTF-16 units of one script. Longer ones are read up to here. */
  script_units_max: 131_072,
  /** Scripts in scripts and wrappers in wrappers. */
  depth_max: 10,
  /** UTF-16 units of the value of one variable that is filled in. */
  variable_units_max: 4096,
} as const;

export interface Reading {
  readonly commands: readonly Command[];
  /** True if a limit ended it before everything was read. */
  readonly is_cut: boolean;
}

/** A piece of text that is still to be read. */
export interface Script {
  readonly text: string;
  /** Offset of the text in the first one, or the span that stands for it where the units do not correspond. */
  readonly place: { readonly offset: number } | { readonly start: number; readonly end: number };
  readonly depth: number;
  readonly within: readonly string[];
  readonly previous: Command | null;
  readonly dialect: Dialect;
  /** What `$0`, `$1` ... stand for in it; those of the script around it where it is left out. */
  readonly parameters?: readonly string[];
}

/** The name of a program: `/usr/bin/Rm.exe` is `rm`. */
export function nameOf(program: string): string {
  const file = program.slice(Math.max(program.lastIndexOf('/'), program.lastIndexOf('\\')) + 1);
  return file.toLowerCase().replace(/\.(?:exe|cmd|bat|com)$/, '');
}
