import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getSummary, judgeOutcomes, type Outcome } from './outcome.ts';

const fine: Outcome = {
  name: 'fine',
  ok: true,
  duration_ms: 10,
  output: '',
  counts: { tests: 2, passed: 2, failed: 0, cancelled: 0, skipped: 0, todo: 0 },
  skipped: [],
};
const failed: Outcome = {
  ...fine,
  name: 'failed',
  ok: false,
  counts: { ...fine.counts, passed: 1, failed: 1 },
};
const empty: Outcome = { ...fine, name: 'empty', counts: { ...fine.counts, tests: 0, passed: 0 } };
const skipped: Outcome = {
  ...fine,
  name: 'skipped',
  counts: { ...fine.counts, passed: 1, skipped: 1 },
  skipped: ['one: no component'],
};

const cases: readonly [string, readonly Outcome[], boolean, boolean][] = [
  ['all well', [fine, fine], true, true],
  ['one failed', [fine, failed], false, false],
  ['nothing ran', [fine, empty], false, false],
  ['a skip on a desk', [fine, skipped], false, true],
  ['a skip in CI', [fine, skipped], true, false],
];

test('what counts as passed', () => {
  for (const [name, outcomes, inCi, ok] of cases) assert.equal(judgeOutcomes(outcomes, inCi).ok, ok, name);
});

test('the summary ends in the totals that CI reads, and names what was skipped', () => {
  const lines = getSummary([fine, failed, skipped], 1234).split('\n');
  assert.ok(lines.includes('# tests 6'));
  assert.ok(lines.includes('# pass 4'));
  assert.ok(lines.includes('# fail 1'));
  assert.ok(lines.includes('# skipped 1'));
  assert.ok(lines.includes('skipped: one: no component'));
});
