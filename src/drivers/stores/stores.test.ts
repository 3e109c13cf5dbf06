import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { takeLock } from './lock.ts';
import { sqlite } from './sqlite.ts';

async function makeDir(t: TestContext): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'stores-'));
  t.after(() => rm(dir, { recursive: true, force: true }));
  return dir;
}

test('a lock has one owner, in one process and across two, until it lets go', async (t) => {
  const path = join(await makeDir(t), 'lock');
  const first = takeLock(path);
  assert.notEqual(first, null);
  assert.equal(takeLock(path), null);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  first!.release();
  takeLock(path)!.release();
});

test('a lock is free again when its owner is killed', async (t) => {
  const path = join(await makeDir(t), 'lock');
  const moduleUrl = new URL('./lock.ts', import.meta.url).href;
  const program = `const { takeLock } = await import(${JSON.stringify(moduleUrl)});
    console.log(takeLock(${JSON.stringify(path)}) !== null); setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [stated] = await once(child.stdout, 'data');
  assert.equal(String(stated), 'true\n');
  assert.equal(takeLock(path), null);
  child.kill('SIGKILL');
  await once(child, 'close');
  takeLock(path)!.release();
});

interface Tables {
  things: { id: number; name: string | null };
}

test('sqlite: what one connection commits, another reads; a reader cannot write', async (t) => {
  const path = join(await makeDir(t), 'store.db');
  const writer = await sqlite.open<Tables>({ path });
  await writer.schema.createTable('things').addColumn('id', 'integer').addColumn('name', 'text').execute();
  const reader = await sqlite.open<Tables>({ path, read_only: true });
  const result = await writer
    .insertInto('things')
    .values([
      { id: 1, name: 'a' },
      { id: 2, name: null },
    ])
    .executeTakeFirst();
  assert.equal(result.numInsertedOrUpdatedRows, 2n);
  const rollback = writer.transaction().execute(async (transaction) => {
    await transaction.insertInto('things').values({ id: 3, name: 'c' }).execute();
    throw new Error('taken back');
  });
  await assert.rejects(rollback, /taken back/);
  assert.deepEqual(
    (await reader.selectFrom('things').selectAll().orderBy('id').execute()).map((row) => ({ ...row })),
    [
      { id: 1, name: 'a' },
      { id: 2, name: null },
    ],
  );
  const streamed: number[] = [];
  for await (const { id } of reader.selectFrom('things').select('id').orderBy('id').stream())
    streamed.push(id);
  assert.deepEqual(streamed, [1, 2]);
  await assert.rejects(
    reader.insertInto('things').values({ id: 4, name: null }).execute(),
    /readonly|read-only/i,
  );
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  await reader.destroy();
  await writer.destroy();
});

test('sqlite: more statements than are kept prepared still answer', async (t) => {
  const store = await sqlite.open<Tables>({ path: join(await makeDir(t), 'store.db') });
  await store.schema.createTable('things').addColumn('id', 'integer').addColumn('name', 'text').execute();
  for (let count = 1; count <= 100; count++) {
    const ids = Array.from({ length: count }, (_, id) => id);
    assert.deepEqual(await store.selectFrom('things').select('id').where('id', 'in', ids).execute(), []);
  }
  await store.destroy();
});
