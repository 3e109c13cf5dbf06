import type { AuditIndex } from '../audit-index.ts';
import type { AuditEvent } from '../types.ts';
import { findStreamPosition } from './replay.ts';

/** A place in the order of the index that survives a rebuild of the index. */
export interface IndexPlace {
  /** The last event before the place; `null` before the first one. */
  readonly event_id: string | null;
  /** Without an event, the place is before the first event of this time. Milliseconds since 1970. */
  readonly time_ms: number;
  /** The number of the last event of each writer before the place. */
  readonly seqs: Readonly<Record<string, number>>;
}

/** Some events in the order of the index, and the place after them. */
export interface IndexPage {
  readonly events: readonly AuditEvent[];
  readonly place: IndexPlace;
  /** `true` if more events followed when the page was read. */
  readonly has_more: boolean;
}

/** Reads all events of this state folder once, page by page. */
export interface IndexReader {
  /** Reads the next page. Without `parse`, skips to the end and returns no events. */
  readonly next: (options: { readonly limit: number; readonly parse: boolean }) => Promise<IndexPage>;
  /** Returns to the place before the last page, because its events could not be used. */
  readonly undo: () => void;
}

/** The number of writers whose numbers are kept. A service has a few at a time. */
const WRITERS_MAX = 1_000;

/** Opens a reader that begins at a place. */
export async function openIndexReader(index: AuditIndex, start: IndexPlace): Promise<IndexReader> {
  let at = await findStart(index, start);
  let before = at;
  return {
    next: async ({ limit, parse }) => {
      before = at;
      const end = await index.dialect.readLastPosition(index.db);
      const rows = parse
        ? await selectOwn(index, at.position, end, limit)
        : await selectNewest(index, at.position);
      const last = rows.at(-1);
      const known = at.is_certain ? null : at.place.seqs;
      const fresh = known === null ? rows : rows.filter(({ writer, seq }) => seq > (known[writer] ?? 0));
      if (last !== undefined)
        at = {
          position: last.position,
          is_certain: at.is_certain,
          place: {
            event_id: last.event_id,
            time_ms: Math.max(at.place.time_ms, last.timestamp_ms),
            seqs: parse ? addSeqs(at.place.seqs, rows) : await readSeqs(index),
          },
        };
      // Events of other state folders need not be passed over again.
      if (rows.length < limit) at = { ...at, position: end };
      // The events without a certain order end with the first page that has only new ones.
      if (fresh.length === rows.length && rows.length < limit) at = { ...at, is_certain: true };
      const events = parse ? fresh.map(({ event }) => JSON.parse(event) as AuditEvent) : [];
      return { events, place: at.place, has_more: rows.length === limit };
    },
    undo: () => {
      at = before;
    },
  };
}

interface Position {
  /** The position of the index after which the next page begins. */
  readonly position: number;
  /** `false` while events before the place can follow, because the order of the index is not known. */
  readonly is_certain: boolean;
  readonly place: IndexPlace;
}

async function findStart(index: AuditIndex, place: IndexPlace): Promise<Position> {
  const known = place.event_id === null ? null : await findStreamPosition(index, place.event_id);
  if (known !== null) return { position: known.position, is_certain: true, place };
  // Only the numbers of the writers tell which events are new: a spool may hold an event for days.
  if (place.event_id !== null) return { position: 0, is_certain: false, place };
  const { position: column, readLastPosition } = index.dialect;
  const first = await index.db
    .selectFrom('audit_events')
    .select(({ fn }) => fn.min<number | null>(column).as('position'))
    .where('timestamp_ms', '>=', place.time_ms)
    .executeTakeFirstOrThrow();
  const position = first.position === null ? await readLastPosition(index.db) : first.position - 1;
  return { position, is_certain: false, place };
}

function selectRows({ db, dialect: { position } }: AuditIndex, after: number) {
  return db
    .selectFrom('audit_events')
    .select([position.as('position'), 'event_id', 'writer', 'seq', 'timestamp_ms', 'event'])
    .where(position, '>', after);
}

function selectOwn(index: AuditIndex, after: number, end: number, limit: number) {
  const { position } = index.dialect;
  return selectRows(index, after)
    .where(position, '<=', end)
    .where('node', '=', index.node)
    .orderBy(position)
    .limit(limit)
    .execute();
}

function selectNewest(index: AuditIndex, after: number) {
  return selectRows(index, after).orderBy(index.dialect.position, 'desc').limit(1).execute();
}

function addSeqs(
  seqs: IndexPlace['seqs'],
  rows: readonly { readonly writer: string; readonly seq: number }[],
): IndexPlace['seqs'] {
  const next = new Map(Object.entries(seqs));
  for (const { writer, seq } of rows) {
    const highest = Math.max(seq, next.get(writer) ?? 0);
    // The writers that were seen last come last.
    next.delete(writer);
    next.set(writer, highest);
  }
  return Object.fromEntries([...next].slice(-WRITERS_MAX));
}

async function readSeqs({ db, node }: AuditIndex): Promise<IndexPlace['seqs']> {
  const rows = await db
    .selectFrom('journal_positions')
    .select(['writer', 'seq'])
    .where('node', '=', node)
    .execute();
  return Object.fromEntries(rows.slice(-WRITERS_MAX).map(({ writer, seq }) => [writer, seq]));
}
