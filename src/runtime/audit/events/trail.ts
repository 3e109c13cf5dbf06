import { setImmediate as nextTurn } from 'node:timers/promises';
import { sql } from 'kysely';
import { indexPosition } from '../arrivals.ts';
import type { AuditIndex } from '../audit-index.ts';
import { EQUAL_FIELDS, matchesFilter, type ParsedFilter } from '../filter.ts';
import type { FollowedEvent } from '../follow.ts';
import type { ChainPosition } from '../reader.ts';
import type { AuditEvent } from '../types.ts';
import { findStreamPosition } from './replay.ts';

/** A place in the audit trail, as the index and as the journal have it: the same events stand before it in both. */
export interface TrailPosition {
  /** The last event before it in the order of the index; `null` where there is none. */
  readonly after: string | null;
  /** Where it is in each writer's chain. */
  readonly positions: readonly (readonly [writer: string, position: ChainPosition])[];
}

/** Events that fit, in the order of the index. */
export interface TrailPage {
  readonly events: readonly FollowedEvent[];
  /** Where this page ends; `null` where it is not the last for now. */
  readonly place: TrailPosition | null;
}

/** What somebody wants to follow. */
export interface TrailRequest {
  readonly filter: ParsedFilter;
  /** The event to go on behind; `null`: from the beginning. */
  readonly after: string | null;
}

/** Where the trail ends now. */
export async function readTrailEnd(
  index: AuditIndex,
): Promise<TrailPosition & { readonly position: number }> {
  // One statement sees one moment.
  const rows = await index.db
    .selectFrom('journal_positions')
    .select(['writer', 'segment', 'byte_offset as offset', 'seq', 'record_hash'])
    .select((eb) => [
      eb.selectFrom('audit_events').select(sql<number | null>`max(rowid)`.as('last')).as('last'),
      eb.selectFrom('audit_events').select('event_id').orderBy(indexPosition, 'desc').limit(1).as('after'),
    ])
    .execute();
  const [first] = rows;
  return {
    position: first?.last ?? 0,
    after: first?.after ?? null,
    positions: rows.map(({ writer, segment, offset, seq, record_hash }) => [
      writer,
      { segment, offset, seq, record_hash },
    ]),
  };
}

/** What following takes, beside the wish. */
export interface TrailPorts {
  readonly index: AuditIndex;
  /** Resolves when the index has every event that was durable before. */
  readonly sync: () => Promise<void>;
  /** Calls back whenever something has come into the index, until what it gives is called. */
  readonly watch: (come: () => void) => () => void;
}

/**
 * Gives what fits behind an event, and then what comes, until `signal` is aborted. Whoever takes pages slowly gets them
 * later, and nothing waits here for them. The first page says that it has begun.
 *
 * @returns `null` where the event is not known, or no longer
 */
export async function followIndex(
  { filter, after }: TrailRequest,
  ports: TrailPorts,
  signal: AbortSignal,
): Promise<AsyncGenerator<TrailPage> | null> {
  const { index, sync } = ports;
  if (after === null) return pagesFrom(0, filter, ports, signal);
  let place = await findStreamPosition(index, after);
  if (place === null) {
    // It may be so new that it stands in no more than the journal.
    await sync();
    place = await findStreamPosition(index, after);
  }
  return place === null ? null : pagesFrom(place.position, filter, ports, signal);
}

async function* pagesFrom(
  from: number,
  filter: ParsedFilter,
  { index, watch }: TrailPorts,
  signal: AbortSignal,
): AsyncGenerator<TrailPage> {
  let has_come = Promise.withResolvers<void>();
  const stop = (): void => has_come.resolve();
  const leave = watch(stop);
  signal.addEventListener('abort', stop);
  try {
    yield { events: [], place: null };
    for (let at = from; !signal.aborted; ) {
      has_come = Promise.withResolvers();
      const { position, ...place } = await readTrailEnd(index);
      at = Math.min(at, position);
      while (at < position && !signal.aborted) {
        const page = await readRows(index, filter, at, position);
        at = page.to;
        yield { events: page.events, place: at === position ? place : null };
        await nextTurn();
      }
      if (!signal.aborted) await has_come.promise;
    }
  } finally {
    leave();
    signal.removeEventListener('abort', stop);
  }
}

const PAGE_EVENTS = 200;
/** How much of the index is looked at before everything else in the process has its turn. */
const WINDOW_ROWS = 10_000;

async function readRows(
  { db }: AuditIndex,
  filter: ParsedFilter,
  from: number,
  end: number,
): Promise<{ readonly events: readonly FollowedEvent[]; readonly to: number }> {
  const to = Math.min(end, from + WINDOW_ROWS);
  let query = db
    .selectFrom('audit_events')
    .select([indexPosition.as('position'), 'writer', 'seq', 'event'])
    .where(indexPosition, '>', from)
    .where(indexPosition, '<=', to);
  for (const field of EQUAL_FIELDS) {
    const value = filter.equal[field];
    if (value !== undefined) query = query.where(field, '=', value);
  }
  const rows = await query.orderBy(indexPosition).limit(PAGE_EVENTS).execute();
  const events = rows
    .map(({ event, writer, seq }) => ({ event: JSON.parse(event) as AuditEvent, writer, seq }))
    .filter(({ event }) => matchesFilter(event, filter));
  return { events, to: rows.length < PAGE_EVENTS ? to : rows.at(-1)!.position };
}
