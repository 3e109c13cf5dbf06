import { Unavailable } from '../platform/unavailable.ts';
import type { AuditEvent } from '../runtime/audit/types.ts';
import type { EnforcementPorts } from '../runtime/enforcement/types.ts';
import type { Runtime } from './runtime.ts';

/** Returns a function that records an event. If that fails, it throws an error with a message of the service. */
export function openNoteWriter(record: EnforcementPorts['record']): Runtime['note'] {
  return (event) => recordOrThrow(event, record, 'It');
}

/** Records an event. @throws Unavailable: `subject`, and that it could not be written to the audit journal */
export async function recordOrThrow(
  event: AuditEvent,
  record: EnforcementPorts['record'],
  subject: string,
): Promise<void> {
  try {
    await record(event);
  } catch (fault) {
    throw new Unavailable(`${subject} could not be written to the audit journal.`, fault);
  }
}
