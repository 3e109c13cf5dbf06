/**
 * What a question to the whole service rejects with when nobody could answer it in time: the other process hangs
 * or has ended, or the disk refuses. Decisions do not depend on such questions.
 */
export class Unavailable extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'Unavailable';
  }
}
