import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreFailure } from './failure.ts';
import { openLazyStore } from './lazy.ts';
import type { Store } from './open.ts';

/** Makes a log that keeps its lines. */
function createKeptLog() {
  const lines: string[] = [];
  const keep =
    (level: string) =>
    (message: string, fields: object = {}): void =>
      void lines.push(`${level}: ${message} ${JSON.stringify(fields)}`);
  return { lines, log: { error: keep('error'), info: keep('info') } };
}

const fault = new StoreFailure('store_unavailable', 'It is gone.', 'ECONNREFUSED');

test('it is opened once, by the first that asks, and again only where that failed', async () => {
  const { log, lines } = createKeptLog();
  let openings = 0;
  const store = { isThere: async () => true, close: async () => {} } as Store;
  const lazy = openLazyStore(async () => {
    openings += 1;
    if (openings < 3) throw fault;
    return store;
  }, log);
  assert.equal(openings, 0);
  await assert.rejects(lazy.open(), fault);
  assert.equal(await lazy.isThere(), false);
  assert.equal(await lazy.isThere(), true);
  assert.deepEqual(await Promise.all([lazy.open(), lazy.open()]), [store, store]);
  assert.equal(openings, 3);
  assert.deepEqual(lines, [
    'error: the store cannot be opened, and what needs it is refused {"code":"store_unavailable","system_code":"ECONNREFUSED","reason":"It is gone."}',
    'error: the store does not answer, and what needs it is refused {}',
    'info: the store answers again {}',
  ]);
});

test('an outage and its end are reported once each', async () => {
  const { log, lines } = createKeptLog();
  const answers = [true, false, false, true, true];
  const store = { isThere: async () => answers.shift()!, close: async () => {} } as Store;
  const lazy = openLazyStore(async () => store, log);
  for (const expected of [...answers]) assert.equal(await lazy.isThere(), expected);
  assert.deepEqual(
    lines.map((line) => line.split(':')[0]),
    ['error', 'info'],
  );
});

test('closed, it is opened no more', async () => {
  const { log } = createKeptLog();
  const closed: string[] = [];
  const store = { isThere: async () => true, close: async () => void closed.push('closed') } as Store;
  const lazy = openLazyStore(async () => store, log);
  await lazy.open();
  await lazy.close();
  assert.deepEqual(closed, ['closed']);
  await assert.rejects(lazy.open(), { code: 'store_closed' });
  assert.equal(await lazy.isThere(), false);
  const never = openLazyStore(() => assert.fail('nobody asked for it'), log);
  await never.close();
});
