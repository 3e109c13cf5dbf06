import type { AuditEvent } from './types.ts';

/** Returns whether an event belongs to a self-test. Counts, sessions, alerts and reports leave such events out. */
export function isSelfTestEvent({ metadata }: Pick<AuditEvent, 'metadata'>): boolean {
  return metadata.self_test === true;
}
