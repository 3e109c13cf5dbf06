/** A no of ours, as methods say it that have no results for that. Its sentence holds nothing of what a server said. */
export class Refused extends Error {
  /** @param cause - the fault behind it, for the log */
  constructor(sentence: string, cause?: unknown) {
    super(sentence, { cause });
    this.name = 'Refused';
  }
}
