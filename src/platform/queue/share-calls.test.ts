import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shareCalls } from './share-calls.ts';

test('calls of one turn share a later run', async () => {
  let written = 0;
  let runs = 0;
  const read = shareCalls(async () => {
    runs += 1;
    return written;
  });
  const calls = [read(), Promise.resolve().then(read)];
  written = 1;
  calls.push(read());
  assert.deepEqual([await Promise.all(calls), runs], [[1, 1, 1], 1]);
});

test('a call during a run begins another one', async () => {
  let runs = 0;
  const inner: Promise<number>[] = [];
  const read = shareCalls(async () => {
    runs += 1;
    if (runs === 1) inner.push(read());
    return runs;
  });
  assert.equal(await read(), 1);
  assert.deepEqual([await inner[0], runs], [2, 2]);
});

test('a failed run fails its callers alone', async () => {
  let runs = 0;
  const read = shareCalls(async () => {
    runs += 1;
    if (runs === 1) throw new Error('broken');
    return runs;
  });
  const both = await Promise.allSettled([read(), read()]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.equal(await read(), 2);
});
