import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import { StoreFailure } from './failure.ts';
import { applyMigrations, checkMigrations } from './migrate.ts';
import type { Migrations } from './migrations.ts';
import type { StoreSettings } from './settings.ts';
import type { StoreTables } from './tables.ts';

/** The persistent state of the service, except its journal. All its errors are `StoreFailure`. */
export interface Store {
  readonly kind: StoreSettings['kind'];
  /** Runs single statements, mostly reads. Inside a transaction use `trx` instead. */
  readonly db: Kysely<StoreTables>;
  /**
   * Runs `work` in one transaction, and resolves when it is durable. SQLite allows no other writer meanwhile. On
   * PostgreSQL, read a row that a decision depends on with `forUpdate()` (which SQLite ignores), or change it with a
   * statement that states its expected value. After a conflict `work` runs again from its beginning, so it must change
   * only the store.
   */
  readonly transaction: <Result>(work: (trx: Transaction<StoreTables>) => Promise<Result>) => Promise<Result>;
  /** Returns whether the store responds now. Never rejects. */
  readonly isThere: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Opens a connection to the database that the settings name. */
export type ConnectStore = (
  settings: StoreSettings,
  more?: { readonly create?: boolean; readonly question_ms_max?: number },
) => Promise<Kysely<StoreTables>>;

export interface StoreOptions {
  /** Creates the store if it is missing, and applies migrations first: for the parent, at its start. */
  readonly migrate?: boolean;
  readonly migrations: Migrations;
  readonly connect: ConnectStore;
  /** The maximum duration of one transaction before it is rolled back, in milliseconds. Default 30,000. */
  readonly transaction_ms_max?: number;
}

/**
 * Opens the store of one process.
 *
 * @throws StoreFailure `store_newer` if a later version has changed the tables, `store_unreleased` if a development
 * version has made them, `store_older` if the tables are not migrated and `migrate` is not set, or the failure of the
 * database itself
 */
export async function openStore(settings: StoreSettings, options: StoreOptions): Promise<Store> {
  const { migrate = false, migrations, connect } = options;
  if (migrate) {
    const own = await connect(settings, { create: true, question_ms_max: MIGRATION_MS_MAX });
    await applyMigrations(own, settings.kind, migrations).finally(() => own.destroy());
  }
  const db = await connect(settings);
  try {
    await checkMigrations(db, settings.kind, migrations);
    return createStore(db, settings.kind, options.transaction_ms_max ?? TRANSACTION_MS_MAX);
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/** A migration may have to scan a whole table. No decision waits for it. */
const MIGRATION_MS_MAX = 600_000;
const TRANSACTION_MS_MAX = 30_000;

/** Marks code inside a transaction, which must not request another connection: it would deadlock with itself. */
const inside = new AsyncLocalStorage<{ readonly db: unknown; is_over: boolean }>();

function createStore(db: Kysely<StoreTables>, kind: Store['kind'], transactionMsMax: number): Store {
  let closed: Promise<void> | null = null;
  const attempt: Store['transaction'] = async (work) => {
    const around = { db, is_over: false };
    // Our row locks rely on this isolation level, so the server's default must not change it.
    const builder =
      kind === 'postgres' ? db.transaction().setIsolationLevel('read committed') : db.transaction();
    try {
      return await builder.execute((trx) =>
        limitTime(transactionMsMax, () => inside.run(around, () => work(trx))),
      );
    } finally {
      around.is_over = true;
    }
  };
  const opened = (): Kysely<StoreTables> => {
    if (closed !== null)
      throw new StoreFailure('store_closed', 'The store is closed: the service is stopping.');
    const around = inside.getStore();
    if (around?.db === db && !around.is_over)
      throw new Error('within a transaction its own `trx` is to be used');
    return db;
  };
  return {
    kind,
    get db() {
      return opened();
    },
    transaction: async (work) => {
      opened();
      return retryOnConflict(() => attempt(work));
    },
    isThere: () => isThere(db),
    close: () => {
      closed ??= db.destroy();
      return closed;
    },
  };
}

/** Limits the duration of a transaction, because one that hangs would block all other writers. */
async function limitTime<Result>(msMax: number, work: () => Promise<Result>): Promise<Result> {
  const over = new AbortController();
  const late = sleep(msMax, null, { signal: over.signal }).then(() => {
    throw new StoreFailure(
      'store_busy',
      'A change of the store took too long, and was taken back. Try again.',
    );
  });
  try {
    return await Promise.race([work(), late]);
  } finally {
    over.abort();
  }
}

/** One of two deadlocked transactions is rolled back at random. Even under contention, few fail this many times. */
const TRIES_MAX = 20;
const PAUSE_MS_MAX = 250;

/** Repeats a transaction after a conflict, which has rolled it back. */
async function retryOnConflict<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) || tries === TRIES_MAX) throw error;
      await sleep(Math.random() * Math.min(PAUSE_MS_MAX, 2 ** tries));
    }
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof StoreFailure && error.code === 'store_conflict';
}

const PROBE_MS = 2_000;

/** Probes the store with a small query. A store that takes longer than `PROBE_MS` is too slow for decisions. */
async function isThere(db: Kysely<StoreTables>): Promise<boolean> {
  const late = new AbortController();
  const request = db.selectFrom('store_migrations').select('name').limit(1).execute();
  const answer = request.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answer, sleep(PROBE_MS, false, { signal: late.signal })]);
  } finally {
    late.abort();
  }
}
