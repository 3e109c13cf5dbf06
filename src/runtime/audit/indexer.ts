import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CompiledQuery, Insertable, Kysely, Transaction } from 'kysely';
import type { AuditEvent } from '../types.ts';
import { listWriters } from './files.ts';
import { FROM_START, type Position, type ReadRecord, readChain } from './reader.ts';
import { eventJson } from './record.ts';
import type { AuditIndex, IndexTables } from './store.ts';

export interface Indexer {
  /**
   * Reads what is new in the journal into the index. When it resolves, every event that was durable before
   * the call can be found. Calls at the same time share the work.
   *
   * @returns how many events were read
   */
  readonly sync: () => Promise<number>;
  /** Forgets events older than this, some at a time, as the journal has deleted their files. */
  readonly prune: (before_ms: number) => Promise<number>;
}

type EventRow = Insertable<IndexTables['audit_events']>;
type TagRow = Insertable<IndexTables['audit_event_tags']>;

/**
 * Fills an index from a journal. There is one in a state folder, in the process that owns it. Each batch is
 * one transaction together with the position behind it, so that a stop repeats events and never skips one;
 * the repeated are known by their `event_id`.
 *
 * @param options.dir - the folder of all writers, `<state>/journal`
 */
export function openIndexer(options: { index: AuditIndex; dir: string }): Indexer {
  const inserts = new Map<string, CompiledQuery>();
  let running: Promise<number> | null = null;
  let waiting: Promise<number> | null = null;
  const run = (): Promise<number> => {
    running = readAll(options.index, options.dir, inserts).finally(() => {
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
    prune: (before_ms) => prune(options.index, before_ms),
  };
}

async function readAll(index: AuditIndex, dir: string, inserts: Map<string, CompiledQuery>): Promise<number> {
  const positions = await readPositions(index);
  let events = 0;
  for (const writer of await listWriters(dir)) {
    const from = positions.get(writer) ?? FROM_START;
    for await (const block of readChain(join(dir, writer), from)) {
      events += await insertBlock(index.db, writer, block.records, block.position, inserts);
      await nextTurn();
    }
  }
  return events;
}

/** How far each writer has been read; also what `verifyJournal` may hold the files against. */
export async function readPositions(index: AuditIndex): Promise<Map<string, Position>> {
  const rows = await index.db.selectFrom('journal_positions').selectAll().execute();
  return new Map(rows.map(({ writer, byte_offset, ...rest }) => [writer, { ...rest, offset: byte_offset }]));
}

/** The last line of each writer that the index has seen, for `verifyJournal`'s `known_heads`. */
export async function indexHeads(
  index: AuditIndex,
): Promise<Map<string, { seq: number; record_hash: string }>> {
  const heads = new Map<string, { seq: number; record_hash: string }>();
  for (const [writer, { seq, record_hash }] of await readPositions(index)) {
    if (record_hash !== null) heads.set(writer, { seq, record_hash });
  }
  return heads;
}

async function insertBlock(
  db: Kysely<IndexTables>,
  writer: string,
  records: readonly ReadRecord[],
  position: Position,
  inserts: Map<string, CompiledQuery>,
): Promise<number> {
  const events = new Map<string, { row: EventRow; tags: readonly string[] }>();
  for (const read of records) {
    const entry = entryOf(read);
    if (entry !== null && !events.has(entry.row.event_id)) events.set(entry.row.event_id, entry);
  }
  await db.transaction().execute(async (transaction) => {
    const added = await insertNew(
      transaction,
      'audit_events',
      'event_id',
      [...events.values()].map(({ row }) => row),
      inserts,
    );
    const tags = added.flatMap(({ event_id }) => tagRows(events.get(event_id as string)!));
    await insertNew(transaction, 'audit_event_tags', 'event_id', tags, inserts);
    const { segment, offset: byte_offset, seq, record_hash } = position;
    const place = { segment, byte_offset, seq, record_hash };
    await transaction
      .insertInto('journal_positions')
      .values({ writer, ...place })
      .onConflict((conflict) => conflict.column('writer').doUpdateSet(place))
      .execute();
  });
  return events.size;
}

function entryOf({ record, line }: ReadRecord): { row: EventRow; tags: readonly string[] } | null {
  if (record.kind !== 'event') return null;
  const { event } = record;
  const timestamp_ms = Date.parse(event.timestamp);
  if (typeof event.event_id !== 'string' || Number.isNaN(timestamp_ms)) return null;
  return {
    row: rowOf(event, timestamp_ms, record.seq, eventJson(record, line)),
    tags: event.data_tags ?? [],
  };
}

/** The fields stand in the order of their columns; every row has all of them. */
function rowOf(event: AuditEvent, timestamp_ms: number, seq: number, json: string): EventRow {
  const phase = event.metadata?.phase;
  return {
    event_id: event.event_id,
    timestamp_ms,
    seq,
    boundary: event.boundary,
    decision: event.decision,
    action: event.action,
    policy_name: event.policy_name,
    agent_id: event.agent_id,
    tool_name: event.tool_name ?? null,
    session_id: event.session_id ?? null,
    source_agent_id: event.source_agent_id ?? null,
    destination_agent_id: event.destination_agent_id ?? null,
    tenant_id: event.tenant_id,
    caller_id: event.caller_id,
    phase: typeof phase === 'string' ? phase : null,
    event: json,
  };
}

function tagRows(entry: { row: EventRow; tags: readonly string[] }): TagRow[] {
  const { timestamp_ms, seq, event_id } = entry.row;
  return [...withAncestors(entry.tags)].map((tag) => ({ tag, timestamp_ms, seq, event_id }));
}

function withAncestors(tags: readonly string[]): Set<string> {
  const all = new Set<string>();
  for (const tag of tags) {
    for (let end = tag.length; end > 0; end = tag.lastIndexOf('.', end - 1)) all.add(tag.slice(0, end));
  }
  return all;
}

/** Rows of one statement: few sizes, so that each text is built once and stays prepared. */
const INSERT_ROWS = [64, 8, 1];

/** Inserts rows that are not there yet, and gives `column` of those that were not. */
async function insertNew<Table extends 'audit_events' | 'audit_event_tags'>(
  transaction: Transaction<IndexTables>,
  table: Table,
  column: 'event_id',
  rows: readonly (EventRow | TagRow)[],
  inserts: Map<string, CompiledQuery>,
): Promise<Record<string, unknown>[]> {
  const added: Record<string, unknown>[] = [];
  for (let from = 0; from < rows.length; ) {
    const size = INSERT_ROWS.find((each) => each <= rows.length - from)!;
    const some = rows.slice(from, from + size);
    const key = `${table} ${size}`;
    let query = inserts.get(key);
    if (query === undefined) {
      const insert = transaction.insertInto(table).values(some as never);
      query = insert
        .onConflict((conflict) => conflict.doNothing())
        .returning(column as never)
        .compile();
      inserts.set(key, query);
    }
    const result = await transaction.executeQuery({
      ...query,
      parameters: some.flatMap((row) => Object.values(row)),
    });
    for (const row of result.rows) added.push(row as Record<string, unknown>);
    from += size;
  }
  return added;
}

const PRUNE_ROWS = 1_000;

async function prune(index: AuditIndex, before_ms: number): Promise<number> {
  let pruned = 0;
  for (;;) {
    const old = await index.db
      .selectFrom('audit_events')
      .select('event_id')
      .where('timestamp_ms', '<', before_ms)
      .orderBy('timestamp_ms')
      .limit(PRUNE_ROWS)
      .execute();
    if (old.length === 0) break;
    const ids = old.map(({ event_id }) => event_id);
    await index.db.deleteFrom('audit_events').where('event_id', 'in', ids).execute();
    pruned += ids.length;
    await nextTurn();
  }
  await index.db.deleteFrom('audit_event_tags').where('timestamp_ms', '<', before_ms).execute();
  return pruned;
}
