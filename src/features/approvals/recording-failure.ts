import { Unavailable } from '../../platform/unavailable.ts';

/** The event could not be written to the audit journal, so nothing was changed. */
export class RecordingFailure extends Unavailable {
  constructor(cause: unknown) {
    super(
      'This could not be written to the audit journal, so it did not happen. Try again; the log says why.',
      cause,
    );
    this.name = 'Unrecorded';
  }
}
