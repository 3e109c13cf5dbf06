import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import type { ArrivalNotifier } from './arrivals.ts';
import type { AuditIndex, IndexWriter } from './audit-index.ts';
import { isAuditEvent } from './event-shape.ts';
import { addToCounts, listTagFamilies } from './event-tallies.ts';
import { listWriters } from './files.ts';
import type { EventRow, IndexRows, IndexTables } from './index-tables.ts';
import { type ChainHead, formatEventJson, type JournalRecord } from './journal-record.ts';
import { type ArrivalOrder, openArrivalOrder } from './order.ts';
import { type ChainPosition, FROM_START, type ReadRecord, readChain } from './reader.ts';
import { findStepsToRead, readSteps, type StepBlock } from './reorder.ts';
import {
  compareWithIndex,
  deleteReplaced,
  type IndexedChain,
  markLost,
  type ReplacedFile,
} from './replaced-file.ts';

export interface Indexer {
  /**
   * Reads new journal lines into the index. When it resolves, every event that was durable before the call can be
   * found. Concurrent calls share the work.
   *
   * @returns the number of events that were read
   */
  readonly sync: () => Promise<number>;
  /** Deletes events older than this, in batches, after the journal has deleted their files. */
  readonly prune: (beforeMs: number) => Promise<number>;
}

type TagRow = IndexRows['audit_event_tags'];
type ActionRow = IndexRows['shown_actions'];
type EventRecord = JournalRecord & { readonly kind: 'event' };

/**
 * Fills an index from a journal. Only the process that owns the state folder may open one. Each batch is one
 * transaction that includes the position after it, so that a stop repeats events and never skips one. Repeated events
 * are recognized by their `event_id`.
 *
 * @param options.dir - the folder of all writers, `<state>/journal`
 * @param options.begin - called when a run begins; the function it returns is awaited between two batches. Without it,
 * other work of the process runs there
 * @param options.arrivals - notified of inserted events
 */
export function openIndexer(options: {
  index: AuditIndex;
  dir: string;
  begin?: () => () => Promise<void>;
  arrivals?: ArrivalNotifier;
}): Indexer {
  const { index, dir, arrivals = null } = options;
  const writer = index.dialect.openWriter(index);
  const filling: IndexFill = { index, dir, writer, arrivals, order: null };
  let running: Promise<number> | null = null;
  let waiting: Promise<number> | null = null;
  const run = (): Promise<number> => {
    const rest = options.begin?.() ?? nextTurn;
    running = readAll(filling, rest).finally(() => {
      running = null;
    });
    return running;
  };
  const runAfter = async (before: Promise<number>): Promise<number> => {
    await before.catch(() => {});
    waiting = null;
    return run();
  };
  return {
    sync: () => {
      if (running === null && waiting === null) return run();
      waiting ??= runAfter(running ?? Promise.resolve(0));
      return waiting;
    },
    prune: writer.prune,
  };
}

/** The index, its source, and the notifier. */
interface IndexFill {
  readonly index: AuditIndex;
  readonly dir: string;
  readonly writer: IndexWriter;
  readonly arrivals: ArrivalNotifier | null;
  /** `null` until the order file has been replayed. */
  order: ArrivalOrder | null;
}

async function readAll(filling: IndexFill, rest: () => Promise<void>): Promise<number> {
  const { dir } = filling;
  const { order, ...followed } = await followOrder(filling, rest);
  const positions = await readPositions(filling.index);
  let { events } = followed;
  for (const writer of await listWriters(dir)) {
    const from = positions.get(writer) ?? FROM_START;
    let replaced: ReplacedFile | null = null;
    for await (const block of readChain(join(dir, writer), from)) {
      if (block.again) replaced = { matched_seq: block.position.segment - 1, forgotten: false };
      events += await insertBlock(filling, { writer, block, ordered: true, replaced, order });
      await rest();
    }
    if (replaced?.forgotten === false) await forgetEnd(filling, writer, replaced, order);
  }
  filling.order = order;
  return events;
}

interface FillStep {
  readonly order: ArrivalOrder;
  readonly events: number;
}

/** Reads the lines that the index lacks in the order that was kept; usually there are none. */
async function followOrder(filling: IndexFill, rest: () => Promise<void>): Promise<FillStep> {
  const { index, dir } = filling;
  if (filling.order !== null) return { order: filling.order, events: 0 };
  const order = openArrivalOrder(dir);
  const positions = await readPositions(index);
  const steps = await findStepsToRead(order, dir, positions);
  let events = 0;
  for await (const step of readSteps(dir, steps, positions)) {
    // A kept order is that of this journal alone. In a shared index, the events of others have other places now.
    const ordered = step.ordered && (index.node === '' || order.kept === null);
    events += await insertBlock(filling, { ...step, ordered, replaced: null, order: null });
    await rest();
  }
  return { order, events };
}

/** Deletes the indexed events after the end of a file that became shorter. */
async function forgetEnd(
  filling: IndexFill,
  writer: string,
  replaced: ReplacedFile,
  order: ArrivalOrder,
): Promise<void> {
  await filling.index.db.transaction().execute(async (each) => {
    await filling.writer.begin(each);
    await deleteReplaced(each, getChain(filling, writer), replaced);
  });
  order.note({ writer, seq: replaced.matched_seq, ordered: true });
}

function getChain({ index, writer: { addCounts } }: IndexFill, writer: string): IndexedChain {
  return { node: index.node, writer, add_counts: addCounts };
}

/** Returns the position up to which each chain of this journal is indexed, by writer. */
export async function readPositions(index: AuditIndex): Promise<Map<string, ChainPosition>> {
  const rows = await index.db
    .selectFrom('journal_positions')
    .select(['writer', 'segment', 'byte_offset as offset', 'seq', 'record_hash'])
    .where('node', '=', index.node)
    .execute();
  return new Map(rows.map(({ writer, ...position }) => [writer, position]));
}

/**
 * Returns the last line of each writer that was indexed, even if it is lost since, for `known_heads` of
 * `verifyJournal`. Call it before verifying, because the journal only grows.
 */
export async function indexHeads(index: AuditIndex): Promise<Map<string, ChainHead>> {
  const heads = new Map<string, ChainHead>();
  const own = index.db.selectFrom('journal_positions').selectAll().where('node', '=', index.node);
  for (const row of await own.execute()) {
    const seq = row.lost_seq ?? row.seq;
    const recordHash = row.lost_hash ?? row.record_hash;
    if (recordHash !== null) heads.set(row.writer, { seq, record_hash: recordHash });
  }
  return heads;
}

/** Lines of a writer that are about to be inserted. */
interface IncomingLines extends StepBlock {
  readonly replaced: ReplacedFile | null;
  /** The order file that records their step; `null` if it has the step already. */
  readonly order: ArrivalOrder | null;
}

async function insertBlock(
  filling: IndexFill,
  { writer, block, ordered, replaced, order }: IncomingLines,
): Promise<number> {
  const { index, writer: own, arrivals } = filling;
  const events = new Map<string, Entry>();
  for (const read of block.records) {
    const entry = getEntry(read);
    if (entry !== null && !events.has(entry.row.event_id)) events.set(entry.row.event_id, entry);
  }
  const rows = [...events.values()].map(({ row }) => row);
  const hadForgotten = replaced?.forgotten ?? true;
  const chain = getChain(filling, writer);
  let before = 0;
  await own.prepare(rows);
  await index.db.transaction().execute(async (transaction) => {
    await own.begin(transaction);
    if (block.again) await markLost(transaction, chain);
    if (replaced?.forgotten === false) await compareWithIndex(transaction, chain, block, rows, replaced);
    await own.insertRows(transaction, 'shown_actions', block.records.flatMap(buildActionRow));
    before = await index.dialect.readLastPosition(transaction);
    const ids = await own.insertEvents(transaction, rows, before);
    const added = [...events.values()].filter(({ row }) => ids.has(row.event_id));
    await own.insertRows(transaction, 'audit_event_tags', added.flatMap(buildTagRows));
    await addToCounts(
      transaction,
      added.map(({ record }) => record.event),
      own.addCounts,
    );
    await writePosition(transaction, chain, block.position, ordered);
  });
  if (!hadForgotten && replaced?.forgotten) order?.note({ writer, seq: replaced.matched_seq, ordered: true });
  if (rows.length > 0) order?.note({ writer, seq: block.position.seq, ordered });
  await arrivals?.notify(before, (eventId) => events.get(eventId)?.record ?? null);
  return events.size;
}

/** Returns the row for a shown action, whose event is in the next line. */
function buildActionRow({ record }: ReadRecord): ActionRow[] {
  if (record.kind !== 'action' || record.action === undefined) return [];
  const { event_id, action_shown, action_marks } = record.action;
  return [{ event_id, action_shown, action_marks: JSON.stringify(action_marks) }];
}

async function writePosition(
  transaction: Transaction<IndexTables>,
  { node, writer }: IndexedChain,
  position: ChainPosition,
  ordered: boolean,
): Promise<void> {
  const { segment, offset: byteOffset, seq, record_hash } = position;
  const place = {
    segment,
    byte_offset: byteOffset,
    seq,
    record_hash,
    ...(!ordered && { unordered_seq: seq }),
  };
  const { numUpdatedRows } = await transaction
    .updateTable('journal_positions')
    .set(place)
    .where('node', '=', node)
    .where('writer', '=', writer)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows > 0n) return;
  await transaction
    .insertInto('journal_positions')
    .values({ node, writer, ...place })
    .execute();
}

interface Entry {
  readonly record: EventRecord;
  readonly row: EventRow;
  readonly tags: readonly string[];
}

function getEntry({ record, line }: ReadRecord): Entry | null {
  if (record.kind !== 'event') return null;
  const { event } = record;
  if (!isAuditEvent(event)) return null;
  const timestampMs = Date.parse(event.timestamp);
  return { record, row: getRow(record, timestampMs, formatEventJson(record, line)), tags: event.data_tags };
}

/** Builds a row. The fields are in the order of their columns, and every row has all of them. */
function getRow(record: EventRecord, timestampMs: number, json: string): EventRow {
  const { event, writer, seq } = record;
  const phase = event.metadata.phase;
  return {
    event_id: event.event_id,
    timestamp_ms: timestampMs,
    writer,
    seq,
    boundary: event.boundary,
    decision: event.decision,
    action: event.action,
    policy_name: event.policy_name,
    agent_id: event.agent_id,
    tool_name: event.tool_name,
    session_id: event.session_id,
    source_agent_id: event.source_agent_id,
    destination_agent_id: event.destination_agent_id,
    tenant_id: event.tenant_id,
    caller_id: event.caller_id,
    phase: typeof phase === 'string' ? phase : null,
    event: json,
  };
}

function buildTagRows(entry: Entry): TagRow[] {
  const { timestamp_ms, seq, event_id } = entry.row;
  return [...listTagFamilies(entry.tags)].map((tag) => ({ tag, timestamp_ms, seq, event_id }));
}
