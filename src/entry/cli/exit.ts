/** What the program's end says to a script. */
export const EXIT = {
  /** Done, allowed, or nothing to list. */
  done: 0,
  /** The answer is no: blocked, invalid, disabled, not found. */
  no: 1,
  /** Wrong use or configuration. */
  usage: 2,
  /** Ctrl-C at a question, as shells count it. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** One thing that is wrong, for a program: where and what. */
export interface Detail {
  readonly file?: string;
  readonly path: string;
  readonly line?: number;
  readonly message: string;
}

interface More {
  readonly details?: readonly Detail[];
  /** The same for a person. */
  readonly lines?: readonly string[];
  /** What to do next. */
  readonly hint?: string;
}

/** An expected end without success: a sentence, the exit code, and what to do next. */
export class CommandFailure extends Error {
  readonly exit_code: ExitCode;
  readonly code: string;
  readonly details: readonly Detail[];
  readonly lines: readonly string[];
  readonly hint: string | null;

  constructor(exit_code: ExitCode, code: string, message: string, more: More = {}) {
    super(message);
    this.name = 'CommandFailure';
    this.exit_code = exit_code;
    this.code = code;
    this.details = more.details ?? [];
    this.lines = more.lines ?? [];
    this.hint = more.hint ?? null;
  }
}
