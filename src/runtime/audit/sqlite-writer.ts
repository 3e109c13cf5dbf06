import { setImmediate as nextTurn } from 'node:timers/promises';
import { type CompiledQuery, type Kysely, sql, type Transaction } from 'kysely';
import type { AddCounts, AuditIndex, IndexWriter } from './audit-index.ts';
import { formatEventIdFloor } from './event-id.ts';
import { pruneCounts } from './event-tallies.ts';
import {
  COUNT_KEYS,
  type CountsTable,
  type EventRow,
  type IndexRows,
  type IndexTables,
} from './index-tables.ts';

type InsertedTable = 'audit_events' | 'audit_event_tags' | 'shown_actions';
/** Compiled statements, by table and number of rows. */
type Statements = Map<string, CompiledQuery>;

/** The numbers of rows per statement: few sizes, so that each statement is compiled once and stays prepared. */
const STATEMENT_ROWS = [64, 8, 1];

/** Opens the writer of an index in a file. */
export function openSqliteWriter({ db }: Pick<AuditIndex, 'db'>): IndexWriter {
  const inserts: Statements = new Map();
  const insert = (
    transaction: Transaction<IndexTables>,
    table: InsertedTable,
    rows: readonly object[],
  ): Promise<number> =>
    runInParts(transaction, table, rows, inserts, (some) =>
      transaction
        .insertInto(table)
        .values(some as EventRow[])
        .onConflict((conflict) => conflict.doNothing())
        .compile(),
    );
  return {
    prepare: async () => {},
    // No other process writes to the file.
    begin: async () => {},
    insertEvents: async (transaction, rows, after) => {
      const added = await insert(transaction, 'audit_events', rows);
      const ids = rows.map(({ event_id }) => event_id);
      return new Set(added === rows.length ? ids : await selectNewIds(transaction, after, ids));
    },
    insertRows: async (transaction, table, rows) => void (await insert(transaction, table, rows)),
    addCounts: openSqliteCounts(),
    prune: (beforeMs) => pruneRows(db, beforeMs),
  };
}

/** Returns the last position in the index; 0 if it is empty. */
export async function readLastRowid(db: Kysely<IndexTables>): Promise<number> {
  const { last } = await db
    .selectFrom('audit_events')
    .select(sql<number | null>`max(rowid)`.as('last'))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

/** Returns the events that were inserted after a position, so that no event is counted twice. */
async function selectNewIds(
  transaction: Transaction<IndexTables>,
  position: number,
  ids: readonly string[],
): Promise<string[]> {
  const rows = await transaction
    .selectFrom('audit_events')
    .select('event_id')
    .where('event_id', 'in', ids)
    .where(sql<number>`rowid`, '>', position)
    .execute();
  return rows.map(({ event_id }) => event_id);
}

/** Returns a function that adds counts, with statements that it compiles once. */
export function openSqliteCounts(): AddCounts {
  const upserts: Statements = new Map();
  return async (db, table, rows) => {
    await runInParts(db, table, rows, upserts, (some) => compileUpsert(db, table, some));
  };
}

function compileUpsert<Table extends CountsTable>(
  db: Kysely<IndexTables>,
  table: Table,
  rows: readonly object[],
): CompiledQuery {
  const own = sql.table(table);
  const sums = {
    event_count: sql<number>`${own}.event_count + excluded.event_count`,
    first_ms: sql<number>`min(${own}.first_ms, excluded.first_ms)`,
    last_ms: sql<number>`max(${own}.last_ms, excluded.last_ms)`,
    ...(table === 'audit_sessions' && {
      block_count: sql<number>`${own}.block_count + excluded.block_count`,
    }),
  };
  const key = sql.join(COUNT_KEYS[table].map((column) => sql.ref(column)));
  return db
    .insertInto<CountsTable>(table)
    .values(rows as IndexRows['audit_counts'][])
    .onConflict((conflict) => conflict.expression(key).doUpdateSet(sums))
    .compile();
}

/** Runs a statement for some rows at a time. Returns the number of rows that changed. */
async function runInParts(
  db: Kysely<IndexTables>,
  table: string,
  rows: readonly object[],
  statements: Statements,
  compile: (some: readonly object[]) => CompiledQuery,
): Promise<number> {
  let changed = 0;
  for (let from = 0; from < rows.length; ) {
    const size = STATEMENT_ROWS.find((each) => each <= rows.length - from)!;
    const some = rows.slice(from, from + size);
    const key = `${table} ${size}`;
    const query = statements.get(key) ?? compile(some);
    statements.set(key, query);
    const parameters = some.flatMap((row) => Object.values(row));
    const { numAffectedRows } = await db.executeQuery({ ...query, parameters });
    changed += Number(numAffectedRows);
    from += size;
  }
  return changed;
}

const PRUNE_ROWS = 1_000;

async function pruneRows(db: Kysely<IndexTables>, beforeMs: number): Promise<number> {
  let pruned = 0;
  for (;;) {
    const old = await db
      .selectFrom('audit_events')
      .select('event_id')
      .where('timestamp_ms', '<', beforeMs)
      .orderBy('timestamp_ms')
      .limit(PRUNE_ROWS)
      .execute();
    if (old.length === 0) break;
    const ids = old.map(({ event_id }) => event_id);
    await db.deleteFrom('audit_events').where('event_id', 'in', ids).execute();
    pruned += ids.length;
    await nextTurn();
  }
  await db.deleteFrom('audit_event_tags').where('timestamp_ms', '<', beforeMs).execute();
  await db.deleteFrom('shown_actions').where('event_id', '<', formatEventIdFloor(beforeMs)).execute();
  await pruneCounts(db, beforeMs);
  return pruned;
}
