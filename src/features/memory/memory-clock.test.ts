import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openMemoryClock } from './memory-clock.ts';

/** The readings of a clock at each step: `[wall, steady, shown]`, in milliseconds. */
const JUMPS: readonly (readonly [string, number, readonly (readonly [number, number, number])[]])[] = [
  [
    'an even pace is the wall clock',
    0,
    [
      [1_000, 0, 1_000],
      [1_010, 10, 1_010],
      [1_020, 20, 1_020],
    ],
  ],
  [
    'set back, time goes on at the steady pace',
    0,
    [
      [9_000, 0, 9_000],
      [5_000, 100, 9_100],
      [5_500, 600, 9_600],
    ],
  ],
  [
    'set ahead, it follows, and does not come back',
    0,
    [
      [1_000, 0, 1_000],
      [90_000, 10, 90_000],
      [1_020, 20, 90_010],
    ],
  ],
  [
    'a restart begins where the store says',
    50_000,
    [
      [1_000, 0, 50_000],
      [1_500, 500, 50_500],
      [60_000, 510, 60_000],
    ],
  ],
  [
    'many short looks lose no time',
    0,
    [
      [1_000, 0, 1_000],
      [0, 0.6, 1_000],
      [0, 1.2, 1_001],
      [0, 1.8, 1_001],
      [0, 2.4, 1_002],
    ],
  ],
];

test('the clock never goes back', () => {
  let ran = 0;
  for (const [name, latestMs, steps] of JUMPS) {
    let [wall, steady] = steps[0]!;
    const clock = openMemoryClock(
      () => wall,
      () => steady,
      latestMs,
    );
    for (const [wallNow, steadyNow, shown] of steps) {
      [wall, steady] = [wallNow, steadyNow];
      assert.equal(clock.now_ms(), shown, name);
      ran++;
    }
  }
  assert.equal(ran, 17);
});
