import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreFailure } from './failure.ts';
import { startMaintenance } from './maintenance.ts';

const SOON_MS = 1;

/** Waits until the list has this many entries. */
async function waitForLength(list: readonly unknown[], length: number): Promise<void> {
  while (list.length < length) await new Promise((resolve) => setTimeout(resolve, 1));
}

test('a job is done again and again, in batches while there is more', async () => {
  const left = [3, 2, 1, 0, 0];
  const done: number[] = [];
  const job = {
    name: 'count',
    every_ms: SOON_MS,
    run: async () => {
      const [next = 0] = left.splice(0, 1);
      done.push(next);
      return next > 0;
    },
  };
  const housekeeping = startMaintenance([job], { error: () => assert.fail() });
  await waitForLength(done, 5);
  await housekeeping.close();
  assert.deepEqual(done.slice(0, 5), [3, 2, 1, 0, 0]);
});

test('jobs never run at the same time', async () => {
  const began: string[] = [];
  let running = 0;
  const job = (name: string) => ({
    name,
    every_ms: SOON_MS,
    run: async () => {
      began.push(name);
      running += 1;
      assert.equal(running, 1);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running -= 1;
      return false;
    },
  });
  const report: unknown[] = [];
  const housekeeping = startMaintenance([job('a'), job('b')], { error: (...line) => report.push(line) });
  await waitForLength(began, 6);
  await housekeeping.close();
  assert.deepEqual(report, []);
  assert.deepEqual(new Set(began), new Set(['a', 'b']));
});

test('a failed job is reported and tried again, and delays no other', async () => {
  const report: unknown[] = [];
  const done: string[] = [];
  const failing = {
    name: 'fails',
    every_ms: SOON_MS,
    run: (): Promise<boolean> => {
      throw new StoreFailure('store_unavailable', 'It is gone.', '57P01');
    },
  };
  const working = { name: 'works', every_ms: SOON_MS, run: async () => done.push('x') < 0 };
  const housekeeping = startMaintenance([failing, working], { error: (...line) => report.push(line) });
  await waitForLength(report, 2);
  await waitForLength(done, 2);
  await housekeeping.close();
  assert.deepEqual(report[0], [
    'a maintenance job failed and will be tried again',
    { job: 'fails', code: 'store_unavailable', system_code: '57P01', reason: 'It is gone.' },
  ]);
});

test('closing waits for what was begun, and begins nothing more', async () => {
  const done: string[] = [];
  const gate = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const slow = {
    name: 'slow',
    every_ms: SOON_MS,
    run: async () => {
      entered.resolve();
      await gate.promise;
      done.push('slow');
      return true;
    },
  };
  const housekeeping = startMaintenance([slow], { error: () => assert.fail() });
  await entered.promise;
  const closing = housekeeping.close();
  gate.resolve();
  await closing;
  await new Promise((resolve) => setTimeout(resolve, 120));
  assert.deepEqual(done, ['slow']);
});

test('a job of another node is left to it, and one of each node is not', async () => {
  const done: string[] = [];
  const asked: string[] = [];
  const job = (name: string, more: object = {}) => ({
    name,
    every_ms: SOON_MS,
    run: async () => {
      done.push(name);
      return false;
    },
    ...more,
  });
  const jobs = [job('own'), job('other'), job('each', { runs_on_each_node: true })];
  const housekeeping = startMaintenance(jobs, { error: () => assert.fail() }, async (name) => {
    asked.push(name);
    return name === 'own';
  });
  await waitForLength(done, 6);
  await waitForLength(asked, 4);
  await housekeeping.close();
  assert.deepEqual(new Set(done), new Set(['own', 'each']));
  assert.deepEqual(new Set(asked), new Set(['own', 'other']));
});
