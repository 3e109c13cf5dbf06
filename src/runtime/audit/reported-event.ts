import type { AuditEvent } from './types.ts';

/** The source of a decision that a program made with a local guard, in the metadata of its event. */
export const REPORTED_BY_SDK = 'sdk';

/** Returns whether a program made the decision under its own policy and reported it. */
export function isReportedEvent({ metadata }: Pick<AuditEvent, 'metadata'>): boolean {
  return metadata.reported_by === REPORTED_BY_SDK;
}
