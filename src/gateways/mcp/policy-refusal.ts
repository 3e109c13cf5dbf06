/** A no of ours, as methods say it that have no results for that. Its sentence holds nothing of what a server said. */
export class PolicyRefusal extends Error {
  /** @param cause - the fault behind it, for the log */
  constructor(sentence: string, cause?: unknown) {
    super(sentence, { cause });
    this.name = 'Refused';
  }
}

/** An error of a server, as the policy let its sentence through. */
export class JudgedError extends Error {
  readonly code: number;
  constructor(code: number, sentence: string) {
    super(sentence);
    this.name = 'JudgedError';
    this.code = code;
  }
}
