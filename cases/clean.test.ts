/** Ordinary work under every bundled skill is neither blocked nor changed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { own } from '../scripts/quality/own/index.ts';
import { judge } from '../src/core/decision/judge.ts';
import { celEvaluator } from '../src/core/policy/conditions/cel.ts';
import { buildTestCrossing, buildTestPolicy } from '../src/core/testing/policies.ts';
import type { Crossing, Policy } from '../src/core/types/index.ts';
import { openBundledSkills } from '../src/runtime/skills/index.ts';
import { judgeCase, judgeOf, loadCases } from './run.ts';

const ORDINARY = [
  'Summarise the weekly report in five bullet points.',
  'What is the difference between a list and a tuple?',
  'Book a table for four on Friday at seven, please.',
  'Our revenue rose by 4.2 per cent to 1,204,000 EUR in the third quarter.',
  'The invoice 2024-0117 is due on 31 January; the amount is 1,280.50 EUR.',
  'Please transfer the call to the billing department.',
  'The patient should drink enough water and rest for two days.',
  'Our privacy notice explains how long we keep your data and how to have it deleted.',
  'Which cards do you accept, and can I pay in three instalments?',
  'Translate this sentence into French and keep the tone friendly.',
  'The build failed because a test timed out; I have increased the limit to 30 seconds.',
  'Refactor the parser so that it reads one token at a time.',
  'Your parcel left the warehouse on Tuesday and arrives within three days.',
  'Please ignore the typo in my last message, I meant Thursday.',
  'The meeting is moved to room 4.12; see you at half past nine.',
  'Version 2.3.1 fixes a crash when the window is resized.',
  'How do I reset the filter in the dashboard?',
  'The chapter argues that prompt engineering is a craft and not a science.',
  'Opening hours: Monday to Friday from 9 to 17, Saturdays until noon.',
  'The temperature in Oslo is -3 °C, with light snow until the evening.',
];

/** Returns crossings with the same text at every boundary. */
function crossingsOf(text: string): readonly Crossing[] {
  const content = { kind: 'text', text } as const;
  const json = { kind: 'json', value: { text } } as const;
  return [
    buildTestCrossing({ boundary: 'input', content }),
    buildTestCrossing({ boundary: 'output', content }),
    buildTestCrossing({ boundary: 'action', phase: 'request', tool: 'notes.add', content: json }),
    buildTestCrossing({ boundary: 'action', phase: 'response', tool: 'notes.find', content: json }),
    buildTestCrossing({ boundary: 'action', phase: 'message', tool: 'agent_to_agent', content }),
  ];
}

const benign = (category: keyof typeof own) =>
  own[category].filter(({ label }) => label === 'benign').map(({ text }) => text);
const called = (command: string) =>
  buildTestCrossing({
    boundary: 'action',
    phase: 'request',
    tool: 'Bash',
    content: { kind: 'json', value: { command } },
  });

/** The policy without any skill, under which these texts pass unchanged. */
const builtin = buildTestPolicy();
const crossings = [
  ...ORDINARY.flatMap(crossingsOf),
  ...[...benign('secrets'), ...benign('pii'), ...benign('injection')].flatMap(crossingsOf),
  ...benign('commands').map(called),
].filter((crossing) => judge(crossing, builtin).findings.length === 0);
const cases = loadCases()
  .find(({ file }) => file === 'defaults.json')!
  .cases.filter(({ expect }) => expect.decision === 'allow' && expect.violations?.length === 0);

/** Contracts without terms, because a skill may ask about tools that have none. */
const TOOLS = {
  contracts: [
    ...new Set([
      ...crossings.flatMap(({ tool }) => tool ?? []),
      ...cases.flatMap(({ request }) => (typeof request.body.tool === 'string' ? [request.body.tool] : [])),
    ]),
  ].map((name) => ({ tool_name: name })),
};

/** Lists the texts that a policy blocks or changes. */
function touched(policy: Policy): readonly string[] {
  const follow = judgeOf(policy);
  return [
    ...crossings.flatMap((crossing) => {
      const verdict = judge(crossing, policy, null, celEvaluator);
      return verdict.decision === 'allow' ? [] : [`${verdict.rule}: ${JSON.stringify(crossing.content)}`];
    }),
    ...cases.flatMap((each) => {
      const { decision, rule } = judgeCase(each, follow);
      return decision === 'allow' ? [] : [`${String(rule)}: ${each.name}`];
    }),
  ];
}

test('there is enough of it, and a skill that blocks too much is noticed', () => {
  assert.equal(ORDINARY.length, 20);
  assert.ok(crossings.length >= 1_000, `only ${crossings.length} crossings`);
  assert.ok(cases.length >= 25, `only ${cases.length} cases`);
  const eager = buildTestPolicy({ rules: [{ name: 'eager', boundary: 'output', action: 'block' }] });
  assert.ok(touched(eager).length >= ORDINARY.length);
});

for (const { name, files } of await openBundledSkills()) {
  test(`${name} leaves it alone`, () => {
    const documents = files.filter(({ kind }) => kind.holds !== 'cases').map(({ text }) => parse(text));
    assert.deepEqual(touched(buildTestPolicy({ documents: [...documents, TOOLS] })), []);
  });
}
