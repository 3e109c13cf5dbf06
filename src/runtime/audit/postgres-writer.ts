import { CompiledQuery, type Kysely, sql } from 'kysely';
import { encodeNumberArray, encodeTextArray } from '../../drivers/stores/postgres-arrays.ts';
import type { IndexWriter } from './audit-index.ts';
import { formatEventIdFloor } from './event-id.ts';
import { pruneCounts } from './event-tallies.ts';
import { COUNT_KEYS, type CountsTable, type IndexTables } from './index-tables.ts';
import type { Partitions } from './postgres-partitions.ts';

type ColumnType = 'text' | 'bigint';

/** The columns of each table that rows bring, in the order of their parameters. */
const COLUMNS = {
  audit_events: {
    event_id: 'text',
    timestamp_ms: 'bigint',
    writer: 'text',
    seq: 'bigint',
    boundary: 'text',
    decision: 'text',
    action: 'text',
    policy_name: 'text',
    agent_id: 'text',
    tool_name: 'text',
    session_id: 'text',
    source_agent_id: 'text',
    destination_agent_id: 'text',
    tenant_id: 'text',
    caller_id: 'text',
    phase: 'text',
    event: 'text',
  },
  audit_event_tags: { tag: 'text', timestamp_ms: 'bigint', seq: 'bigint', event_id: 'text' },
  shown_actions: { event_id: 'text', action_shown: 'text', action_marks: 'text' },
  audit_counts: {
    width_ms: 'bigint',
    field: 'text',
    bucket_ms: 'bigint',
    tenant_id: 'text',
    agent_id: 'text',
    value: 'text',
    decision: 'text',
    action: 'text',
    event_count: 'bigint',
    first_ms: 'bigint',
    last_ms: 'bigint',
  },
  audit_sessions: {
    tenant_id: 'text',
    session_id: 'text',
    agent_id: 'text',
    event_count: 'bigint',
    block_count: 'bigint',
    first_ms: 'bigint',
    last_ms: 'bigint',
  },
  audit_policies: {
    bucket_ms: 'bigint',
    policy_hash: 'text',
    event_count: 'bigint',
    first_ms: 'bigint',
    last_ms: 'bigint',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, ColumnType>>>>;
type WrittenTable = keyof typeof COLUMNS;

/**
 * Opens the writer of an index in a database. Each table gets its rows of a batch in one statement, as one array for each
 * column.
 *
 * Writers of all services take turns: each transaction locks the row with the last position and advances it. So
 * positions become visible in their order, and a reader at one misses no event of a slower service.
 * Unlike transaction IDs, positions survive a restore into another server, and no long transaction of others holds
 * readers up.
 */
export function openPostgresWriter(
  db: Kysely<IndexTables>,
  node: string,
  partitions: Partitions,
): IndexWriter {
  return {
    prepare: (rows) => partitions.prepare(rows.map(({ timestamp_ms }) => timestamp_ms)),
    begin: async (transaction) => {
      await sql`select 1 from audit_stream for update`.execute(transaction);
    },
    insertEvents: async (transaction, rows, after) => {
      if (rows.length === 0) return new Set();
      const parameters = [...encodeColumns('audit_events', rows), node, after];
      const result = await transaction.executeQuery<{ event_id: string }>(
        CompiledQuery.raw(INSERT_EVENTS, parameters),
      );
      await sql`update audit_stream set position = ${after + rows.length}`.execute(transaction);
      return new Set(result.rows.map(({ event_id }) => event_id));
    },
    insertRows: async (transaction, table, rows) => {
      if (rows.length === 0) return;
      await transaction.executeQuery(CompiledQuery.raw(INSERTS[table], encodeColumns(table, rows)));
    },
    addCounts: async (own, table, rows) => {
      if (rows.length === 0) return;
      const parameters = [...encodeColumns(table, rows), node];
      await own.executeQuery(CompiledQuery.raw(UPSERTS[table], parameters));
    },
    prune: async (beforeMs) => {
      const events = await partitions.drop(beforeMs);
      await partitions.prepare([]);
      await pruneRest(db, beforeMs);
      return events;
    },
  };
}

function encodeColumns(table: WrittenTable, rows: readonly object[]): Buffer[] {
  return Object.entries<ColumnType>(COLUMNS[table]).map(([column, type]) => {
    const values = rows.map((row) => (row as Readonly<Record<string, unknown>>)[column]);
    return type === 'text'
      ? encodeTextArray(values as (string | null)[])
      : encodeNumberArray(values as number[]);
  });
}

function listColumns(table: WrittenTable, prefix = ''): string {
  return Object.keys(COLUMNS[table])
    .map((column) => `${prefix}${column}`)
    .join(', ');
}

/** Returns `unnest($1::text[], $2::bigint[])`. */
function buildUnnest(table: WrittenTable): string {
  const arrays = Object.values(COLUMNS[table]).map((type, at) => `$${at + 1}::${type}[]`);
  return `unnest(${arrays.join(', ')})`;
}

/** Returns the parameter after those of a table's columns. */
function buildNext(table: WrittenTable, further = 1): string {
  return `$${Object.keys(COLUMNS[table]).length + further}`;
}

const INSERT_EVENTS = `
  insert into audit_events (${listColumns('audit_events')}, node, stream_position)
  select ${listColumns('audit_events', 'u.')}, ${buildNext('audit_events')}, ${buildNext('audit_events', 2)}::bigint + u.place
  from ${buildUnnest('audit_events')} with ordinality as u (${listColumns('audit_events')}, place)
  on conflict (event_id, timestamp_ms) do nothing
  returning event_id`;

const INSERTS = {
  audit_event_tags: buildInsert('audit_event_tags'),
  shown_actions: buildInsert('shown_actions'),
};

function buildInsert(table: WrittenTable): string {
  return `insert into ${table} (${listColumns(table)}) select * from ${buildUnnest(table)} on conflict do nothing`;
}

const UPSERTS = {
  audit_counts: buildUpsert('audit_counts'),
  audit_sessions: buildUpsert('audit_sessions', ', block_count = own.block_count + excluded.block_count'),
  audit_policies: buildUpsert('audit_policies'),
};

function buildUpsert(table: CountsTable, more = ''): string {
  return `
    insert into ${table} as own (${listColumns(table)}, node)
    select u.*, ${buildNext(table)} from ${buildUnnest(table)} as u
    on conflict (${COUNT_KEYS[table].join(', ')}, node) do update set
      event_count = own.event_count + excluded.event_count,
      first_ms = least(own.first_ms, excluded.first_ms),
      last_ms = greatest(own.last_ms, excluded.last_ms)${more}`;
}

const DAY_MS = 86_400_000;

/** Deletes what is old outside the partitions of days, to the same beginning of a day. */
async function pruneRest(db: Kysely<IndexTables>, beforeMs: number): Promise<void> {
  const dayMs = Math.floor(beforeMs / DAY_MS) * DAY_MS;
  for (const table of ['audit_events_rest', 'audit_event_tags_rest'])
    await sql`delete from ${sql.table(table)} where timestamp_ms < ${dayMs}`.execute(db);
  await db.deleteFrom('shown_actions').where('event_id', '<', formatEventIdFloor(beforeMs)).execute();
  await pruneCounts(db, beforeMs);
}
