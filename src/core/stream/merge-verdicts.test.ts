import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../decision/judge.ts';
import { buildTestCrossing, buildTestPolicy } from '../testing/policies.ts';
import type { Policy, Verdict } from '../types/index.ts';
import { type JudgedText, mergeContents, mergeVerdicts } from './merge-verdicts.ts';

const SECRET = ['AKIA', 'QYLPMN5HHHFPWXYZ'].join('');
const SSN = ['536', '22', '8412'].join('-');
const POLICIES: readonly Policy[] = [
  buildTestPolicy(),
  buildTestPolicy({ rules: [{ name: 'no', boundary: 'output', data_tags: ['secret'], action: 'block' }] }),
  buildTestPolicy({
    rules: [
      { name: 'try', boundary: 'output', data_tags: ['secret'], action: 'block', enforcement: 'monitor' },
      { name: 'ask', boundary: 'output', data_tags: ['personal'], action: 'require_approval' },
    ],
  }),
];
const TEXTS = ['Nothing.', `It is ${SECRET}.`, `SSN ${SSN}`, `${SECRET} and ${SSN}`, ''];

function judged(text: string, policy: Policy): JudgedText {
  const content = { kind: 'text', text } as const;
  return { text, verdict: judge(buildTestCrossing({ boundary: 'output', content }), policy) };
}

/**
 * Removes the source. The texts are judged one by one, so only the whole has a source that they were read from.
 */
function withoutSource(content: Verdict['content']): unknown {
  return content?.kind === 'json' ? { kind: content.kind, value: content.value } : content;
}

test('texts judged one by one have the same verdict as together', () => {
  let ran = 0;
  for (const policy of POLICIES) {
    for (const first of TEXTS) {
      for (const second of TEXTS) {
        const texts = [judged(first, policy), judged(second, policy)];
        const content = mergeContents(texts);
        const whole = judge(buildTestCrossing({ boundary: 'output', content }), policy);
        const merged = mergeVerdicts(texts);
        const place = `${JSON.stringify([first.length, second.length])} ${policy.hash}`;
        assert.deepEqual(withoutSource(merged.content), withoutSource(whole.content), `content ${place}`);
        for (const field of ['decision', 'action', 'rule', 'data_tags', 'coverage'] as const)
          assert.deepEqual(merged[field], whole[field], `${field} ${place}`);
        assert.deepEqual(
          merged.findings.map(({ rule_id, start, leaf, path, action }) => [
            rule_id,
            start,
            leaf,
            path,
            action,
          ]),
          whole.findings.map(({ rule_id, start, leaf, path, action }) => [
            rule_id,
            start,
            leaf,
            path,
            action,
          ]),
          place,
        );
        assert.deepEqual([merged.enforced_result?.action], [whole.enforced_result?.action], place);
        ran += 1;
      }
    }
  }
  assert.equal(ran, 75);
});

test('one text is what it is', () => {
  const [policy] = POLICIES as readonly [Policy];
  const one = judged(TEXTS[1]!, policy);
  assert.equal(mergeVerdicts([one]), one.verdict);
  assert.deepEqual(mergeContents([one]), { kind: 'text', text: one.text });
});
