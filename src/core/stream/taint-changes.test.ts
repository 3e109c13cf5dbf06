import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../decision/judge.ts';
import { celEvaluator } from '../policy/conditions/cel.ts';
import { buildTestCrossing, buildTestPolicy } from '../testing/policies.ts';
import { openStream } from './stream.ts';

test('the session tags that a streamed text adds or removes depend on `when`, as those of a whole text do', () => {
  const rows: readonly (readonly [when: string, session: object])[] = [
    ['agent_id == "nobody"', { add: ['ours'] }],
    ['agent_id != "nobody"', { add: ['ours'] }],
    ['agent_id == "nobody"', { remove: ['untrusted.web'] }],
    ['agent_id != "nobody"', { remove: ['untrusted.web'] }],
  ];
  const changes = rows.map(([when, session]) => {
    const policy = buildTestPolicy({
      rules: [
        { name: 'mark', boundary: 'output', session, condition: { when } },
        { name: 'asks', boundary: 'action', action: 'block', condition: { session_tags: ['ours'] } },
      ],
    });
    const crossing = buildTestCrossing({
      boundary: 'output',
      content: { kind: 'text', text: 'Well.' },
      session_tags: ['untrusted.web'],
    });
    const whole = judge(crossing, policy, null, celEvaluator);
    const stream = openStream(policy, crossing, null, celEvaluator);
    stream.push('We');
    stream.push('ll.');
    const { verdict } = stream.end();
    assert.deepEqual(verdict?.taint_change, whole.taint_change, when);
    return whole.taint_change !== null;
  });
  assert.deepEqual(changes, [false, true, false, true]);
});
