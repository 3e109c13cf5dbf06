import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge } from '../decision/judge.ts';
import { celConditions } from '../policy/conditions/cel.ts';
import { crossingOf, policyOf } from '../testing/policies.ts';
import { openStream } from './stream.ts';

test('the session tags that a streamed text adds or removes depend on `when`, as those of a whole text do', () => {
  const rows: readonly (readonly [when: string, session: object])[] = [
    ['agent_id == "nobody"', { add: ['ours'] }],
    ['agent_id != "nobody"', { add: ['ours'] }],
    ['agent_id == "nobody"', { remove: ['untrusted.web'] }],
    ['agent_id != "nobody"', { remove: ['untrusted.web'] }],
  ];
  const changes = rows.map(([when, session]) => {
    const policy = policyOf({
      rules: [
        { name: 'mark', boundary: 'output', session, condition: { when } },
        { name: 'asks', boundary: 'action', action: 'block', condition: { session_tags: ['ours'] } },
      ],
    });
    const crossing = crossingOf({
      boundary: 'output',
      content: { kind: 'text', text: 'Well.' },
      session_tags: ['untrusted.web'],
    });
    const whole = judge(crossing, policy, null, celConditions);
    const stream = openStream(policy, crossing, null, celConditions);
    stream.push('We');
    stream.push('ll.');
    const { verdict } = stream.end();
    assert.deepEqual(verdict?.taint_change, whole.taint_change, when);
    return whole.taint_change !== null;
  });
  assert.deepEqual(changes, [false, true, false, true]);
});
