import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type QueryExecutorProvider, type RawBuilder, sql } from 'kysely';
import type { StoreSettings } from '../../src/platform/store/settings.ts';
import { startPostgres } from '../../src/platform/store/testing/postgres-server.ts';
import { openIndex } from '../../src/runtime/audit/open-index.ts';
import { openServiceStore } from '../../src/server/store.ts';

/** Returns the tables, columns and indexes on SQLite after all migrations: the store, then the index of the audit log. */
export async function collectSqliteTables(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'tables-'));
  try {
    const store = await readStore({ kind: 'sqlite', path: join(dir, 'store.db') }, listSqliteTables);
    const index = await openIndex({ path: join(dir, 'index.db') });
    const lines = [...store, ...(await listSqliteTables(index.db)).map((line) => `audit index: ${line}`)];
    await index.close();
    return `${lines.join('\n')}\n`;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Returns the same for both on PostgreSQL, in one database. Call it only if `explainMissingPostgres` returns `null`. */
export async function collectPostgresTables(): Promise<string> {
  const server = await startPostgres();
  try {
    const url = await server.makeDatabase();
    await (await openIndex({ url, node: 'net', kept_days: 1 })).close();
    const lines = await readStore({ kind: 'postgres', url }, listPostgresTables);
    return `${lines.join('\n')}\n`;
  } finally {
    await server.remove();
  }
}

async function readStore(
  settings: StoreSettings,
  list: (db: QueryExecutorProvider) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const store = await openServiceStore(settings, { migrate: true });
  try {
    return await list(store.db);
  } finally {
    await store.close();
  }
}

async function listSqliteTables(db: QueryExecutorProvider): Promise<readonly string[]> {
  const columns = await readLines(
    db,
    sql`
      select t.name || '.' || c.name || ' ' || c.type
        || case c."notnull" when 1 then ' not null' else '' end
        || coalesce(' default ' || c.dflt_value, '')
        || case c.pk when 0 then '' else ' primary key ' || c.pk end as line
      from sqlite_master t, pragma_table_info(t.name) c
      where t.type = 'table'`,
  );
  const indexes = await readLines(
    db,
    sql`
      select m.tbl_name || ' ' || m.type || ' ' || m.name || coalesce(': ' || m.sql, '') as line
      from sqlite_master m where m.type <> 'table'`,
  );
  return [...columns, ...indexes].sort();
}

async function listPostgresTables(db: QueryExecutorProvider): Promise<readonly string[]> {
  const columns = await readLines(
    db,
    sql`
      select table_name || '.' || column_name || ' ' || data_type
        || case is_nullable when 'NO' then ' not null' else '' end
        || coalesce(' default ' || column_default, '')
        || coalesce(' collate ' || collation_name, '') as line
      from information_schema.columns where table_schema = 'public'`,
  );
  const indexes = await readLines(
    db,
    sql`
      select tablename || ' index ' || indexname || ': ' || indexdef as line
      from pg_indexes where schemaname = 'public'`,
  );
  const constraints = await readLines(
    db,
    sql`
      select conrelid::regclass || ' constraint ' || conname || ': ' || pg_get_constraintdef(oid) as line
      from pg_constraint where connamespace = 'public'::regnamespace and contype <> 'n'`,
  );
  return [...columns, ...indexes, ...constraints].sort();
}

async function readLines(db: QueryExecutorProvider, query: RawBuilder<unknown>): Promise<readonly string[]> {
  const { rows } = await (query as RawBuilder<{ readonly line: string }>).execute(db);
  return rows.map(({ line }) => line.replaceAll(/\s+/g, ' '));
}
