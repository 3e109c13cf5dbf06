import type { AuditEvent } from './types.ts';

/**
 * The metadata of an event of the compliance self-test. Only the self-test sets it, and only a caller with
 * `compliance:verify` starts one: no input of any other operation becomes this key.
 */
export const SELF_TEST_METADATA = { self_test: true } as const;

/** Returns whether an event belongs to a self-test. Counts, sessions, alerts and reports leave such events out. */
export function isSelfTestEvent({ metadata }: Pick<AuditEvent, 'metadata'>): boolean {
  return metadata.self_test === true;
}
