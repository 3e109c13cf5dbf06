/** Runs the same tests ("laws") on every kind of audit index: a file, and a database that others may share. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { explainMissingPostgres } from '../../../platform/store/testing/postgres-server.ts';
import { getSharedServer } from '../../../platform/store/testing/stores.ts';
import type { AuditIndex, IndexAddress } from '../audit-index.ts';
import { openIndex } from '../open-index.ts';

/** The indexes of a law. */
export interface LawIndex {
  readonly kind: AuditIndex['dialect']['name'];
  /** Returns the address of the index of a state folder. In a database, all state folders of a law share it. */
  readonly addressOf: (stateDir: string) => IndexAddress;
  /** Opens the index of a state folder, until the law ends. */
  readonly open: (stateDir: string, readOnly?: boolean) => Promise<AuditIndex>;
  /** Removes the index of a state folder. It must be closed. */
  readonly remove: (stateDir: string) => Promise<void>;
}

/** Long enough for the events of tests, whose time is fixed. */
const KEPT_DAYS = 4_000;

/** Declares a law and runs it on both kinds. Without PostgreSQL it is skipped there. */
export function law(name: string, work: (t: TestContext, at: LawIndex) => Promise<void>): void {
  test(`${name} (sqlite)`, (t) => work(t, openFiles(t)));
  test(`${name} (postgres)`, { skip: explainMissingPostgres() ?? false }, async (t) =>
    work(t, await openDatabase(t)),
  );
}

function openFiles(t: TestContext): LawIndex {
  const addressOf = (stateDir: string) => ({ path: join(stateDir, 'index.db') });
  return {
    kind: 'sqlite',
    addressOf,
    open: buildOpen(t, addressOf),
    remove: async (stateDir) => {
      for (const suffix of ['', '-wal', '-shm'])
        await rm(`${addressOf(stateDir).path}${suffix}`, { force: true });
    },
  };
}

/** Opens an empty database for a law. */
export async function openDatabase(t: TestContext): Promise<LawIndex & { readonly url: string }> {
  const server = await getSharedServer();
  const url = await server.makeDatabase();
  const nodes = new Map<string, string>();
  const addressOf = (stateDir: string) => {
    const node = nodes.get(stateDir) ?? `node-${nodes.size + 1}`;
    nodes.set(stateDir, node);
    return { url, node, kept_days: KEPT_DAYS };
  };
  return {
    kind: 'postgres',
    url,
    addressOf,
    open: buildOpen(t, addressOf),
    remove: () => server.run('drop schema public cascade; create schema public', url),
  };
}

function buildOpen(t: TestContext, addressOf: (stateDir: string) => IndexAddress): LawIndex['open'] {
  const opened: AuditIndex[] = [];
  t.after(() => Promise.all(opened.map((index) => index.close())));
  return async (stateDir, readOnly = false) => {
    const index = await openIndex({ ...addressOf(stateDir), read_only: readOnly });
    opened.push(index);
    return index;
  };
}
