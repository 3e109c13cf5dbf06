/**
 * The error of a request to the whole service that no process answered in time, because the other process hangs or has
 * ended, or the disk fails. Decisions do not depend on such requests.
 */
export class Unavailable extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause });
    this.name = 'Unavailable';
  }
}
