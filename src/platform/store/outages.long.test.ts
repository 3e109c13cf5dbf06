/** Tests the store while its database fails, and that it recovers without a restart. */
import assert from 'node:assert/strict';
import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openServiceStore } from '../../server/store.ts';
import { type Store, StoreFailure, type StoreSettings } from './index.ts';
import { openBadLine } from './testing/bad-line.ts';
import { migrations, withLawTables } from './testing/law-tables.ts';
import { explainMissingPostgres, startPostgres } from './testing/postgres-server.ts';
import { getSharedServer } from './testing/stores.ts';

const skip = explainMissingPostgres() ?? false;
/** Far shorter than a caller's timeout, and far longer than a query takes. */
const PATIENCE_MS = 1_000;
/** Far longer than any test. */
const HOUR_MS = 3_600_000;

const count = (store: Store) => withLawTables(store.db).selectFrom('counts').select('id').execute();
const write = (store: Store, id: string) =>
  store.transaction((trx) => withLawTables(trx).insertInto('counts').values({ id, amount: 1 }).execute());

async function assertRefuses(store: Store, code: StoreFailure['code']): Promise<void> {
  for (const question of [() => count(store), () => write(store, 'refused')]) {
    await assert.rejects(question(), (error) => {
      assert.ok(error instanceof StoreFailure, `${error}`);
      assert.equal(error.code, code);
      return true;
    });
  }
  assert.equal(await store.isThere(), false);
}

async function assertRecovers(store: Store): Promise<void> {
  for (let tries = 0; tries < 1_200 && !(await store.isThere()); tries++)
    await new Promise((resolve) => setTimeout(resolve, 50));
  await write(store, 'recovered');
  assert.ok((await count(store)).some(({ id }) => id === 'recovered'));
  assert.ok(!(await count(store)).some(({ id }) => id === 'refused'));
}

test('PostgreSQL stops and is started again', { skip }, async (t) => {
  const server = await startPostgres();
  t.after(server.remove);
  const settings: StoreSettings = { kind: 'postgres', url: await server.makeDatabase() };
  const store = await openServiceStore(settings, { migrate: true, migrations });
  t.after(store.close);
  await write(store, 'before');
  await server.stop();
  await assertRefuses(store, 'store_unavailable');
  await assert.rejects(openServiceStore(settings, { migrations }), { code: 'store_unavailable' });
  await server.start();
  await assertRecovers(store);
  assert.equal((await count(store)).length, 2);
});

test('PostgreSQL does not answer any more, or the line to it is cut', { skip }, async (t) => {
  const server = await getSharedServer();
  const line = await openBadLine(await server.makeDatabase());
  t.after(line.close);
  const settings: StoreSettings = { kind: 'postgres', url: line.url, patience_ms: PATIENCE_MS };
  const store = await openServiceStore(settings, { migrate: true, migrations });
  t.after(store.close);
  line.goSilent();
  await assertRefuses(store, 'store_unavailable');
  line.cut();
  await assertRecovers(store);
  const within = store.transaction(async (trx) => {
    await withLawTables(trx).insertInto('counts').values({ id: 'refused', amount: 1 }).execute();
    line.cut();
    await withLawTables(trx).insertInto('counts').values({ id: 'never', amount: 1 }).execute();
  });
  await assert.rejects(within, { code: 'store_unavailable' });
  assert.deepEqual(await count(store), [{ id: 'recovered' }]);
});

test('closing the store ends a statement that PostgreSQL does not answer', { skip }, async (t) => {
  const server = await getSharedServer();
  const line = await openBadLine(await server.makeDatabase());
  t.after(line.close);
  const settings: StoreSettings = { kind: 'postgres', url: line.url, patience_ms: HOUR_MS };
  const store = await openServiceStore(settings, { migrate: true, migrations });
  const sent = Promise.withResolvers<void>();
  const unanswered = store.transaction(async (trx) => {
    await withLawTables(trx).insertInto('counts').values({ id: 'before', amount: 1 }).execute();
    line.goSilent();
    const answer = withLawTables(trx).selectFrom('counts').select('id').execute();
    sent.resolve();
    await answer;
  });
  const refused = assert.rejects(unanswered, { code: 'store_unavailable' });
  await sent.promise;
  await store.close();
  await refused;
});

test('the database is dropped, and another is made in its place', { skip }, async (t) => {
  const server = await getSharedServer();
  const url = await server.makeDatabase();
  const settings: StoreSettings = { kind: 'postgres', url };
  const store = await openServiceStore(settings, { migrate: true, migrations });
  t.after(store.close);
  await server.run(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
  await assertRefuses(store, 'store_unavailable');
  await server.run(`create database ${new URL(url).pathname.slice(1)}`);
  await assertRefuses(store, 'store_older');
  await (await openServiceStore(settings, { migrate: true, migrations })).close();
  await assertRecovers(store);
});

test('two services share a database, each in a schema of its own; one without a schema or UTF-8 is refused', {
  skip,
}, async (t) => {
  const server = await getSharedServer();
  const url = await server.makeDatabase();
  const opened: Store[] = [];
  for (const schema of ['one', 'two']) {
    await server.run(`create schema ${schema}`, url);
    const own: StoreSettings = { kind: 'postgres', url: `${url}?options=-csearch_path%3D${schema}` };
    const store = await openServiceStore(own, { migrate: true, migrations });
    t.after(store.close);
    await write(store, schema);
    opened.push(store);
  }
  assert.deepEqual(await Promise.all(opened.map(count)), [[{ id: 'one' }], [{ id: 'two' }]]);
  await server.run(
    `alter database ${new URL(url).pathname.slice(1)} set default_transaction_isolation to 'repeatable read'`,
  );
  const { sql } = await import('kysely');
  const strict = await openServiceStore(
    { kind: 'postgres', url: `${url}?options=-csearch_path%3Done` },
    { migrations },
  );
  t.after(strict.close);
  const levels = await strict.transaction((trx) => sql`show transaction_isolation`.execute(trx));
  assert.deepEqual(levels.rows, [{ transaction_isolation: 'read committed' }]);
  const nowhere: StoreSettings = { kind: 'postgres', url: `${url}?options=-csearch_path%3Dnone` };
  await assert.rejects(openServiceStore(nowhere, { migrate: true, migrations }), /no schema/);
  const narrow = `${new URL(url).pathname.slice(1)}_narrow`;
  await server.run(`create database ${narrow} encoding 'LATIN1' locale 'C' template template0`);
  const latin: StoreSettings = { kind: 'postgres', url: new URL(`/${narrow}`, url).href };
  await assert.rejects(openServiceStore(latin, { migrate: true, migrations }), /encoding is not UTF8/);
});

function makeFile(t: TestContext): { dir: string; path: string; settings: StoreSettings } {
  const dir = mkdtempSync(join(tmpdir(), 'store-outages-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const path = join(dir, 'store.db');
  return { dir, path, settings: { kind: 'sqlite', path } };
}

test('the file is moved away and back, and another that is put in its place is not touched', async (t) => {
  const { path, settings } = makeFile(t);
  const store = await openServiceStore(settings, { migrate: true, migrations });
  t.after(store.close);
  await write(store, 'before');
  renameSync(path, `${path}.away`);
  await assertRefuses(store, 'store_unavailable');
  renameSync(`${path}.away`, path);
  await assertRecovers(store);

  const other = `${path}.other`;
  const second = await openServiceStore({ kind: 'sqlite', path: other }, { migrate: true, migrations });
  await write(second, 'other');
  await second.close();
  const before = readFileSync(other);
  renameSync(other, path);
  await assertRefuses(store, 'store_unavailable');
  await store.close();
  assert.deepEqual(readFileSync(path), before);
});

test('a file that is removed during a transaction takes nothing of it along', async (t) => {
  const { path, settings } = makeFile(t);
  const store = await openServiceStore(settings, { migrate: true, migrations });
  t.after(store.close);
  const writing = store.transaction(async (trx) => {
    await withLawTables(trx).insertInto('counts').values({ id: 'refused', amount: 1 }).execute();
    renameSync(path, `${path}.away`);
  });
  await assert.rejects(writing, { code: 'store_unavailable' });
  renameSync(`${path}.away`, path);
  await assertRecovers(store);
});

test('the file is removed: nothing is written to the unlinked one, and a start creates a new one', async (t) => {
  const { path, settings } = makeFile(t);
  const store = await openServiceStore(settings, { migrate: true, migrations });
  t.after(store.close);
  await write(store, 'before');
  assert.ok(existsSync(`${path}-wal`));
  rmSync(path);
  await assertRefuses(store, 'store_unavailable');
  await store.close();
  // The write-ahead log of the deleted database remains, and must not be applied to the new one.
  assert.ok(existsSync(`${path}-wal`));
  const next = await openServiceStore(settings, { migrate: true, migrations });
  t.after(next.close);
  assert.deepEqual(await count(next), []);
  await write(next, 'new');
  assert.deepEqual(await count(next), [{ id: 'new' }]);
});

test('a file that is damaged, none of ours or not to be had is refused, and left as it is', async (t) => {
  const { dir, path } = makeFile(t);
  writeFileSync(path, 'this is no database, and long enough to be looked at as one '.repeat(40));
  mkdirSync(join(dir, 'folder'));
  const rows = [
    [path, 'store_damaged'],
    [join(dir, 'folder'), 'store_unavailable'],
    [join(dir, 'no', 'such', 'folder', 'store.db'), 'store_unavailable'],
  ] as const;
  for (const [file, code] of rows) {
    const opening = openServiceStore({ kind: 'sqlite', path: file }, { migrate: true, migrations });
    await assert.rejects(opening, { name: 'StoreFailure', code }, file);
  }
  const missing = openServiceStore({ kind: 'sqlite', path: `${path}.missing` }, { migrations });
  await assert.rejects(missing, { code: 'store_unavailable' });
  assert.ok(!existsSync(`${path}.missing`));
});

interface FilledTable {
  readonly written: number;
  readonly code: string | null;
}

/** Lets a child process write until the disk is full, then frees space. */
async function fill(
  child: ChildProcess,
  settings: StoreSettings,
  makeRoom: () => void,
): Promise<FilledTable[]> {
  child.send?.(settings);
  const readMessage = async (): Promise<FilledTable> => {
    const gone = once(child, 'exit').then(() => assert.fail('the process that writes has ended'));
    return (await Promise.race([once(child, 'message'), gone]))[0] as FilledTable;
  };
  try {
    const full = await readMessage();
    makeRoom();
    child.send?.('room');
    return [full, await readMessage()];
  } finally {
    child.kill('SIGKILL');
  }
}

const program = new URL('./testing/fill.ts', import.meta.url);

test('the disk of the file is full: nothing is half written, and writing continues when there is space', async (t) => {
  const { settings } = makeFile(t);
  const store = await openServiceStore(settings, { migrate: true, migrations });
  t.after(store.close);
  const words = ['--fsize=4000000:', process.execPath, program.pathname];
  const child = spawn('prlimit', words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const makeRoom = () => void spawnSync('prlimit', ['--pid', `${child.pid}`, '--fsize=unlimited:']);
  await checkFilled(await fill(child, settings, makeRoom), store, ['store_full', 'store_unavailable']);
});

test('the disk of PostgreSQL is full: nothing is half written, and writing continues when there is space', {
  skip,
}, async (t) => {
  const server = await startPostgres({ file_bytes_max: 20_000_000 });
  t.after(server.remove);
  const settings: StoreSettings = { kind: 'postgres', url: await server.makeDatabase() };
  const store = await openServiceStore(settings, { migrate: true, migrations });
  t.after(store.close);
  const filled = await fill(fork(program), settings, server.makeRoom);
  await checkFilled(filled, store, ['store_full', 'store_unavailable']);
});

async function checkFilled(
  [full, after]: FilledTable[],
  store: Store,
  codes: readonly string[],
): Promise<void> {
  assert.ok(full!.written > 10, JSON.stringify(full));
  assert.ok(codes.includes(full!.code!), JSON.stringify(full));
  assert.deepEqual(after, { written: full!.written + 1, code: null });
  const values = await withLawTables(store.db).selectFrom('values').select('id').execute();
  const counts = await count(store);
  assert.deepEqual([values.length, counts.length], [after!.written, after!.written]);
}

test('a file at its size limit reports a full disk', async (t) => {
  const { sql } = await import('kysely');
  const { settings } = makeFile(t);
  const store = await openServiceStore(settings, { migrate: true, migrations });
  t.after(store.close);
  await sql`pragma max_page_count = 1`.execute(store.db);
  const row = { id: 'big', amount: 1, note: 'x'.repeat(1_000_000), bytes: null };
  const inserted = store.transaction((trx) => withLawTables(trx).insertInto('values').values(row).execute());
  await assert.rejects(inserted, { code: 'store_full' });
  await sql`pragma max_page_count = 100000`.execute(store.db);
  await assertRecovers(store);
});
