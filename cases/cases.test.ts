import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences, runAll } from './run.ts';

const CASES_MIN = 290;

test('every case holds on judge', () => {
  const { count, failures } = runAll();
  assert.deepEqual(failures, []);
  assert.ok(count >= CASES_MIN, `only ${count} cases ran`);
  console.log(`${count} cases held on judge`);
});

test('a case that does not hold is noticed', () => {
  const reply = { decision: 'allow', violations: [{ type: 'pii_detected' }], modified_text: 'secret' };
  const controls = [
    { decision: 'block' },
    { decision: 'allow', violations: [] },
    { decision: 'allow', violations: [{ type: 'secret_detected' }], modified_text: 'secret' },
    { decision: 'allow' },
    { decision: 'allow', modified_text: 'secret', must_not_contain: ['secret'] },
    { decision: 'allow', modified_text: 'other' },
  ] as const;
  for (const expect of controls) assert.notDeepEqual(differences(expect, reply), []);
  assert.equal(controls.length, 6);
});
