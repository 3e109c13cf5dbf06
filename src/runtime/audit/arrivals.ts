import { type Kysely, sql } from 'kysely';
import type { AuditIndex } from './audit-index.ts';
import type { FollowedEvent } from './follow.ts';
import type { IndexTables } from './index-tables.ts';

/**
 * The position of an event in the index: SQLite's `rowid`, which grows with each insert. Only the index orders the
 * events of all writers.
 */
export const indexPosition = sql<number>`rowid`;

/** Receives events as they are inserted into the index. */
export interface IndexWatcher {
  /** Returns whether it wants to receive events; called after each insert. */
  readonly isActive: () => boolean;
  /** Receives committed events in the order of the index. Must not throw. */
  readonly onIndexed: (block: IndexedBlock) => void;
}

/** All events after the position `from`, up to and including `to`. */
export interface IndexedBlock {
  readonly from: number;
  readonly to: number;
  readonly events: readonly FollowedEvent[];
}

/** Notifies a watcher of inserted events. */
export interface ArrivalNotifier {
  /** The position up to which the watcher was notified, or was inactive. */
  readonly position: () => number;
  /**
   * Notifies the watcher of the rows after `before`. Call it when they are committed.
   *
   * @param eventOf - returns the event of a row; `null` if the row is not part of this insert
   */
  readonly notify: (before: number, eventOf: (eventId: string) => FollowedEvent | null) => Promise<void>;
}

/** Opens a notifier that begins at the current end of the index. */
export async function openArrivalNotifier(index: AuditIndex, watch: IndexWatcher): Promise<ArrivalNotifier> {
  let position = await readLastPosition(index.db);
  return {
    position: () => position,
    notify: async (before, eventOf) => {
      const rows = await index.db
        .selectFrom('audit_events')
        .select([indexPosition.as('position'), 'event_id'])
        .where(indexPosition, '>', before)
        .orderBy(indexPosition)
        .execute();
      const from = position;
      position = rows.at(-1)?.position ?? position;
      // A watcher that becomes active later begins at this position, and so misses no event.
      if (rows.length === 0 || !watch.isActive()) return;
      const events = rows.flatMap(({ event_id }) => eventOf(event_id) ?? []);
      watch.onIndexed({ from, to: position, events });
    },
  };
}

/** Returns the last position in the index; 0 if it is empty. */
export async function readLastPosition(db: Kysely<IndexTables>): Promise<number> {
  const { last } = await db
    .selectFrom('audit_events')
    .select(sql<number | null>`max(rowid)`.as('last'))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}
