import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTestCrossing, buildTestPolicy } from '../testing/policies.ts';
import type { Crossing, Json } from '../types/index.ts';
import { judge } from './judge.ts';

const EMAIL = ['jane', 'corp-mail.io'].join('@');
const RESULT = { status: 'sent', recipient: EMAIL };

const result = (value: Json, more: Partial<Crossing> = {}): Crossing =>
  buildTestCrossing({
    boundary: 'action',
    phase: 'response',
    content: { kind: 'json', value },
    tool: 'mail',
    ...more,
  });

const policyWith = (emits: object, more: object = {}, agents: readonly object[] = []) =>
  buildTestPolicy({
    documents: [
      {
        contracts: [
          {
            tool_name: 'mail',
            accepts: {},
            emits,
            side_effects: { reversible: false, requires_approval: false },
            ...more,
          },
        ],
      },
      ...(agents.length === 0 ? [] : [{ agents }]),
    ],
  });

test('a result with data that its tool may not give out is blocked, or loses that data', () => {
  const blocked = judge(result(RESULT), policyWith({ tags: ['internal'] }));
  assert.deepEqual([blocked.decision, blocked.rule], ['block', 'contract.emits.tags']);
  assert.deepEqual(
    judge(result(RESULT), policyWith({ tags: ['internal'], on_violation: 'block' })).violations,
    [...blocked.violations],
  );
  const { decision, rule, content, violations } = judge(
    result(RESULT),
    policyWith({ tags: ['internal'], on_violation: 'redact' }),
  );
  assert.deepEqual([decision, rule], ['modify', 'contract.emits.tags']);
  assert.deepEqual(violations, []);
  assert.ok(content?.kind === 'json');
  const { status, recipient } = content.value as typeof RESULT;
  assert.equal(status, 'sent');
  assert.ok(!recipient.includes('jane'), recipient);
  // Control: data that the tool may emit stays.
  const open = policyWith({ tags: ['personal'], on_violation: 'redact' });
  assert.equal(judge(result(RESULT), open).decision, 'allow');
});

test('data beyond the clearance of who acts is removed where the contract says so', () => {
  const agents = [{ agent_id: 'bot', clearance_tags: ['internal'] }];
  const by = { agent_id: 'bot' };
  const blocked = judge(result(RESULT, by), policyWith({}, {}, agents));
  assert.deepEqual([blocked.decision, blocked.rule], ['block', 'identity.clearance_tags']);
  const masked = judge(result(RESULT, by), policyWith({ on_violation: 'redact' }, {}, agents));
  assert.deepEqual([masked.decision, masked.rule], ['modify', 'identity.clearance_tags']);
  assert.ok(!JSON.stringify(masked.content).includes('jane'));
});

test('a declared tag has no place, so it blocks whatever the contract says', () => {
  const policy = policyWith({ tags: ['internal'], on_violation: 'redact' });
  const { decision } = judge(result({ status: 'sent' }, { declared_tags: ['personal.pii'] }), policy);
  assert.equal(decision, 'block');
});

test('what a rule blocks is blocked, and a call loses nothing', () => {
  const policy = policyWith(
    { tags: ['internal'], on_violation: 'redact' },
    { accepts: { tags: ['internal'] } },
  );
  const secret = ['AKIA', 'QX7RVTN2MZPL4WKB'].join('');
  const rules = [
    {
      name: 'no',
      boundary: 'action',
      data_tags: ['secret'],
      action: 'block',
      condition: { phase: 'response' },
    },
  ];
  const strict = { ...policy, rules: [...buildTestPolicy({ rules }).rules, ...policy.rules] };
  assert.equal(judge(result({ key: secret }), strict).decision, 'block');
  const { decision, rule } = judge({ ...result(RESULT), phase: 'request' }, policy);
  assert.deepEqual([decision, rule], ['block', 'contract.accepts.tags']);
});

test('a contract in monitor mode removes nothing', () => {
  const policy = policyWith({ tags: ['internal'], on_violation: 'redact' }, { enforcement: 'monitor' });
  const { decision, monitored } = judge(result(RESULT), policy);
  assert.equal(decision, 'allow');
  assert.deepEqual(
    monitored.map(({ rule }) => rule),
    ['contract.emits.tags'],
  );
});

test('private tags alone mark a source and limit nothing', () => {
  const judged = (tags: readonly string[]) => judge(result(RESULT), policyWith({ tags })).rule;
  assert.notEqual(judged(['private.mail']), 'contract.emits.tags');
  assert.notEqual(judged(['private.mail', 'untrusted.mail']), 'contract.emits.tags');
  // Controls: another tag limits the result, and so does an empty list.
  assert.equal(judged(['private.mail', 'internal']), 'contract.emits.tags');
  assert.equal(judged(['privateer']), 'contract.emits.tags');
  assert.equal(judged([]), 'contract.emits.tags');
});
