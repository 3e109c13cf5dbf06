import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../decision/judge.ts';
import { buildTestCrossing, buildTestPolicy } from '../testing/policies.ts';
import type { Finding, Policy, Verdict } from '../types/index.ts';
import { type JudgedText, mergeClassified, mergeContents, mergeVerdicts } from './merge-verdicts.ts';

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

function judgeText(text: string, policy: Policy): JudgedText {
  const content = { kind: 'text', text } as const;
  return { text, verdict: judge(buildTestCrossing({ boundary: 'output', content }), policy) };
}

/**
 * Removes the source. The texts are judged one by one, so only the whole has a source that they were read from.
 */
function omitSource(content: Verdict['content']): unknown {
  return content?.kind === 'json' ? { kind: content.kind, value: content.value } : content;
}

test('texts judged one by one have the same verdict as together', () => {
  let ran = 0;
  for (const policy of POLICIES) {
    for (const first of TEXTS) {
      for (const second of TEXTS) {
        const texts = [judgeText(first, policy), judgeText(second, policy)];
        const content = mergeContents(texts);
        const whole = judge(buildTestCrossing({ boundary: 'output', content }), policy);
        const merged = mergeVerdicts(texts);
        const place = `${JSON.stringify([first.length, second.length])} ${policy.hash}`;
        assert.deepEqual(omitSource(merged.content), omitSource(whole.content), `content ${place}`);
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
  const one = judgeText(TEXTS[1]!, policy);
  assert.equal(mergeVerdicts([one]), one.verdict);
  assert.deepEqual(mergeContents([one]), { kind: 'text', text: one.text });
});

const CLASSIFIED: Finding = {
  rule_id: 'classifier.scorer.insult',
  detector: 'classifier',
  type: 'content_detected',
  severity: 'high',
  tags: ['content.insult'],
  ...{ leaf: 0, start: 0, end: 3, path: null },
  source: 'classifier',
};

test('what a classifier finds in a streamed text has the effects that it has in a whole one, and never masks', () => {
  const blocks = { name: 'no', boundary: 'output', data_tags: ['content.insult'], action: 'block' };
  const rows: readonly (readonly [rule: object, action: string])[] = [
    [blocks, 'block'],
    [{ ...blocks, action: 'redact' }, 'block'],
    [{ ...blocks, action: 'flag' }, 'flag'],
    [{ ...blocks, enforcement: 'monitor' }, 'flag'],
  ];
  let ran = 0;
  for (const [rule, action] of rows) {
    for (const text of TEXTS.slice(0, 3)) {
      const policy = buildTestPolicy({
        rules: [
          rule,
          { name: 'try', boundary: 'output', data_tags: ['secret'], action: 'block', enforcement: 'monitor' },
          { name: 'mark', boundary: 'output', data_tags: ['content.insult'], session: { add: ['rude'] } },
          { name: 'asks', boundary: 'action', action: 'block', condition: { session_tags: ['rude'] } },
        ],
      });
      const classification = { findings: [CLASSIFIED], coverage: { status: 'full' }, failed: [] } as const;
      const content = { kind: 'text', text } as const;
      const whole = judge(buildTestCrossing({ boundary: 'output', content, classification }), policy);
      const { verdict } = judgeText(text, policy);
      const merged = mergeClassified(verdict, whole);
      const place = `${JSON.stringify(rule)} ${text.length}`;
      assert.equal(
        merged.action,
        verdict.action === 'redact' && action === 'flag' ? 'redact' : action,
        place,
      );
      for (const field of ['data_tags', 'monitored', 'enforced_result'] as const)
        assert.deepEqual(merged[field], whole[field], `${field} ${place}`);
      assert.deepEqual(merged.taint_change, action === 'block' ? null : whole.taint_change, place);
      assert.equal(merged.findings.length, verdict.findings.length + 1, place);
      assert.deepEqual(merged.content, action === 'block' ? null : verdict.content, place);
      ran += 1;
    }
  }
  assert.equal(ran, 12);
});
