import type { Dialect, Kysely, PostgresPool, PostgresPoolClient } from 'kysely';
import type { CustomTypesConfig, Pool, PoolConfig } from 'pg';
import { PACKAGE_NAME } from '../../core/names.ts';
import { StoreFailure } from '../../platform/store/failure.ts';
import { guardDriver } from './guard-driver.ts';

export interface PostgresSettings {
  /** `postgres://user:password@host:5432/database?sslmode=verify-full`. */
  readonly url: string;
  /** The maximum duration of a query, in milliseconds. Waiting for a connection or a lock may take half of it. */
  readonly patience_ms?: number;
  /** Extends the maximum duration of a query, in milliseconds, if it is higher. */
  readonly question_ms_max?: number;
  /** The maximum number of connections of this process. */
  readonly connections_max?: number;
}

/** The store in a PostgreSQL server, for services on more than one machine. Loads `pg` only when it is opened. */
export const postgres = {
  name: 'postgres',
  settings: {
    type: 'object',
    required: ['url'],
    properties: {
      url: { type: 'string', description: 'Address of the server, and user.' },
      patience_ms: { type: 'integer', minimum: 100, default: 10_000 },
      question_ms_max: { type: 'integer', minimum: 0, default: 0 },
      connections_max: { type: 'integer', minimum: 1, default: 4 },
    },
  },
  open,
} as const;

const PATIENCE_MS = 10_000;
const CONNECTIONS_MAX = 4;

/**
 * Returns a query builder that connects with the first query and reconnects by itself; `destroy()` closes the
 * connections.
 */
async function open<Tables>(settings: PostgresSettings): Promise<Kysely<Tables>> {
  const pg = await loadPostgres();
  const { Kysely, PostgresAdapter, PostgresDriver, PostgresIntrospector, PostgresQueryCompiler } =
    await import('kysely');
  const dialect: Dialect = {
    createDriver: () =>
      guardDriver(new PostgresDriver({ pool: async () => openPool(pg, settings) }), getFailure),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  };
  return new Kysely<Tables>({ dialect });
}

type Library = typeof import('pg')['default'];

/** @throws StoreFailure `store_driver_missing` */
export async function loadPostgres(): Promise<Library> {
  try {
    return (await import('pg')).default;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new StoreFailure(
      'store_driver_missing',
      '`storage.url` needs the package `pg`, which is not installed. Install it next to this program (`npm install pg`), or remove `storage.url` to use the embedded store.',
    );
  }
}

function openPool(pg: Library, settings: PostgresSettings): PostgresPool {
  const patienceMs = settings.patience_ms ?? PATIENCE_MS;
  const questionMs = Math.max(patienceMs, settings.question_ms_max ?? 0);
  const options: PoolConfig = {
    connectionString: settings.url,
    application_name: PACKAGE_NAME,
    max: settings.connections_max ?? CONNECTIONS_MAX,
    connectionTimeoutMillis: patienceMs / 2,
    // The server's limit is shorter, because its errors are precise. Ours is for a server that no longer responds.
    statement_timeout: questionMs * 0.8,
    query_timeout: questionMs,
    lock_timeout: patienceMs / 2,
    idle_in_transaction_session_timeout: patienceMs * 2,
    keepAlive: true,
    // An unresponsive server does not answer the disconnect either, and must not keep the process alive.
    allowExitOnIdle: true,
    types: createTypeParsers(pg),
  };
  const pool = new pg.Pool(options);
  // An idle connection died; the pool replaces it on demand.
  pool.on('error', () => {});
  return dropBrokenClients(pool, options);
}

/** Parses BIGINT and its sums as numbers, and bytes as `Uint8Array`, as SQLite does. */
function createTypeParsers(pg: Library): CustomTypesConfig {
  const { BYTEA, INT8, NUMERIC } = pg.types.builtins;
  const own: Readonly<Record<number, (text: string) => unknown>> = {
    [INT8]: parseSafeNumber,
    [NUMERIC]: parseSafeNumber,
    [BYTEA]: (text) => Uint8Array.from(pg.types.getTypeParser(BYTEA)(text) as Uint8Array),
  };
  const getTypeParser = (oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && own[oid]) || pg.types.getTypeParser(oid, format as 'text');
  return { getTypeParser } as CustomTypesConfig;
}

function parseSafeNumber(text: string): number {
  const number = Number(text);
  if (Math.abs(number) <= Number.MAX_SAFE_INTEGER) return number;
  throw new RangeError('a number from the store is too large');
}

/** The time that statements have to end when the pool is closed, in milliseconds. */
const CLOSE_MS = 2_000;

/**
 * Wraps the pool, and discards a connection after an error that the statement itself did not cause. Closing the pool
 * cuts connections that are still in use, because a silent server would hold them for the whole limit of a statement.
 */
function dropBrokenClients(pool: Pool, options: PoolConfig): PostgresPool {
  const used = new Set<() => void>();
  const connect = async (): Promise<PostgresPoolClient> => {
    const client = await pool.connect();
    let isBroken = false;
    // The pool handles errors of idle connections only. An unhandled error would end the process.
    const breaks = (): void => {
      isBroken = true;
    };
    client.on('error', breaks);
    const query = async (...words: unknown[]): Promise<unknown> => {
      try {
        return await (client.query as (...words: unknown[]) => Promise<unknown>)(...words);
      } catch (error) {
        isBroken ||= getState(error) === null || getFailure(error)?.code === 'store_unavailable';
        throw error;
      }
    };
    const release = (destroy?: boolean): void => {
      if (!used.delete(cut)) return;
      const isDiscarded = isBroken || destroy === true;
      // The listener stays with a discarded connection, whose end is reported to it.
      if (!isDiscarded) client.off('error', breaks);
      client.release(isDiscarded);
    };
    const cut = (): void => release(true);
    used.add(cut);
    return { query: query as PostgresPoolClient['query'], release };
  };
  const end = async (): Promise<void> => {
    const timer = setTimeout(() => {
      for (const cut of used) cut();
    }, CLOSE_MS);
    await pool.end().finally(() => clearTimeout(timer));
  };
  return { connect, end, options };
}

/** Returns PostgreSQL's five-character error code (SQLSTATE); `null` if the server sent none. */
function getState(error: unknown): string | null {
  const { code, severity } = error as { code?: unknown; severity?: unknown };
  return typeof code === 'string' && typeof severity === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

const CONFLICTS = ['40001', '40P01'];
const NO_TABLES = ['42P01', '42703', '3F000'];
/**
 * Classes of connection, authentication, missing database, read-only standby, resources, operator, system and damage
 * errors.
 */
const ENVIRONMENT = /^(08|28|3D|25006|42501|53|57|58|F0|XX)/;

function getFailure(error: unknown): StoreFailure | null {
  if (error instanceof StoreFailure) return error;
  // An error before a statement was sent is a bug of the program.
  if (error instanceof TypeError || error instanceof RangeError) return null;
  const state = getState(error);
  // All connections of this process were in use for too long. The library has no code for this error.
  if ((error as Error).message === 'timeout exceeded when trying to connect') return buildBusyFailure(null);
  if (state === null) return buildUnreachableFailure((error as NodeJS.ErrnoException).code ?? null);
  if (CONFLICTS.includes(state)) {
    const message = 'Others changed the same rows at the same time, again and again. Try again.';
    return new StoreFailure('store_conflict', message, state);
  }
  if (state === '55P03') return buildBusyFailure(state);
  if (state === '53100') {
    const message = 'The disk of the database is full. Free some space; hooks then work again.';
    return new StoreFailure('store_full', message, state);
  }
  if (NO_TABLES.includes(state)) {
    const message = 'The store does not have the tables of this version. Start the service again.';
    return new StoreFailure('store_older', message, state);
  }
  return ENVIRONMENT.test(state) ? buildRefusedFailure(state) : null;
}

function buildBusyFailure(state: string | null): StoreFailure {
  return new StoreFailure('store_busy', 'Others hold the store for too long. Try again.', state);
}

function buildUnreachableFailure(code: string | null): StoreFailure {
  const message =
    'The database of `storage.url` does not answer. Check that it runs and that its host, port and TLS settings are right.';
  return new StoreFailure('store_unavailable', message, code);
}

const SENTENCES: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'does not let this user in. Check the user and the password of `storage.url`, and `pg_hba.conf`.'],
  [/^3D/, 'has no database of that name. Create it (`createdb`), or fix `storage.url`.'],
  [
    /^42501/,
    'does not let this user make or change its tables. Give the user the right to create in the schema.',
  ],
  [/^25006/, 'only lets its data be read. Name the primary server in `storage.url`.'],
  [/^53300/, 'has no connection left. Raise its `max_connections`, or run fewer workers.'],
];

function buildRefusedFailure(state: string): StoreFailure {
  const known = SENTENCES.find(([states]) => states.test(state));
  const sentence = known?.[1] ?? 'does not answer now. Its log has the reason; the service retries.';
  return new StoreFailure('store_unavailable', `The database of \`storage.url\` ${sentence}`, state);
}
