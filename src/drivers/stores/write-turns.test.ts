import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWriteTurns } from './write-turns.ts';

const LONG_MS = 60_000;
const late = () => new Error('too late');

test('one at a time, in the order in which they came', async () => {
  const turns = openWriteTurns(LONG_MS, late);
  const order: number[] = [];
  let inside = 0;
  const one = async (number: number): Promise<void> => {
    await turns.take();
    inside += 1;
    assert.equal(inside, 1);
    order.push(number);
    await new Promise((resolve) => setImmediate(resolve));
    inside -= 1;
    turns.give();
  };
  await Promise.all([0, 1, 2, 3, 4].map(one));
  assert.deepEqual(order, [0, 1, 2, 3, 4]);
});

test('a task that waits too long is rejected, and later tasks do not wait for it', async () => {
  const turns = openWriteTurns(1, late);
  await turns.take();
  await assert.rejects(turns.take(), /too late/);
  turns.give();
  await turns.take();
  turns.give();
});
