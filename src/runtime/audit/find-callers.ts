import type { AuditIndex } from './audit-index.ts';

/** Returns the caller of each event that the index has, by event ID. Events that it does not have are absent. */
export async function findEventCallers(
  index: AuditIndex,
  event_ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (event_ids.length === 0) return new Map();
  const rows = await index.db
    .selectFrom('audit_events')
    .select(['event_id', 'caller_id'])
    .where('event_id', 'in', event_ids)
    .execute();
  return new Map(rows.map(({ event_id, caller_id }) => [event_id, caller_id]));
}
