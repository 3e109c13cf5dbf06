import type { AuditEvent } from './types.ts';

/**
 * Adds or removes the mark of a self-test. The mark is set here alone: metadata that comes from a caller loses it, so that
 * no agent hides its events from reports.
 */
export function markSelfTest(
  metadata: AuditEvent['metadata'] | undefined,
  isSelfTest: boolean,
): AuditEvent['metadata'] | undefined {
  if (isSelfTest) return { ...metadata, self_test: true };
  if (metadata?.self_test === undefined) return metadata;
  const { self_test: _dropped, ...kept } = metadata;
  return kept;
}

/** Returns whether an event belongs to a self-test. Counts, sessions, alerts and reports leave such events out. */
export function isSelfTestEvent({ metadata }: Pick<AuditEvent, 'metadata'>): boolean {
  return metadata.self_test === true;
}
