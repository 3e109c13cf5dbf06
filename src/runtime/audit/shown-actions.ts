import type { AuditIndex } from './audit-index.ts';
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
