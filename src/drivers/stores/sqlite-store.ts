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
import { DISK_FULL, diskProblem } from '../../platform/disk.ts';
import { StoreFailure } from '../../platform/store/failure.ts';
import { guardDriver } from './guard-driver.ts';
import { adaptDatabase, openSqliteDatabase } from './sqlite.ts';
import { openWriteTurns } from './write-turns.ts';

export interface SqliteStoreSettings {
  /** The database file, absolute. */
  readonly path: string;
  /** Make the file when it is missing; else it must be there. */
  readonly create?: boolean;
  /** How long a statement waits for another process's transaction, in milliseconds; no thread is blocked. */
  readonly patience_ms?: number;
}

/**
 * State that many processes change, in a file. What is committed is on the disk (`synchronous = FULL`); a
 * transaction takes the right to write when it begins, so that what it has read stays true until it ends.
 * Waiting is done between tries and not within SQLite, whose calls hold the whole process up.
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

/** Opens the file with the first question, and gives a query builder over it; `destroy()` closes it. */
async function open<Tables>(settings: SqliteStoreSettings): Promise<Kysely<Tables>> {
  const { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } = await import('kysely');
  const dialect: Dialect = {
    createDriver: () => guardDriver(driverOf(settings), (error) => failureOf(error, dirname(settings.path))),
    // All changes of tables are one transaction, so that a killed process leaves none of them half done. The turns are ours.
    createAdapter: () =>
      Object.defineProperties(new SqliteAdapter(), {
        supportsTransactionalDdl: { value: true },
        supportsMultipleConnections: { value: true },
      }),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => compilerWithoutRowLocks(SqliteQueryCompiler),
  };
  return new Kysely<Tables>({ dialect });
}

const ROW_LOCKS = ['ForUpdate', 'ForNoKeyUpdate', 'ForShare', 'ForKeyShare', 'NoWait', 'SkipLocked'];

/** `for update` is for databases in which many write at once; here a transaction has all there is. */
function compilerWithoutRowLocks(Base: typeof SqliteQueryCompiler): SqliteQueryCompiler {
  type Visit = (this: SqliteQueryCompiler, node: { modifier?: string }) => void;
  const base = Base.prototype as unknown as { visitSelectModifier: Visit };
  const visitSelectModifier: Visit = function (node) {
    if (!ROW_LOCKS.includes(node.modifier ?? '')) base.visitSelectModifier.call(this, node);
  };
  // The compiler binds its methods when it is made, so that this one has to be there before.
  function Compiler(): void {}
  Compiler.prototype = Object.create(base, { visitSelectModifier: { value: visitSelectModifier } });
  return Reflect.construct(Base, [], Compiler) as SqliteQueryCompiler;
}

/** The file as it is open now. */
interface Handle {
  readonly database: DatabaseSync;
  readonly statements: SqliteDatabase;
  /** Which file it is; its name may come to stand for another. */
  readonly file_id: string | null;
}

function driverOf(settings: SqliteStoreSettings): Driver {
  const patience_ms = settings.patience_ms ?? PATIENCE_MS;
  const turns = openWriteTurns(patience_ms, busy);
  let handle: Handle | null = null;

  /** The handle. A file that lies there now and is another one is not written: the log of the first would be mixed into it. */
  const current = (): Handle => {
    handle ??= openHandle(settings);
    if (handle.file_id !== fileId(settings.path)) throw replaced();
    return handle;
  };
  const execute = (sql: string): void => current().database.exec(sql);
  const connection: DatabaseConnection = {
    executeQuery: async <Row>(query: CompiledQuery) =>
      handle?.database.isTransaction === true
        ? run<Row>(handle.statements, query)
        : patiently(patience_ms, () => run<Row>(current().statements, query)),
    async *streamQuery<Row>(query: CompiledQuery) {
      const rows = current().statements.prepare(query.sql).iterate(query.parameters);
      for (const row of rows) yield { rows: [row as Row] };
    },
  };
  return {
    init: async () => void (await patiently(patience_ms, current)),
    acquireConnection: async () => {
      await turns.take();
      return connection;
    },
    releaseConnection: async () => turns.give(),
    beginTransaction: () => patiently(patience_ms, () => execute('BEGIN IMMEDIATE')),
    commitTransaction: async () => execute('COMMIT'),
    rollbackTransaction: async () => {
      // SQLite has done it already where the disk was full.
      if (handle!.database.isTransaction) handle!.database.exec('ROLLBACK');
    },
    destroy: async () => handle?.database.close(),
  };
}

function openHandle({ path, create = false }: SqliteStoreSettings): Handle {
  const database = openSqliteDatabase({ path: create ? path : existing(path), busy_timeout_ms: 0 });
  try {
    database.exec('PRAGMA synchronous = FULL');
    return { database, statements: adaptDatabase(database), file_id: fileId(path) };
  } catch (error) {
    database.close();
    throw error;
  }
}

function existing(path: string): URL {
  const url = pathToFileURL(path);
  url.searchParams.set('mode', 'rw');
  return url;
}

function fileId(path: string): string | null {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? null : `${stats.dev}:${stats.ino}`;
}

function run<Row>(database: SqliteDatabase, { sql, parameters }: CompiledQuery) {
  const statement = database.prepare(sql);
  if (statement.reader) return { rows: statement.all(parameters) as Row[] };
  const { changes } = statement.run(parameters);
  return { rows: [], numAffectedRows: BigInt(changes) };
}

/** Tries again while another process has the right to write; others of this process go on meanwhile. */
async function patiently<Result>(patience_ms: number, work: () => Result): Promise<Result> {
  const until_ms = performance.now() + patience_ms;
  for (let tries = 1; ; tries++) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() >= until_ms) throw error;
      // Chance keeps processes that met once from meeting again and again.
      await sleep(Math.random() * Math.min(PAUSE_MS_MAX, tries * 2));
    }
  }
}

const SQLITE = { error: 1, busy: 5, locked: 6, corrupt: 11, full: 13, protocol: 15, not_a_database: 26 };

function codeOf(error: unknown): number {
  return ((error as { errcode?: number } | null)?.errcode ?? 0) % 256;
}

function isBusy(error: unknown): boolean {
  return [SQLITE.busy, SQLITE.locked, SQLITE.protocol].includes(codeOf(error));
}

/** What SQLite says without the program being at fault: everything that has to do with the file and its disk. */
const ENVIRONMENT = [3, 7, 8, 9, 10, 14, 22, 23];

function failureOf(error: unknown, folder: string): StoreFailure | null {
  if (error instanceof StoreFailure) return error;
  const code = codeOf(error);
  const system_code = code === 0 ? systemCode(error) : `errcode ${(error as { errcode: number }).errcode}`;
  if (isBusy(error)) return busy();
  const disk = diskProblem(error, folder);
  if (code === SQLITE.full || disk?.what === DISK_FULL) {
    const message = 'The disk of the store is full. Free some space; hooks then work again.';
    return new StoreFailure('store_full', message, system_code);
  }
  if (code === SQLITE.corrupt || code === SQLITE.not_a_database) {
    const message = 'The file of the store is damaged or is none of ours. Put a backup in its place.';
    return new StoreFailure('store_damaged', message, system_code);
  }
  if (code === SQLITE.error && /^no such (table|column): /.test((error as Error).message)) {
    const message = 'The store does not have the tables of this version. Start the service again.';
    return new StoreFailure('store_older', message, system_code);
  }
  if (ENVIRONMENT.includes(code) || (code === 0 && system_code !== null)) {
    const why = disk?.names_cause === true ? `: ${disk.what}` : '';
    const message = `The file of the store cannot be opened, read or written${why}. Check that its folder is there, its rights and its disk.`;
    return new StoreFailure('store_unavailable', message, system_code);
  }
  return null;
}

/** `EACCES` and the like, of the file itself. */
function systemCode(error: unknown): string | null {
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : null;
}

function busy(): StoreFailure {
  return new StoreFailure('store_busy', 'Others hold the store for too long. Try again.');
}

function replaced(): StoreFailure {
  const message =
    'The file of the store was removed or replaced while in use. Restore it; or stop the service, remove the files next to it that end in `-wal` and `-shm`, and start it again.';
  return new StoreFailure('store_unavailable', message);
}
