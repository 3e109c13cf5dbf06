/**
 * A refusal by this service, for methods whose results cannot express one. Its sentence contains no text of a server.
 */
export class PolicyRefusal extends Error {
  /** @param cause - the underlying fault, for the log */
  constructor(sentence: string, cause?: unknown) {
    super(sentence, { cause });
    this.name = 'Refused';
  }
}

/** An error of a server with its judged message. */
export class JudgedError extends Error {
  readonly code: number;
  constructor(code: number, sentence: string) {
    super(sentence);
    this.name = 'JudgedError';
    this.code = code;
  }
}
