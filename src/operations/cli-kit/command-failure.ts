/** The exit codes of the program, for scripts. */
export const EXIT = {
  /** Done, allowed, or nothing to list. */
  done: 0,
  /** The answer is negative: blocked, invalid, disabled, not found. */
  no: 1,
  /** Wrong use or configuration. */
  usage: 2,
  /** The answer is unknown: `audit verify` lacks a key. */
  unknown: 3,
  /** Ctrl-C at a question; shells use the same code. */
  interrupted: 130,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** One problem for programs: its place and a message. */
export interface ProblemDetail {
  readonly file?: string;
  readonly path: string;
  readonly line?: number;
  readonly message: string;
}

interface FailureDetails {
  readonly details?: readonly ProblemDetail[];
  /** The same message for people, as lines. */
  readonly lines?: readonly string[];
  /** The next step for the user. */
  readonly hint?: string;
}

/** An expected failure: a message, the exit code, and the next step. */
export class CommandFailure extends Error {
  readonly exit_code: ExitCode;
  readonly code: string;
  readonly details: readonly ProblemDetail[];
  readonly lines: readonly string[];
  readonly hint: string | null;

  constructor(exitCode: ExitCode, code: string, message: string, more: FailureDetails = {}) {
    super(message);
    this.name = 'CommandFailure';
    this.exit_code = exitCode;
    this.code = code;
    this.details = more.details ?? [];
    this.lines = more.lines ?? [];
    this.hint = more.hint ?? null;
  }
}
