import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { test } from 'node:test';
import { HEAVIEST, isInRound, type Round, sortHeaviestFirst } from './order.ts';

test('the heaviest files run first, and each pattern has files', () => {
  for (const pattern of HEAVIEST) assert.ok(globSync(pattern).length > 0, pattern);
  const [short, medium, heavy] = ['src/a.test.ts', 'src/a.long.test.ts', 'tests/a.fresh.test.ts'];
  const other = 'cases/cases.test.ts';
  assert.deepEqual(sortHeaviestFirst([short, other, medium, heavy]), [heavy, medium, short, other]);
});

test('nightly and long files run in their rounds alone', () => {
  const rounds: readonly Round[] = ['quick', 'full', 'nightly'];
  const runsIn = (file: string) => rounds.filter((round) => isInRound(file, round));
  assert.deepEqual(runsIn('tests/a.nightly.test.ts'), ['nightly']);
  assert.deepEqual(runsIn('src/a.long.test.ts'), ['full', 'nightly']);
  assert.deepEqual(runsIn('src/a.test.ts'), rounds);
});
