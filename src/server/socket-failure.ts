/** The code for a hook that must decide by itself, because the process at the content socket serves another one. */
export const OTHER_SERVICE = 'other_service';

/** A problem of one field, as part of a refusal. */
interface RefusalDetail {
  readonly path: string;
  readonly message: string;
}

/** An expected refusal, by the process at the other end of a local socket or because none answers. */
export class SocketFailure extends Error {
  readonly code: string;
  readonly details: readonly RefusalDetail[];
  constructor(code: string, message: string, details: readonly RefusalDetail[] = []) {
    super(message);
    this.name = 'SocketFailure';
    this.code = code;
    this.details = details;
  }
}
