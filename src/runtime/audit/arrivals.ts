import type { AuditIndex } from './audit-index.ts';
import type { FollowedEvent } from './follow.ts';

/** Receives events as they are inserted into the index. */
export interface IndexWatcher {
  /** Returns whether it wants to receive events; called after each insert. */
  readonly isActive: () => boolean;
  /** Receives committed events in the order of the index. Must not throw. */
  readonly onIndexed: (block: IndexedBlock) => void;
}

/**
 * All events after the position `from`, up to and including `to`. The watcher reads the events before `from` that it
 * lacks from the index.
 */
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
  /** Notifies the watcher of what other services have inserted. */
  readonly poll: () => Promise<void>;
}

/** Opens a notifier that begins at the current end of the index. */
export async function openArrivalNotifier(index: AuditIndex, watch: IndexWatcher): Promise<ArrivalNotifier> {
  let position = await index.dialect.readLastPosition(index.db);
  if (index.node !== '') {
    // Rows of other services are among those of an insert, so that the watcher reads all of them from the index.
    const poll = async (): Promise<void> => {
      const to = await index.dialect.readLastPosition(index.db);
      if (to <= position) return;
      position = to;
      if (watch.isActive()) watch.onIndexed({ from: to, to, events: [] });
    };
    return { position: () => position, notify: poll, poll };
  }
  const indexPosition = index.dialect.position;
  return {
    position: () => position,
    poll: async () => {},
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
