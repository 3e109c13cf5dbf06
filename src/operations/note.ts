import { Unavailable } from '../platform/unavailable.ts';
import type { EnforcementPorts } from '../runtime/enforcement/types.ts';
import type { Runtime } from './runtime.ts';

/** Returns a function that records an event. If that fails, it throws an error with a message of the service. */
export function openNoteWriter(record: EnforcementPorts['record']): Runtime['note'] {
  return async (event) => {
    try {
      await record(event);
    } catch (fault) {
      throw new Unavailable('It could not be written to the audit journal.', fault);
    }
  };
}
