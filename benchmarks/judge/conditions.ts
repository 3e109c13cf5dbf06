/**
 * Measures the cost of a condition on an argument in `judge`, next to the same rule with a condition on a fact and to
 * one without a condition, in process and on one thread. Then the condition's evaluation alone, because the call's scan
 * takes most of the time.
 * `node benchmarks/judge/conditions.ts`
 */
import assert from 'node:assert/strict';
import { judge } from '../../src/core/decision/judge.ts';
import { parseJsonContent } from '../../src/core/json/source.ts';
import { celEvaluator } from '../../src/core/policy/conditions/cel.ts';
import { buildConditionFacts } from '../../src/core/policy/conditions/facts.ts';
import { buildTestCrossing, buildTestPolicy, POLICY_SETTINGS } from '../../src/core/testing/policies.ts';
import { median, spread } from '../measure.ts';

const ROUNDS = 15;
const CALLS = 4_000;

const content = parseJsonContent(
  '{"order":"A-1001","amount":250,"to":["ann@corp.example","bob@corp.example"]}',
  POLICY_SETTINGS.limits,
);
const crossing = buildTestCrossing({ boundary: 'action', phase: 'request', tool: 'issue_refund', content });

const CONDITIONS = {
  'no condition': null,
  'a fact': 'findings > 1000',
  'an argument': 'args.amount > 1000',
  'a loop over two items': 'args.to.exists(each, !each.endsWith("@corp.example"))',
} as const;

function buildRule(when: string | null) {
  const condition = { tools: [when === null ? 'other' : 'issue_refund'], ...(when !== null && { when }) };
  return { name: 'rule', boundary: 'action', action: 'block', condition };
}

const known = { data_tags: () => [], findings_count: 0, is_undeclared: false, content };
const facts = buildConditionFacts(crossing, known, null, '');
const subjects = Object.entries(CONDITIONS).map(([name, when]) => {
  const policy = buildTestPolicy({ rules: [buildRule(when)] });
  assert.equal(judge(crossing, policy, null, celEvaluator).decision, 'allow');
  const work = {
    judge: () => judge(crossing, policy, null, celEvaluator),
    condition: () => when !== null && celEvaluator.evaluate(when, facts),
  };
  return { name, work, us: { judge: [] as number[], condition: [] as number[] } };
});

function measure(work: () => unknown, calls: number): number {
  const beganMs = performance.now();
  for (let at = 0; at < calls; at += 1) work();
  return ((performance.now() - beganMs) * 1_000) / calls;
}

for (let round = 0; round < ROUNDS + 2; round += 1)
  for (const { work, us } of subjects)
    for (const part of ['judge', 'condition'] as const) {
      const took = measure(work[part], part === 'judge' ? CALLS : 10 * CALLS);
      if (round >= 2) us[part].push(took);
    }

const fact = subjects.find(({ name }) => name === 'a fact')!.us;
console.log(`node ${process.version}, ${ROUNDS} interleaved rounds, us a call: median (lowest to highest)`);
for (const part of ['judge', 'condition'] as const)
  for (const { name, us } of subjects) {
    const ratio = (median(us[part]) / median(fact[part])).toFixed(2);
    const more = (Math.min(...us[part]) - Math.min(...fact[part])).toFixed(2);
    console.log(
      `${part.padEnd(10)} ${name.padEnd(22)} ${spread(us[part])}  ${ratio} of a fact, lowest ${more} us more`,
    );
  }
