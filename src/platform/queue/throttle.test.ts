import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { openThrottle } from './throttle.ts';

/** Makes clocks that a test advances by the duration and the CPU time of a piece of work. */
function createClocks() {
  const at = { now_ms: 1_000, cpu_ms: 50 };
  const work = (tookMs: number, usedMs: number): void => {
    at.now_ms += tookMs;
    at.cpu_ms += usedMs;
  };
  return { work, now_ms: () => at.now_ms, cpu_ms: () => at.cpu_ms };
}

/** Returns whether a promise settles within a few turns of the event loop. */
async function endsAtOnce(rest: Promise<void>): Promise<boolean> {
  let ended = false;
  void rest.then(() => {
    ended = true;
  });
  for (let turn = 0; turn < 5; turn++) await nextTurn();
  return ended;
}

test('work pauses only when other work used the processor', async () => {
  const cases = [
    { name: 'it had the processor throughout', took_ms: 9, used_ms: 9, rests: false },
    { name: 'it waited for a file for a moment', took_ms: 9.8, used_ms: 9, rests: false },
    { name: 'the clocks do not fit together', took_ms: 9, used_ms: 9.5, rests: false },
    { name: 'it shared the processor', took_ms: 5_000, used_ms: 9, rests: true },
  ];
  for (const { name, took_ms, used_ms, rests } of expectRows(4, cases)) {
    const time = createClocks();
    const pace = openThrottle(time);
    const next = pace.begin();
    time.work(took_ms, used_ms);
    const resting = next();
    assert.equal(await endsAtOnce(resting), !rests, name);
    await pace.hurry(() => resting);
    time.work(3, 3);
    assert.equal(await endsAtOnce(next()), true, `${name}: the next piece is measured by itself`);
  }
});

test('no work pauses while a caller waits, and paused work continues', async () => {
  const time = createClocks();
  const pace = openThrottle(time);
  const next = pace.begin();
  time.work(60_000, 1);
  const resting = next();
  const { promise: waits, resolve: served } = Promise.withResolvers<void>();
  const waiting = pace.hurry(() => waits);
  assert.equal(await endsAtOnce(resting), true);
  time.work(60_000, 1);
  assert.equal(await endsAtOnce(next()), true);
  await assert.rejects(pace.hurry(() => Promise.reject(new Error('failed'))));
  time.work(60_000, 1);
  assert.equal(await endsAtOnce(next()), true, 'another still waits');
  served();
  await waiting;
  time.work(60_000, 1);
  const again = next();
  assert.equal(await endsAtOnce(again), false);
  await pace.hurry(() => again);
});
