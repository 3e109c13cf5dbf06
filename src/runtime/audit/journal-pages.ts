import { join } from 'node:path';
import { listWriters } from './files.ts';
import { type AuditCursor, formatCursor, matchesFilter, type ParsedFilter } from './filter.ts';
import { FROM_START, readChain } from './reader.ts';
import type { AuditEvent, AuditPage } from './types.ts';

/** An event of a chain, and its place among the events of all chains. */
interface PlacedEvent {
  readonly event: AuditEvent;
  readonly place: AuditCursor;
}

/**
 * Yields the matching events of a journal in pages, without an index. Merges the chains by time; within a chain, events
 * are in the order in which they were written. Reads every file, so that a filter saves no time.
 */
export async function* pageJournal(
  dir: string,
  filter: ParsedFilter,
  pageEvents: number,
): AsyncGenerator<AuditPage> {
  let events: AuditEvent[] = [];
  let last: AuditCursor | null = null;
  for await (const { event, place } of mergeChains(dir)) {
    if (!isInside(place, filter) || !matchesFilter(event, filter)) continue;
    if (events.length === pageEvents) {
      yield { events, count: events.length, next_cursor: formatCursor(last!) };
      events = [];
    }
    events.push(event);
    last = place;
  }
  yield { events, count: events.length, next_cursor: null };
}

function isInside(place: AuditCursor, { since_ms, until_ms, cursor }: ParsedFilter): boolean {
  if (since_ms !== null && place.timestamp_ms < since_ms) return false;
  if (until_ms !== null && place.timestamp_ms > until_ms) return false;
  return cursor === null || comparePlaces(place, cursor) > 0;
}

function comparePlaces(one: AuditCursor, other: AuditCursor): number {
  return (
    one.timestamp_ms - other.timestamp_ms ||
    one.seq - other.seq ||
    (one.event_id < other.event_id ? -1 : one.event_id > other.event_id ? 1 : 0)
  );
}

async function* mergeChains(dir: string): AsyncGenerator<PlacedEvent> {
  const writers = await listWriters(dir);
  const chains = writers.map((writer) => readEvents(join(dir, writer)));
  try {
    const heads = await Promise.all(chains.map(readNext));
    for (;;) {
      let first = -1;
      for (const [at, head] of heads.entries())
        if (head !== null && (first < 0 || comparePlaces(head.place, heads[first]!.place) < 0)) first = at;
      if (first < 0) return;
      yield heads[first]!;
      heads[first] = await readNext(chains[first]!);
    }
  } finally {
    // A chain that was not read to its end holds its file open.
    for (const chain of chains) await chain.return(undefined);
  }
}

async function readNext(chain: AsyncGenerator<PlacedEvent>): Promise<PlacedEvent | null> {
  const { done, value } = await chain.next();
  return done === true ? null : value;
}

/** Reads the events of a chain. The line before an event may hold its shown action. */
async function* readEvents(writerDir: string): AsyncGenerator<PlacedEvent> {
  let shown: Partial<AuditEvent> & { readonly event_id?: string } = {};
  for await (const { records } of readChain(writerDir, FROM_START))
    for (const { record } of records) {
      if (record.kind === 'action' && record.action !== undefined) {
        const { event_id, action_shown, action_marks } = record.action;
        shown = { event_id, action_shown, action_marks };
      }
      if (record.kind !== 'event') continue;
      const { event_id, timestamp } = record.event;
      const place = { timestamp_ms: Date.parse(timestamp), seq: record.seq, event_id };
      yield { event: shown.event_id === event_id ? { ...record.event, ...shown } : record.event, place };
    }
}
