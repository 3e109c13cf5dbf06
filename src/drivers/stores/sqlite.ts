import { chmodSync } from 'node:fs';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Kysely, SqliteDatabase, SqliteStatement } from 'kysely';

export interface SqliteSettings {
  /** The database file. A missing file is created with the owner's rights only. */
  readonly path: string;
  /** Opens an existing file for reading only. */
  readonly read_only?: boolean;
  /**
   * The time that a statement waits for another process's transaction, in milliseconds; 5,000 by default. It blocks the
   * thread.
   */
  readonly busy_timeout_ms?: number;
}

/**
 * The embedded database: a file, through Node's built-in SQLite. Many processes may read while one writes (WAL). A
 * commit survives a killed process. A power cut may lose the last commits as a whole, so data that must survive it
 * belongs in a journal, or needs `PRAGMA synchronous = FULL`.
 */
export const sqlite = {
  name: 'sqlite',
  settings: {
    type: 'object',
    required: ['path'],
    properties: {
      path: { type: 'string', description: 'The database file.' },
      read_only: { type: 'boolean', default: false },
      busy_timeout_ms: { type: 'integer', minimum: 0, default: 5000 },
    },
  },
  open,
} as const;

const BUSY_TIMEOUT_MS = 5_000;

/** Opens the file and returns a query builder; `destroy()` closes it. */
async function open<Tables>(settings: SqliteSettings): Promise<Kysely<Tables>> {
  const { Kysely, SqliteDialect } = await import('kysely');
  return new Kysely<Tables>({
    dialect: new SqliteDialect({ database: adaptDatabase(openSqliteDatabase(settings)) }),
  });
}

/** Allows 16 MB each for cached pages and for the log, so that many small inserts share their writes to the file. */
const WRITER_PRAGMAS = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA foreign_keys = ON;
  PRAGMA cache_size = -16384;
  PRAGMA wal_autocheckpoint = 4000;
`;

/** Opens the file itself, for a driver that uses SQLite directly. */
export function openSqliteDatabase(
  settings: Omit<SqliteSettings, 'path'> & { path: string | URL },
): DatabaseSync {
  const readOnly = settings.read_only ?? false;
  const timeout = settings.busy_timeout_ms ?? BUSY_TIMEOUT_MS;
  const database = new DatabaseSync(settings.path, { readOnly, timeout });
  try {
    if (!readOnly) {
      chmodSync(settings.path, 0o600);
      database.exec(WRITER_PRAGMAS);
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The maximum number of prepared statements. The longest ones are batched inserts. */
const STATEMENTS_MAX = 64;

/** Adapts a database to the query builder, and caches prepared statements by their text. */
export function adaptDatabase(database: DatabaseSync): SqliteDatabase {
  const statements = new Map<string, SqliteStatement>();
  return {
    close: () => database.close(),
    prepare(sql) {
      const kept = statements.get(sql);
      if (kept !== undefined) return kept;
      if (statements.size >= STATEMENTS_MAX) statements.delete(statements.keys().next().value!);
      const prepared = prepareStatement(database, sql);
      statements.set(sql, prepared);
      return prepared;
    },
  };
}

function prepareStatement(database: DatabaseSync, sql: string): SqliteStatement {
  const statement = database.prepare(sql);
  const values = (parameters: readonly unknown[]): SQLInputValue[] => parameters as SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => statement.all(...values(parameters)),
    run: (parameters) => statement.run(...values(parameters)),
    iterate: (parameters) => statement.iterate(...values(parameters)),
  };
}
