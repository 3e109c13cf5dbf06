import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AuditIndex } from '../audit-index.ts';
import { EQUAL_FIELDS, matchesFilter, type ParsedFilter } from '../filter.ts';
import type { FollowedEvent } from '../follow.ts';
import type { ChainPosition } from '../reader.ts';
import type { AuditEvent } from '../types.ts';
import { findStreamPosition } from './replay.ts';

/** A position in the audit log, both in the index and in the journal. The same events precede it in both. */
export interface AuditPosition {
  /** The last event before the position in the order of the index; `null` if there is none. */
  readonly after: string | null;
  /** The position in each writer's chain. */
  readonly positions: readonly (readonly [writer: string, position: ChainPosition])[];
}

/** Matching events, in the order of the index. */
export interface FollowedPage {
  readonly events: readonly FollowedEvent[];
  /** The end of this page; `null` unless it is the last page for now. */
  readonly place: AuditPosition | null;
}

/** A request to follow the audit log. */
export interface FollowRequest {
  readonly filter: ParsedFilter;
  /** The event to continue after; `null` to start at the beginning. */
  readonly after: string | null;
}

/** Returns the current end of the audit log, with the positions in the chains of this state folder. */
export async function readAuditEnd({
  db,
  node,
  dialect: { position },
}: AuditIndex): Promise<AuditPosition & { readonly position: number }> {
  // A single statement reads a consistent snapshot.
  const rows = await db
    .selectFrom(
      db
        .selectNoFrom((one) => [
          one
            .selectFrom('audit_events')
            .select(position.as('last'))
            .orderBy(position, 'desc')
            .limit(1)
            .as('last'),
          one.selectFrom('audit_events').select('event_id').orderBy(position, 'desc').limit(1).as('after'),
        ])
        .as('ends'),
    )
    .leftJoin('journal_positions as own', (join) => join.on('own.node', '=', node))
    .select(['last', 'after', 'writer', 'segment', 'byte_offset as offset', 'seq', 'record_hash'])
    .execute();
  const [first] = rows;
  return {
    position: first?.last ?? 0,
    after: first?.after ?? null,
    positions: rows.flatMap(({ writer, segment, offset, seq, record_hash }) =>
      writer === null || segment === null || offset === null || seq === null
        ? []
        : [[writer, { segment, offset, seq, record_hash }] as const],
    ),
  };
}

/** The index and service functions that following uses. */
export interface AuditLogPorts {
  readonly index: AuditIndex;
  /** Resolves when the index has every event that was durable before. */
  readonly sync: () => Promise<void>;
  /** Calls back after each insert into the index, until the returned function is called. */
  readonly watch: (onEvents: () => void) => () => void;
}

/**
 * Yields the matching events after an event, then new ones, until `signal` is aborted. The caller sets the pace:
 * nothing is buffered for it. The first page is empty and shows that following has begun.
 *
 * @returns `null` if the event is unknown, or no longer in the index
 */
export async function followIndex(
  { filter, after }: FollowRequest,
  ports: AuditLogPorts,
  signal: AbortSignal,
): Promise<AsyncGenerator<FollowedPage> | null> {
  const { index, sync } = ports;
  if (after === null) return streamPages(0, filter, ports, signal);
  let place = await findStreamPosition(index, after);
  if (place === null) {
    // A recent event may be in the journal and not in the index yet.
    await sync();
    place = await findStreamPosition(index, after);
  }
  return place === null ? null : streamPages(place.position, filter, ports, signal);
}

async function* streamPages(
  from: number,
  filter: ParsedFilter,
  { index, watch }: AuditLogPorts,
  signal: AbortSignal,
): AsyncGenerator<FollowedPage> {
  let arrival = Promise.withResolvers<void>();
  const stop = (): void => arrival.resolve();
  const leave = watch(stop);
  signal.addEventListener('abort', stop);
  try {
    yield { events: [], place: null };
    for (let at = from; !signal.aborted; ) {
      arrival = Promise.withResolvers();
      const { position, ...place } = await readAuditEnd(index);
      at = Math.min(at, position);
      while (at < position && !signal.aborted) {
        const page = await readRows(index, filter, at, position);
        at = page.to;
        yield { events: page.events, place: at === position ? place : null };
        await nextTurn();
      }
      if (!signal.aborted) await arrival.promise;
    }
  } finally {
    leave();
    signal.removeEventListener('abort', stop);
  }
}

const PAGE_EVENTS = 200;
/** The number of rows that are read before other work of the process runs. */
const WINDOW_ROWS = 10_000;

async function readRows(
  { db, node, dialect }: AuditIndex,
  filter: ParsedFilter,
  from: number,
  end: number,
): Promise<{ readonly events: readonly FollowedEvent[]; readonly to: number }> {
  const to = Math.min(end, from + WINDOW_ROWS);
  const { position: indexPosition } = dialect;
  let query = db
    .selectFrom('audit_events')
    .select([indexPosition.as('position'), 'node', 'writer', 'seq', 'event'])
    .where(indexPosition, '>', from)
    .where(indexPosition, '<=', to);
  for (const field of EQUAL_FIELDS) {
    const value = filter.equal[field];
    if (value !== undefined) query = query.where(field, '=', value);
  }
  const rows = await query.orderBy(indexPosition).limit(PAGE_EVENTS).execute();
  const events = rows
    .map((row) => ({
      event: JSON.parse(row.event) as AuditEvent,
      // Writers of other state folders have the same names.
      writer: row.node === node ? row.writer : `${row.node}/${row.writer}`,
      seq: row.seq,
    }))
    .filter(({ event }) => matchesFilter(event, filter));
  return { events, to: rows.length < PAGE_EVENTS ? to : rows.at(-1)!.position };
}
