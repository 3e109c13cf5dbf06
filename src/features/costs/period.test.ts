import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePeriod } from './period.ts';

const NOW = Date.UTC(2026, 2, 1, 0, 30);
/** The written period, then its name and days; `null` if it is not a period. */
const ROWS: readonly (readonly [string, string | null])[] = [
  ['last_30d', 'last_30d 2026-01-31 2026-03-01'],
  ['30d', 'last_30d 2026-01-31 2026-03-01'],
  ['last_1d', 'last_1d 2026-03-01 2026-03-01'],
  ['2w', 'last_2w 2026-02-16 2026-03-01'],
  ['today', 'today 2026-03-01 2026-03-01'],
  ['this_month', 'this_month 2026-03-01 2026-03-01'],
  ['all', 'all 1970-01-01 2026-03-01'],
  ['2026-02-01', '2026-02-01/2026-03-01 2026-02-01 2026-03-01'],
  ['2026-02-01/2026-02-28', '2026-02-01/2026-02-28 2026-02-01 2026-02-28'],
  ['2026-02-01/2026-02-31', null],
  ['2026-02-28/2026-02-01', null],
  ['2026-04-01', null],
  ['2026-02-01/2026-02-02/2026-02-03', null],
  ['0d', null],
  ['24h', null],
  ['last_99999d', null],
  ['yesterday', null],
  ['', null],
];

test('periods', () => {
  for (const [written, expected] of ROWS) {
    const period = parsePeriod(written, NOW);
    assert.equal(period && `${period.name} ${period.since} ${period.until}`, expected, written);
  }
  assert.equal(ROWS.length, 18);
});
