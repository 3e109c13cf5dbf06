import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kysely, Transaction } from 'kysely';
import { StoreFailure } from './failure.ts';
import type { Migrations } from './migrations.ts';
import type { StoreSettings } from './settings.ts';
import type { StoreTables } from './tables.ts';

/** What the service remembers beside its journal. Every failure of it is a `StoreFailure`. */
export interface Store {
  readonly kind: StoreSettings['kind'];
  /** Reads, single statements. Not within a transaction's work: that has `trx`. */
  readonly db: Kysely<StoreTables>;
  /**
   * Does the work in one transaction, and resolves when it is durable. On SQLite nobody else writes meanwhile; on
   * PostgreSQL a row that decides anything is read with `forUpdate()` (which SQLite passes over) or changed by a
   * statement that names what it must be. After a conflict with others the work is done again from its beginning,
   * so that it must change nothing but the store.
   */
  readonly transaction: <Result>(work: (trx: Transaction<StoreTables>) => Promise<Result>) => Promise<Result>;
  /** Whether it answers now. Never rejects. */
  readonly isThere: () => Promise<boolean>;
  readonly close: () => Promise<void>;
}

/** Opens a connection to the database that the settings name. */
export type ConnectStore = (
  settings: StoreSettings,
  more?: { readonly create?: boolean; readonly question_ms_max?: number },
) => Promise<Kysely<StoreTables>>;

export interface StoreOptions {
  /** Bring the tables up to date first, and make the store where there is none: for the parent, at its start. */
  readonly migrate?: boolean;
  readonly migrations: Migrations;
  readonly connect: ConnectStore;
  /** How long the work of one transaction may take before it is taken back. Default 30,000. */
  readonly transaction_ms_max?: number;
}

/**
 * Opens the store of one process.
 *
 * @throws StoreFailure `store_newer` where a later version has been at work, `store_older` where the tables are
 *   not made yet and `migrate` does not ask for it, and what the database itself fails with
 */
export async function openStore(settings: StoreSettings, options: StoreOptions): Promise<Store> {
  const { migrate = false, migrations, connect } = options;
  // The query builder takes longer to load than the rest of a start.
  const { applyMigrations, checkMigrations } = await import('./migrate.ts');
  if (migrate) {
    const own = await connect(settings, { create: true, question_ms_max: MIGRATION_MS_MAX });
    await applyMigrations(own, settings.kind, migrations).finally(() => own.destroy());
  }
  const db = await connect(settings);
  try {
    await checkMigrations(db, settings.kind, migrations);
    return storeOver(db, settings.kind, options.transaction_ms_max ?? TRANSACTION_MS_MAX);
  } catch (error) {
    await db.destroy();
    throw error;
  }
}

/** A change of a table may have to go through all of it; nobody waits for a decision meanwhile. */
const MIGRATION_MS_MAX = 600_000;
const TRANSACTION_MS_MAX = 30_000;

/** A transaction's work must not ask for another connection: it would wait for itself. */
const inside = new AsyncLocalStorage<{ readonly db: unknown; is_over: boolean }>();

function storeOver(db: Kysely<StoreTables>, kind: Store['kind'], transaction_ms_max: number): Store {
  let closed: Promise<void> | null = null;
  const attempt: Store['transaction'] = async (work) => {
    const around = { db, is_over: false };
    // What a server has for a default is its operator's choice; what rows are locked for is ours.
    const builder =
      kind === 'postgres' ? db.transaction().setIsolationLevel('read committed') : db.transaction();
    try {
      return await builder.execute((trx) =>
        inTime(transaction_ms_max, () => inside.run(around, () => work(trx))),
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
      return withoutConflict(() => attempt(work));
    },
    isThere: () => isThere(db),
    close: () => {
      closed ??= db.destroy();
      return closed;
    },
  };
}

/** Work that waits for something that never comes would hold up everybody else who wants to write. */
async function inTime<Result>(ms_max: number, work: () => Promise<Result>): Promise<Result> {
  const over = new AbortController();
  const late = sleep(ms_max, null, { signal: over.signal }).then(() => {
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

/** Of two that wait for each other one gives way, by chance: of a crowd nobody should give way so often. */
const TRIES_MAX = 20;
const PAUSE_MS_MAX = 250;

/** Does again what met others at the same rows; what it had changed has been taken back. */
async function withoutConflict<Result>(attempt: () => Promise<Result>): Promise<Result> {
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

/** One small question; a database that takes longer than this for it is not there for anybody who waits for a decision. */
async function isThere(db: Kysely<StoreTables>): Promise<boolean> {
  const late = new AbortController();
  const asked = db.selectFrom('store_migrations').select('name').limit(1).execute();
  const answer = asked.then(
    () => true,
    () => false,
  );
  try {
    return await Promise.race([answer, sleep(PROBE_MS, false, { signal: late.signal })]);
  } finally {
    late.abort();
  }
}
