import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTree } from '../tidy/tree.ts';
import { countMatches, groupFolder, listFeatureUses } from './figures.ts';

test('figures name the files that a feature is spread over', () => {
  const { sources } = parseTree([
    { path: 'src/features/costs/a.ts', text: "import './b.ts';\nimport '../memory/a.ts';" },
    { path: 'src/features/costs/b.ts', text: 'export const b = 1;' },
    { path: 'src/features/memory/a.ts', text: 'export const a = 1;' },
    { path: 'src/server/jobs.ts', text: "const open = () => import('../features/costs/a.ts');" },
  ]);
  assert.deepEqual(
    [...listFeatureUses(sources)],
    [
      ['costs', ['src/server/jobs.ts']],
      ['memory', ['src/features/costs/a.ts']],
    ],
  );
  assert.equal(countMatches(sources, /import/g), 3);
});

test('figures group folders as the budget does', () => {
  const paths = ['src/runtime/config/a.ts', 'src/runtime/audit/a.ts', 'src/sdk/a.ts', 'src/core/a.ts'];
  assert.deepEqual(paths.map(groupFolder), [
    'runtime/config',
    'runtime, the rest',
    'gateways + coding-agents + sdk',
    'core',
  ]);
});
