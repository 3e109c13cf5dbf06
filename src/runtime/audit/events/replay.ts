import { sql } from 'kysely';
import type { AuditIndex } from '../audit-index.ts';
import { addActions } from '../shown-actions.ts';
import type { AuditEvent } from '../types.ts';
import { buildStreamedEvent } from './streamed.ts';
import type { StreamedEvent } from './types.ts';

/** Some events in the order of the stream, and the position after them. */
export interface StreamPage {
  readonly events: readonly StreamedEvent[];
  readonly to: number;
}

const PAGE_ROWS = 500;

/** Reads one page of the events after `from`, up to and including `to`. `withActions` adds their shown actions. */
export async function readStreamPage(
  index: AuditIndex,
  from: number,
  to: number,
  withActions: boolean,
): Promise<StreamPage> {
  const { position } = index.dialect;
  const rows = await index.db
    .selectFrom('audit_events')
    .select([position.as('position'), 'event'])
    .where(position, '>', from)
    .where(position, '<=', to)
    .orderBy(position)
    .limit(PAGE_ROWS)
    .execute();
  const events = rows.map(({ event }) => JSON.parse(event) as AuditEvent);
  const shown = withActions ? await addActions(index, events) : events;
  return {
    events: shown.map(buildStreamedEvent),
    to: rows.length < PAGE_ROWS ? to : rows.at(-1)!.position,
  };
}

/**
 * Finds the position of an event in the stream. Returns `null` if the index does not have the event, or if its order
 * among other events is unknown.
 */
export async function findStreamPosition(
  index: AuditIndex,
  eventId: string,
): Promise<{ readonly position: number; readonly streamed: StreamedEvent } | null> {
  const row = await index.db
    .selectFrom('audit_events')
    .select([index.dialect.position.as('position'), 'event'])
    .leftJoin('journal_positions', (join) =>
      join
        .onRef('journal_positions.node', '=', 'audit_events.node')
        .onRef('journal_positions.writer', '=', 'audit_events.writer'),
    )
    .where('event_id', '=', eventId)
    .where(sql<boolean>`audit_events.seq > coalesce(unordered_seq, 0)`)
    .executeTakeFirst();
  if (row === undefined) return null;
  return { position: row.position, streamed: buildStreamedEvent(JSON.parse(row.event) as AuditEvent) };
}
