import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CompiledQuery, Insertable, Transaction } from 'kysely';
import { type ArrivalNotifier, indexPosition, readLastPosition } from './arrivals.ts';
import type { AuditIndex } from './audit-index.ts';
import { formatEventIdFloor } from './event-id.ts';
import { isAuditEvent } from './event-shape.ts';
import { addToCounts, listTagFamilies, pruneCounts, type Upserts } from './event-tallies.ts';
import { listWriters } from './files.ts';
import type { EventRow, IndexTables } from './index-tables.ts';
import { type ChainHead, formatEventJson, type JournalRecord } from './journal-record.ts';
import { type ArrivalOrder, openArrivalOrder } from './order.ts';
import { type ChainPosition, FROM_START, type ReadRecord, readChain } from './reader.ts';
import { findStepsToRead, readSteps, type StepBlock } from './reorder.ts';
import { compareWithIndex, deleteReplaced, markLost, type ReplacedFile } from './replaced-file.ts';

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

type TagRow = Insertable<IndexTables['audit_event_tags']>;
type ActionRow = Insertable<IndexTables['shown_actions']>;
type IndexedTable = 'audit_events' | 'audit_event_tags' | 'shown_actions';
type EventRecord = JournalRecord & { readonly kind: 'event' };
/** Compiled inserts, by table and number of rows. */
type Inserts = Map<string, CompiledQuery>;

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
  const filling: IndexFill = { index, dir, inserts: new Map(), upserts: new Map(), arrivals, order: null };
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
    prune: (beforeMs) => pruneIndex(index, beforeMs),
  };
}

/** The index, its source, and the notifier. */
interface IndexFill {
  readonly index: AuditIndex;
  readonly dir: string;
  readonly inserts: Inserts;
  readonly upserts: Upserts;
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
    if (replaced?.forgotten === false) await forgetEnd(filling.index, writer, replaced, order);
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
    events += await insertBlock(filling, { ...step, replaced: null, order: null });
    await rest();
  }
  return { order, events };
}

/** Deletes the indexed events after the end of a file that became shorter. */
async function forgetEnd(
  index: AuditIndex,
  writer: string,
  replaced: ReplacedFile,
  order: ArrivalOrder,
): Promise<void> {
  await index.db.transaction().execute((each) => deleteReplaced(each, writer, replaced));
  order.note({ writer, seq: replaced.matched_seq, ordered: true });
}

/** Returns the position up to which each writer's chain is indexed. */
export async function readPositions(index: AuditIndex): Promise<Map<string, ChainPosition>> {
  const rows = await index.db
    .selectFrom('journal_positions')
    .select(['writer', 'segment', 'byte_offset as offset', 'seq', 'record_hash'])
    .execute();
  return new Map(rows.map(({ writer, ...position }) => [writer, position]));
}

/**
 * Returns the last line of each writer that was indexed, even if it is lost since, for `known_heads` of
 * `verifyJournal`. Call it before verifying, because the journal only grows.
 */
export async function indexHeads(index: AuditIndex): Promise<Map<string, ChainHead>> {
  const heads = new Map<string, ChainHead>();
  for (const row of await index.db.selectFrom('journal_positions').selectAll().execute()) {
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
  { index, inserts, upserts, arrivals }: IndexFill,
  { writer, block, ordered, replaced, order }: IncomingLines,
): Promise<number> {
  const events = new Map<string, Entry>();
  for (const read of block.records) {
    const entry = getEntry(read);
    if (entry !== null && !events.has(entry.row.event_id)) events.set(entry.row.event_id, entry);
  }
  const rows = [...events.values()].map(({ row }) => row);
  const hadForgotten = replaced?.forgotten ?? true;
  let before = 0;
  await index.db.transaction().execute(async (transaction) => {
    if (block.again) await markLost(transaction, writer);
    if (replaced?.forgotten === false) await compareWithIndex(transaction, writer, block, rows, replaced);
    await insertNew(transaction, 'shown_actions', block.records.flatMap(buildActionRow), inserts);
    before = await readLastPosition(transaction);
    const allNew = await insertNew(transaction, 'audit_events', rows, inserts);
    const all = [...events.values()];
    const own = allNew ? all : await selectOwnEntries(transaction, writer, all);
    await insertNew(transaction, 'audit_event_tags', own.flatMap(buildTagRows), inserts);
    const added = allNew ? all : await selectNewEntries(transaction, before, all);
    await addToCounts(
      transaction,
      added.map(({ record }) => record.event),
      upserts,
    );
    await writePosition(transaction, writer, block.position, ordered);
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
  writer: string,
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
  await transaction
    .insertInto('journal_positions')
    .values({ writer, ...place })
    .onConflict((conflict) => conflict.column('writer').doUpdateSet(place))
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

/** The numbers of rows per statement: few sizes, so that each statement is compiled once and stays prepared. */
const INSERT_ROWS = [64, 8, 1];

/** Inserts the rows that do not exist yet. Returns whether all rows were new. */
async function insertNew(
  transaction: Transaction<IndexTables>,
  table: IndexedTable,
  rows: readonly (EventRow | TagRow | ActionRow)[],
  inserts: Inserts,
): Promise<boolean> {
  let added = 0;
  for (let from = 0; from < rows.length; ) {
    const size = INSERT_ROWS.find((each) => each <= rows.length - from)!;
    const some = rows.slice(from, from + size);
    const key = `${table} ${size}`;
    const query = inserts.get(key) ?? compileInsert(transaction, table, some);
    inserts.set(key, query);
    const parameters = some.flatMap((row) => Object.values(row));
    const { numAffectedRows } = await transaction.executeQuery({ ...query, parameters });
    added += Number(numAffectedRows);
    from += size;
  }
  return added === rows.length;
}

/**
 * Returns the entries whose event is indexed under their own number. An event that was appended twice is indexed once.
 */
async function selectOwnEntries(
  transaction: Transaction<IndexTables>,
  writer: string,
  entries: readonly Entry[],
): Promise<Entry[]> {
  const ids = entries.map(({ row }) => row.event_id);
  const kept = transaction.selectFrom('audit_events').select(['event_id', 'seq']);
  const rows = await kept.where('event_id', 'in', ids).where('writer', '=', writer).execute();
  const seqs = new Map(rows.map(({ event_id, seq }) => [event_id, seq]));
  return entries.filter(({ row }) => seqs.get(row.event_id) === row.seq);
}

/** Returns the entries whose events were inserted after a position, so that no event is counted twice. */
async function selectNewEntries(
  transaction: Transaction<IndexTables>,
  position: number,
  entries: readonly Entry[],
): Promise<Entry[]> {
  const ids = entries.map(({ row }) => row.event_id);
  const rows = await transaction
    .selectFrom('audit_events')
    .select('event_id')
    .where('event_id', 'in', ids)
    .where(indexPosition, '>', position)
    .execute();
  const added = new Set(rows.map(({ event_id }) => event_id));
  return entries.filter(({ row }) => added.has(row.event_id));
}

function compileInsert(
  transaction: Transaction<IndexTables>,
  table: IndexedTable,
  rows: readonly (EventRow | TagRow | ActionRow)[],
): CompiledQuery {
  return transaction
    .insertInto(table)
    .values(rows as EventRow[])
    .onConflict((conflict) => conflict.doNothing())
    .compile();
}

const PRUNE_ROWS = 1_000;

async function pruneIndex(index: AuditIndex, beforeMs: number): Promise<number> {
  let pruned = 0;
  for (;;) {
    const old = await index.db
      .selectFrom('audit_events')
      .select('event_id')
      .where('timestamp_ms', '<', beforeMs)
      .orderBy('timestamp_ms')
      .limit(PRUNE_ROWS)
      .execute();
    if (old.length === 0) break;
    const ids = old.map(({ event_id }) => event_id);
    await index.db.deleteFrom('audit_events').where('event_id', 'in', ids).execute();
    pruned += ids.length;
    await nextTurn();
  }
  await index.db.deleteFrom('audit_event_tags').where('timestamp_ms', '<', beforeMs).execute();
  const floor = formatEventIdFloor(beforeMs);
  await index.db.deleteFrom('shown_actions').where('event_id', '<', floor).execute();
  await pruneCounts(index.db, beforeMs);
  return pruned;
}
