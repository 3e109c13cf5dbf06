import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type {
  CompiledQuery,
  DatabaseConnection,
  Dialect,
  Driver,
  Kysely,
  SqliteDatabase,
  SqliteQueryCompiler,
} from 'kysely';
import { DISK_FULL, findDiskProblem } from '../../platform/disk.ts';
import { StoreFailure } from '../../platform/store/failure.ts';
import { guardDriver } from './guard-driver.ts';
import { adaptDatabase, openSqliteDatabase } from './sqlite.ts';
import { openWriteTurns } from './write-turns.ts';

export interface SqliteStoreSettings {
  /** The absolute path of the database file. */
  readonly path: string;
  /** Creates a missing file; without it, the file must exist. */
  readonly create?: boolean;
  /** The time that a statement waits for another process's transaction, in milliseconds. Waiting blocks no thread. */
  readonly patience_ms?: number;
}

/**
 * The store in a file that many processes write. A commit is on disk (`synchronous = FULL`). A transaction takes the
 * write lock when it begins, so that no other transaction can change the rows that it reads. The driver waits
 * for the lock between attempts and not inside SQLite, whose calls block the whole process.
 */
export const sqliteStore = {
  name: 'sqlite',
  settings: {
    type: 'object',
    required: ['path'],
    properties: {
      path: { type: 'string', description: 'The database file.' },
      create: { type: 'boolean', default: false },
      patience_ms: { type: 'integer', minimum: 0, default: 5000 },
    },
  },
  open,
} as const;

const PATIENCE_MS = 5_000;
const PAUSE_MS_MAX = 25;

/** Returns a query builder that opens the file with the first query; `destroy()` closes it. */
async function open<Tables>(settings: SqliteStoreSettings): Promise<Kysely<Tables>> {
  const { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } = await import('kysely');
  const dialect: Dialect = {
    createDriver: () =>
      guardDriver(getDriver(settings), (error) => getFailure(error, dirname(settings.path))),
    // All migrations run in one transaction, so that a killed process leaves none half done. This driver queues writers
    // itself.
    createAdapter: () =>
      Object.defineProperties(new SqliteAdapter(), {
        supportsTransactionalDdl: { value: true },
        supportsMultipleConnections: { value: true },
      }),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => createCompilerWithoutRowLocks(SqliteQueryCompiler),
  };
  return new Kysely<Tables>({ dialect });
}

const ROW_LOCKS = ['ForUpdate', 'ForNoKeyUpdate', 'ForShare', 'ForKeyShare', 'NoWait', 'SkipLocked'];

/** Builds a compiler that ignores `for update`. SQLite has one writer at a time, so it needs no row locks. */
function createCompilerWithoutRowLocks(Base: typeof SqliteQueryCompiler): SqliteQueryCompiler {
  type Visit = (this: SqliteQueryCompiler, node: { modifier?: string }) => void;
  const base = Base.prototype as unknown as { visitSelectModifier: Visit };
  const visitSelectModifier: Visit = function (node) {
    if (!ROW_LOCKS.includes(node.modifier ?? '')) base.visitSelectModifier.call(this, node);
  };
  // The base class binds its methods in the constructor, so the override must be on the prototype before.
  function Compiler(): void {}
  Compiler.prototype = Object.create(base, { visitSelectModifier: { value: visitSelectModifier } });
  return Reflect.construct(Base, [], Compiler) as SqliteQueryCompiler;
}

/** The open file. */
interface Handle {
  readonly database: DatabaseSync;
  readonly statements: SqliteDatabase;
  /** The identity of the open file. Its path may later name another file. */
  readonly file_id: string | null;
}

function getDriver(settings: SqliteStoreSettings): Driver {
  const patienceMs = settings.patience_ms ?? PATIENCE_MS;
  const turns = openWriteTurns(patienceMs, buildBusyFailure);
  let handle: Handle | null = null;

  /** Returns the handle. Rejects a file that was replaced, because the log of the first file would be mixed into it. */
  const current = (): Handle => {
    handle ??= openHandle(settings);
    if (handle.file_id !== readFileId(settings.path)) throw buildReplacedFailure();
    return handle;
  };
  const execute = (sql: string): void => current().database.exec(sql);
  const connection: DatabaseConnection = {
    executeQuery: async <Row>(query: CompiledQuery) =>
      handle?.database.isTransaction === true
        ? runQuery<Row>(handle.statements, query)
        : retryWhileBusy(patienceMs, () => runQuery<Row>(current().statements, query)),
    async *streamQuery<Row>(query: CompiledQuery) {
      const rows = current().statements.prepare(query.sql).iterate(query.parameters);
      for (const row of rows) yield { rows: [row as Row] };
    },
  };
  return {
    init: async () => void (await retryWhileBusy(patienceMs, current)),
    acquireConnection: async () => {
      await turns.take();
      return connection;
    },
    releaseConnection: async () => turns.give(),
    beginTransaction: () => retryWhileBusy(patienceMs, () => execute('BEGIN IMMEDIATE')),
    commitTransaction: async () => execute('COMMIT'),
    rollbackTransaction: async () => {
      // After a full disk, SQLite has rolled back already.
      if (handle!.database.isTransaction) handle!.database.exec('ROLLBACK');
    },
    destroy: async () => handle?.database.close(),
  };
}

function openHandle({ path, create = false }: SqliteStoreSettings): Handle {
  const database = openSqliteDatabase({
    path: create ? path : buildExistingFileUrl(path),
    busy_timeout_ms: 0,
  });
  try {
    database.exec('PRAGMA synchronous = FULL');
    return { database, statements: adaptDatabase(database), file_id: readFileId(path) };
  } catch (error) {
    database.close();
    throw error;
  }
}

function buildExistingFileUrl(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', 'rw');
  return url;
}

function readFileId(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}

function runQuery<Row>(database: SqliteDatabase, { sql, parameters }: CompiledQuery) {
  const statement = database.prepare(sql);
  if (statement.reader) return { rows: statement.all(parameters) as Row[] };
  const { changes } = statement.run(parameters);
  return { rows: [], numAffectedRows: BigInt(changes) };
}

/** Retries while another process has the write lock. Other work of this process continues meanwhile. */
async function retryWhileBusy<Result>(patienceMs: number, work: () => Result): Promise<Result> {
  const untilMs = performance.now() + patienceMs;
  for (let tries = 1; ; tries++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= untilMs) throw error;
      // The random pause keeps processes from colliding repeatedly.
      await sleep(Math.random() * Math.min(PAUSE_MS_MAX, tries * 2));
    }
  }
}

const SQLITE = { error: 1, busy: 5, locked: 6, corrupt: 11, full: 13, protocol: 15, not_a_database: 26 };

function getCode(error: unknown): number {
  return ((error as { errcode?: number } | null)?.errcode ?? 0) % 256;
}

function isBusy(error: unknown): boolean {
  return [SQLITE.busy, SQLITE.locked, SQLITE.protocol].includes(getCode(error));
}

/** SQLite errors that the file or its disk causes, and not a bug of the program. */
const ENVIRONMENT = [3, 7, 8, 9, 10, 14, 22, 23];

function getFailure(error: unknown, folder: string): StoreFailure | null {
  if (error instanceof StoreFailure) return error;
  const code = getCode(error);
  const systemCode = code === 0 ? getSystemCode(error) : `errcode ${(error as { errcode: number }).errcode}`;
  if (isBusy(error)) return buildBusyFailure();
  const disk = findDiskProblem(error, folder);
  if (code === SQLITE.full || disk?.what === DISK_FULL) {
    const message = 'The disk of the store is full. Free some space; hooks then work again.';
    return new StoreFailure('store_full', message, systemCode);
  }
  if (code === SQLITE.corrupt || code === SQLITE.not_a_database) {
    const message = 'The file of the store is damaged or is none of ours. Put a backup in its place.';
    return new StoreFailure('store_damaged', message, systemCode);
  }
  if (code === SQLITE.error && /^no such (table|column): /.test((error as Error).message)) {
    const message = 'The store does not have the tables of this version. Start the service again.';
    return new StoreFailure('store_older', message, systemCode);
  }
  if (ENVIRONMENT.includes(code) || (code === 0 && systemCode !== null)) {
    const why = disk?.names_cause === true ? `: ${disk.what}` : '';
    const message = `The file of the store cannot be opened, read or written${why}. Check that its folder is there, its rights and its disk.`;
    return new StoreFailure('store_unavailable', message, systemCode);
  }
  return null;
}

/** Returns the system's code for an error of the file itself, such as `EACCES`. */
function getSystemCode(error: unknown): string | null {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : null;
}

function buildBusyFailure(): StoreFailure {
  return new StoreFailure('store_busy', 'Others hold the store for too long. Try again.');
}

function buildReplacedFailure(): StoreFailure {
  const message =
    'The file of the store was removed or replaced while in use. Restore it; or stop the service, remove the files next to it that end in `-wal` and `-shm`, and start it again.';
  return new StoreFailure('store_unavailable', message);
}
