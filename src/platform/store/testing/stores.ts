/**
 * Runs the same tests ("laws") for every database: each with a store of its own, on SQLite and on a real PostgreSQL.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { openServiceStore } from '../../../server/store.ts';
import type { Migrations, Store, StoreOptions, StoreSettings } from '../index.ts';
import { explainMissingPostgres, type PostgresServer, startPostgres } from './postgres-server.ts';

/** The arguments of a law: an empty store with all tables, which is closed and removed afterwards. */
export interface LawStore {
  readonly kind: Store['kind'];
  readonly settings: StoreSettings;
  readonly store: Store;
  /** Opens another connection to the same data, as another process would. */
  readonly another: (options?: Partial<StoreOptions>) => Promise<Store>;
  /** The PostgreSQL server, which all laws of a file share; `null` on SQLite. */
  readonly server: PostgresServer | null;
}

export type Law = (name: string, work: (at: LawStore, t: TestContext) => Promise<void>) => void;

export interface LawsOptions {
  /** Replaces the program's migrations, for laws about tables of a test's own. */
  readonly migrations?: Migrations;
}

const KINDS = ['sqlite', 'postgres'] as const;

/**
 * Declares the laws of a subject and runs each on both databases. Skips an unavailable database, with the number of
 * laws in the test's name. Asserts and prints how many laws ran.
 */
export function withStores(subject: string, laws: (law: Law) => void, options: LawsOptions = {}): void {
  const declared: Parameters<Law>[] = [];
  laws((...law) => declared.push(law));
  for (const kind of KINDS) {
    const reason = kind === 'postgres' ? explainMissingPostgres() : null;
    const name = `${subject} on ${kind}: ${declared.length} laws`;
    test(name, { skip: reason ?? false }, async (t) => {
      let ran = 0;
      const copied = kind === 'postgres' ? await makeMigratedDatabase(options) : null;
      for (const [law, work] of declared) {
        await t.test(law, async (context) => {
          const home = await makeHome(copied);
          ran += 1;
          await withHome(home, options, (at) => work(at, context));
        });
      }
      t.diagnostic(`laws: ${ran} of ${subject} ran on ${kind}`);
      assert.equal(ran, declared.length);
      assert.ok(ran > 0, 'no law was declared');
    });
  }
}

interface Home {
  readonly settings: StoreSettings;
  readonly server: PostgresServer | null;
  readonly remove: () => void;
}

/** Creates the database that each law copies, because creating all tables takes most of a law's time. */
async function makeMigratedDatabase({ migrations }: LawsOptions): Promise<string> {
  const url = await (await getSharedServer()).makeDatabase();
  const own = migrations === undefined ? {} : { migrations };
  await (await openServiceStore({ kind: 'postgres', url }, { ...own, migrate: true })).close();
  return url;
}

/** @param copied - the URL of the PostgreSQL database to copy; `null` for SQLite */
async function makeHome(copied: string | null): Promise<Home> {
  if (copied !== null) {
    const running = await getSharedServer();
    const settings: StoreSettings = { kind: 'postgres', url: await running.makeDatabase(copied) };
    return { settings, server: running, remove: () => {} };
  }
  const dir = mkdtempSync(join(tmpdir(), 'store-test-'));
  const settings: StoreSettings = { kind: 'sqlite', path: join(dir, 'store.db') };
  return { settings, server: null, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

async function withHome(
  { settings, server, remove }: Home,
  { migrations }: LawsOptions,
  work: (at: LawStore) => Promise<void>,
): Promise<void> {
  const own = migrations === undefined ? {} : { migrations };
  const opened: Store[] = [];
  const open = async (options: Partial<StoreOptions>): Promise<Store> => {
    const store = await openServiceStore(settings, { ...own, ...options });
    opened.push(store);
    return store;
  };
  try {
    const store = await open({ migrate: true });
    await work({ kind: store.kind, settings, store, another: (options = {}) => open(options), server });
  } finally {
    await Promise.all(opened.map((store) => store.close()));
    remove();
  }
}

let started: Promise<PostgresServer> | null = null;
after(async () => (await started?.catch(() => null))?.remove());

/** Returns the server that all tests of a file share; the first call starts it. */
export function getSharedServer(): Promise<PostgresServer> {
  started ??= startPostgres();
  return started;
}
