import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { sqliteStore } from './sqlite-store.ts';

interface Tables {
  things: { id: number; name: string | null };
}

async function open(t: TestContext, patienceMs = 5_000) {
  const dir = mkdtempSync(join(tmpdir(), 'sqlite-store-'));
  const path = join(dir, 'store.db');
  const db = await sqliteStore.open<Tables>({ path, create: true, patience_ms: patienceMs });
  t.after(async () => {
    await db.destroy();
    rmSync(dir, { recursive: true, force: true });
  });
  await db.schema.createTable('things').addColumn('id', 'integer').addColumn('name', 'text').execute();
  return { db, path };
}

test('what is committed is on the disk, and the file is for its owner alone', async (t) => {
  const { db, path } = await open(t);
  const FULL = 2;
  assert.deepEqual((await sql`pragma synchronous`.execute(db)).rows, [{ synchronous: FULL }]);
  assert.deepEqual((await sql`pragma journal_mode`.execute(db)).rows, [{ journal_mode: 'wal' }]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('while another process writes, this one continues with other work, and then has its turn', async (t) => {
  const { db, path } = await open(t);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  let ticks = 0;
  const ticking = setInterval(() => {
    ticks += 1;
    if (ticks === 20) other.exec('COMMIT');
  }, 1);
  const written = db.insertInto('things').values({ id: 1, name: 'a' }).execute();
  assert.deepEqual(await db.selectFrom('things').selectAll().execute(), [{ id: 1, name: 'a' }]);
  await written;
  clearInterval(ticking);
  assert.ok(ticks >= 20);
  other.close();
});

test('a wait for another process or for this one that takes too long is an error', async (t) => {
  const { db, path } = await open(t, 50);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const write = () => db.insertInto('things').values({ id: 1, name: null }).execute();
  await assert.rejects(write(), { name: 'StoreFailure', code: 'store_busy' });
  const begin = db.transaction().execute(async () => {});
  await assert.rejects(begin, { code: 'store_busy' });
  other.exec('ROLLBACK');
  other.close();
  await db.transaction().execute(() => assert.rejects(write(), { code: 'store_busy' }));
  await write();
});

test('a transaction has the right to write from its beginning', async (t) => {
  const { db, path } = await open(t);
  const other = new DatabaseSync(path, { timeout: 0 });
  await db.transaction().execute(async () => {
    assert.throws(() => other.exec('BEGIN IMMEDIATE'), /locked/);
  });
  other.exec('BEGIN IMMEDIATE; ROLLBACK');
  other.close();
});

test('row locks of other databases are passed over, other modifiers are not', async (t) => {
  const { db } = await open(t);
  await db
    .insertInto('things')
    .values([
      { id: 1, name: 'a' },
      { id: 2, name: 'a' },
    ])
    .execute();
  const names = db.selectFrom('things').select('name').distinct();
  assert.deepEqual(await names.execute(), [{ name: 'a' }]);
  const first = db.selectFrom('things').select('id').orderBy('id').limit(1).forUpdate().skipLocked();
  assert.deepEqual(await first.execute(), [{ id: 1 }]);
  const deleted = db.deleteFrom('things').where('id', 'in', first).returning('id');
  assert.deepEqual(await deleted.execute(), [{ id: 1 }]);
});

test('rows come one by one where they are many', async (t) => {
  const { db } = await open(t);
  await db
    .insertInto('things')
    .values([
      { id: 1, name: 'a\0' },
      { id: 2, name: null },
    ])
    .execute();
  const rows: unknown[] = [];
  for await (const row of db.selectFrom('things').selectAll().orderBy('id').stream()) rows.push(row);
  assert.deepEqual(rows, [
    { id: 1, name: 'a\0' },
    { id: 2, name: null },
  ]);
});

test('an SQL error is passed on unchanged', async (t) => {
  const { db } = await open(t);
  await assert.rejects(sql`select from where`.execute(db), (error: Error) => error.name === 'Error');
  await assert.rejects(sql`select 1 from no_such_table`.execute(db), { code: 'store_older' });
});
