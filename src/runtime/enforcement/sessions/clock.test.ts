import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openSessionClock } from './clock.ts';

/** One step: time of day, uptime and session time, in milliseconds. */
type Step = readonly [number, number, number];

const ROWS: Readonly<Record<string, readonly Step[]>> = {
  'a clock that runs evenly is shown as it is': [
    [1_000, 0, 1_000],
    [1_010, 10, 1_010],
    [91_010, 90_010, 91_010],
  ],
  'set forward, it is followed at twice the pace until it is caught up with': [
    [1_000, 0, 1_000],
    [501_100, 100, 1_200],
    [701_000, 200_000, 401_000],
    [1_001_000, 500_000, 1_001_000],
    [1_001_010, 500_010, 1_001_010],
  ],
  'set forward and right again, nothing is lost': [
    [1_000, 0, 1_000],
    [90_000_100, 100, 1_200],
    [1_200, 200, 1_200],
    [1_300, 300, 1_300],
  ],
  'set back, it is followed at once': [
    [90_000, 0, 90_000],
    [1_000, 10, 1_000],
    [1_010, 20, 1_010],
  ],
};

for (const [name, steps] of Object.entries(ROWS)) {
  test(`clock of sessions: ${name}`, () => {
    let uptimeMs = 0;
    const timeOf = openSessionClock(() => uptimeMs);
    for (const [nowMs, upMs, shownMs] of steps) {
      uptimeMs = upMs;
      assert.equal(timeOf(nowMs), shownMs);
    }
  });
}

test('clock of sessions: every row ran', () => assert.equal(Object.keys(ROWS).length, 4));
