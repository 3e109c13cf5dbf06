import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openModelResolver } from './model-resolver.ts';

const behind = openModelResolver({
  providers: [{ name: 'openai' }],
  models: { fast: [{ model: 'gpt-4o-mini' }, { model: 'claude-haiku-4-5' }], slow: [{ model: 'o3' }] },
  fallbacks: [
    { model: 'gpt-*', to: ['slow', 'gpt-4o'] },
    { model: 'fast', to: ['openai/gpt-4.1'] },
  ],
});

const ROWS: readonly (readonly [string | null, readonly string[]])[] = [
  [null, []],
  ['o3', ['o3']],
  ['slow', ['o3']],
  ['fast', ['gpt-4o-mini', 'claude-haiku-4-5', 'gpt-4.1']],
  ['openai/o1', ['o1']],
  ['other/o1', ['other/o1']],
  ['gpt-4o', ['gpt-4o', 'o3']],
  ['constructor', ['constructor']],
];

test('the models that a call may go to', () => {
  for (const [model, expected] of ROWS) assert.deepEqual(behind(model), expected, String(model));
  assert.equal(ROWS.length, 8);
});
