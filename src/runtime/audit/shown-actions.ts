import type { AuditIndex } from './audit-index.ts';
import type { ActionErasure } from './erase-actions.ts';
import { formatEventIdFloor } from './event-id.ts';
import type { IndexTables } from './index-tables.ts';
import { type LegalHold, matchesHold } from './legal-holds.ts';
import type { ActionMarks, AuditEvent } from './types.ts';

/** Event IDs in one statement. */
const ACTION_IDS = 500;

/** Returns the events with the shown actions that the index has. */
export async function addActions(
  index: AuditIndex,
  events: readonly AuditEvent[],
): Promise<readonly AuditEvent[]> {
  const shown = new Map<string, Pick<AuditEvent, 'action_shown' | 'action_marks'>>();
  for (let from = 0; from < events.length; from += ACTION_IDS) {
    const ids = events.slice(from, from + ACTION_IDS).map(({ event_id }) => event_id);
    const rows = index.db.selectFrom('shown_actions').selectAll().where('event_id', 'in', ids);
    for (const { event_id, action_shown, action_marks } of await rows.execute())
      shown.set(event_id, { action_shown, action_marks: JSON.parse(action_marks) as ActionMarks });
  }
  return events.map((event) => ({ ...event, ...shown.get(event.event_id) }));
}

/** Returns the newest shown action of events; `null` if none of them has one. */
export async function findNewestAction(
  { db }: AuditIndex,
  eventIds: readonly string[],
): Promise<ShownActionRow | null> {
  const rows = db.selectFrom('shown_actions').select(['action_shown', 'action_marks']);
  const found = rows.where('event_id', 'in', eventIds).orderBy('event_id', 'desc').limit(1);
  return eventIds.length === 0 ? null : ((await found.executeTakeFirst()) ?? null);
}

/** A shown action as the index has it. `action_marks` is JSON. */
export type ShownActionRow = Omit<IndexTables['shown_actions'], 'event_id'>;

/** Rows that are compared with the holds at once. */
const HOLD_ROWS = 1_000;

/** Returns a hold on an event whose shown action an erasure covers; `null` if there is none. */
export async function findActionHold(
  index: AuditIndex,
  erasure: ActionErasure,
  holds: readonly LegalHold[],
): Promise<LegalHold | null> {
  for (let after = ''; holds.length > 0; ) {
    const rows = await selectCovered(index, erasure)
      .innerJoin('audit_events', 'audit_events.event_id', 'shown_actions.event_id')
      .select(['audit_events.event_id', 'tenant_id', 'agent_id', 'session_id', 'timestamp_ms'])
      .where('shown_actions.event_id', '>', after)
      .orderBy('shown_actions.event_id')
      .limit(HOLD_ROWS)
      .execute();
    for (const { timestamp_ms, ...row } of rows) {
      const event = { ...row, timestamp: new Date(timestamp_ms).toISOString() };
      const hold = holds.find((each) => matchesHold(each, event));
      if (hold !== undefined) return hold;
    }
    if (rows.length < HOLD_ROWS) break;
    after = rows.at(-1)!.event_id;
  }
  return null;
}

function selectCovered({ db }: AuditIndex, erasure: ActionErasure) {
  const all = db.selectFrom('shown_actions');
  return 'event_id' in erasure
    ? all.where('shown_actions.event_id', '=', erasure.event_id)
    : all.where('shown_actions.event_id', '<', formatEventIdFloor(erasure.before_ms));
}

/** Erases shown actions from every file of the index. */
export async function eraseIndexedActions(index: AuditIndex, erasure: ActionErasure): Promise<void> {
  const covered = selectCovered(index, erasure).select('shown_actions.event_id');
  await index.db.deleteFrom('shown_actions').where('event_id', 'in', covered).execute();
  await index.dialect.purgeDeleted(index.db);
}
