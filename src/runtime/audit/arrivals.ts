import { type Kysely, sql } from 'kysely';
import type { AuditIndex, IndexTables } from './audit-index.ts';
import type { FollowedEvent } from './follow.ts';

/**
 * Where an event stands in the order in which all came into the index: SQLite's own number of its row. It grows with
 * each that comes, and only the index gives an order that holds for the events of all writers.
 */
export const indexPosition = sql<number>`rowid`;

/** Looks on while events come into the index. */
export interface IndexWatcher {
  /** Whether it wants to be told; asked when something has come. */
  readonly isActive: () => boolean;
  /** Told of events that are in the index to stay, in its order. Must not throw. */
  readonly onIndexed: (block: IndexedBlock) => void;
}

/** All that came into the index behind the position `from`, up to `to`. */
export interface IndexedBlock {
  readonly from: number;
  readonly to: number;
  readonly events: readonly FollowedEvent[];
}

/** Tells a watch what comes. */
export interface ArrivalNotifier {
  /** Up to where the watch was told, or did not want to be. */
  readonly position: () => number;
  /**
   * Called when rows are there to stay: those behind `before`.
   *
   * @param eventOf - the event of a row; `null` where it is none of those that came just now
   */
  readonly notify: (before: number, eventOf: (event_id: string) => FollowedEvent | null) => Promise<void>;
}

/** Begins to look on where the index ends now. */
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
      // Whoever wants it from now on begins at this position, and misses nothing.
      if (rows.length === 0 || !watch.isActive()) return;
      const events = rows.flatMap(({ event_id }) => eventOf(event_id) ?? []);
      watch.onIndexed({ from, to: position, events });
    },
  };
}

/** Where the index ends; 0 where it is empty. */
export async function readLastPosition(db: Kysely<IndexTables>): Promise<number> {
  const { last } = await db
    .selectFrom('audit_events')
    .select(sql<number | null>`max(rowid)`.as('last'))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}
