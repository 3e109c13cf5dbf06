import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildAgentCaller, buildOperatorCaller, LOOPBACK_CALLER } from '../runtime/access/callers.ts';
import type { Caller } from '../runtime/access/types.ts';
import { findOperation } from '../server/operations.ts';
import { callOperation } from './call.ts';
import { type AnyOperation, Refusal } from './operation.ts';
import { createTestRuntime } from './testing/runtime.ts';

const explain = findOperation('policy_explain') as AnyOperation;
const scan = findOperation('scan_input') as AnyOperation;

/** Concatenated, so that no secret scanner of repositories reports it. */
const KEY = ['sk-', 'ABCDEF1234567890'].join('');

const rules = [
  { name: 'keys', boundary: 'input', data_tags: ['secret.credential'], action: 'block' },
  { name: 'keys-again', boundary: 'input', data_tags: ['secret'], action: 'flag' },
  { name: 'only-output', boundary: 'output', data_tags: ['secret'], action: 'block' },
  { name: 'watch', boundary: 'input', data_tags: ['personal'], action: 'block', enforcement: 'monitor' },
];
const tenants = {
  acme: [{ name: 'acme-own', boundary: 'input', data_tags: ['own'], action: 'block' }],
  globex: [{ name: 'globex-own', boundary: 'input', data_tags: ['own'], action: 'block' }],
};

const OPERATOR = buildOperatorCaller('operator');
const KEY_A = buildAgentCaller('key:a', ['check', 'policy:read', 'audit:read_own'], ['acme'], ['bot']);
const KEY_B = buildAgentCaller('key:b', ['check', 'policy:read', 'audit:read_own'], ['acme'], ['bot']);
const AUDITOR = buildAgentCaller('key:audit', ['audit:read', 'policy:read'], ['acme'], '*');
const OTHER_AUDITOR = buildAgentCaller('key:other', ['audit:read', 'policy:read'], ['globex'], '*');
const OTHER_AGENT = buildAgentCaller('key:agent', ['audit:read', 'policy:read'], '*', ['ann']);
const NO_POLICY = buildAgentCaller('key:blind', ['audit:read'], '*', '*');
const NO_AUDIT = buildAgentCaller('key:check', ['check', 'policy:read'], '*', '*');

test('who may have which decision explained', async () => {
  const { runtime } = createTestRuntime({ rules, tenants });
  const context = (caller: Caller) => ({ runtime, caller, request_id: 'req' });
  const input = { text: `Use ${KEY}`, tenant_id: 'acme', agent_id: 'bot' };
  const { event_id } = (await callOperation(scan, input, context(KEY_A))) as { event_id: string };
  const rows: readonly [string, Caller, string, string][] = [
    ['a person', OPERATOR, event_id, 'explained'],
    ['the caller itself', KEY_A, event_id, 'explained'],
    ['another key of the same tenant', KEY_B, event_id, 'not_found'],
    ['loopback, which made another call', LOOPBACK_CALLER, event_id, 'not_found'],
    ['who may read all of the tenant', AUDITOR, event_id, 'explained'],
    ['who may read all of another tenant', OTHER_AUDITOR, event_id, 'not_found'],
    ['who may read all of another agent', OTHER_AGENT, event_id, 'not_found'],
    ['who may not read the policy', NO_POLICY, event_id, 'forbidden'],
    ['who may not read the audit log', NO_AUDIT, event_id, 'forbidden'],
    ['an event that is not there', OPERATOR, 'evt_none', 'not_found'],
  ];
  for (const [name, caller, id, expected] of rows) {
    const outcome = await callOperation(explain, { event_id: id }, context(caller)).then(
      (reply) => (reply as { status: string }).status,
      (error: unknown) => (error instanceof Refusal ? error.code : String(error)),
    );
    assert.equal(outcome, expected, name);
  }
  assert.equal(rows.length, 10);
});

test('an explanation names every evaluated rule, and why it did not match', async () => {
  const { runtime } = createTestRuntime({ rules, tenants });
  const context = { runtime, caller: OPERATOR, request_id: 'req' };
  const text = `Use ${KEY} and write to anna.holm@acme-mail.io`;
  const { event_id } = (await callOperation(scan, { text, tenant_id: 'acme' }, context)) as {
    event_id: string;
  };
  const reply = JSON.parse(JSON.stringify(await callOperation(explain, { event_id }, context)));
  const { explanation } = reply;
  assert.equal(explanation.matches_record, true);
  const [key, email] = explanation.evaluations;
  assert.deepEqual(
    [key.tag, key.action, key.rule, key.decisive],
    ['secret.credential.api_key', 'block', 'keys', true],
  );
  const outcomes = (evaluation: { rule_trace: { rule: string; outcome: string }[] }) =>
    evaluation.rule_trace.slice(0, 4).map(({ rule, outcome }) => [rule, outcome]);
  assert.deepEqual(outcomes(key), [
    ['acme-own', 'not_matched'],
    ['keys', 'matched'],
    ['keys-again', 'not_reached'],
    ['watch', 'not_reached'],
  ]);
  assert.deepEqual(outcomes(email), [
    ['acme-own', 'not_matched'],
    ['keys', 'not_matched'],
    ['keys-again', 'not_matched'],
    ['watch', 'monitored'],
  ]);
  assert.deepEqual(
    explanation.not_evaluated.map(({ rule, mismatch }: Record<string, string>) => [rule, mismatch]),
    [
      ['only-output', 'boundary'],
      ['globex-own', 'tenant'],
    ],
  );
  assert.deepEqual(explanation.counterfactual, {
    changes: [{ kind: 'tag', rule: 'keys', change: 'without the tag `secret.credential.api_key`' }],
    result: { decision: 'modify', action: 'redact', rule: 'builtin.personal.input' },
  });
  assert.ok(!JSON.stringify(reply).includes(KEY) && !JSON.stringify(reply).includes('anna.holm'));
  const scoped = { ...context, caller: { ...AUDITOR, id: 'key:audit' } };
  const narrow = JSON.stringify(await callOperation(explain, { event_id }, scoped));
  assert.ok(!narrow.includes('globex'), 'another tenant’s rule is named');
});

test('what cannot be explained says why', async () => {
  const { runtime, events } = createTestRuntime({ rules });
  const context = { runtime, caller: OPERATOR, request_id: 'req' };
  const { event_id } = (await callOperation(scan, { text: `Use ${KEY}` }, context)) as { event_id: string };
  const [event] = events.splice(0, 1);
  const rows: readonly [object, string][] = [
    [{}, 'explained'],
    [{ policy_hash: `sha256:${'0'.repeat(64)}` }, 'policy_unavailable'],
    [{ metadata: { phase: 'policy_reload' } }, 'no_decision'],
    [{ metadata: { ...event!.metadata, fault: true } }, 'fault'],
    [{ metadata: { ...event!.metadata, found_tags: ['secret high 9'] } }, 'incomplete'],
  ];
  for (const [fields, status] of rows) {
    events.splice(0, events.length, { ...event!, ...fields });
    const reply = (await callOperation(explain, { event_id }, context)) as {
      status: string;
      explanation: unknown;
    };
    assert.deepEqual([reply.status, reply.explanation !== null], [status, status === 'explained']);
  }
  // A record that was changed has no explanation.
  events.splice(0, events.length, { ...event!, action: 'flag', decision: 'allow' });
  const reply = (await callOperation(explain, { event_id }, context)) as {
    explanation: { matches_record: boolean };
  };
  assert.equal(reply.explanation.matches_record, false);
  assert.equal(rows.length, 5);
});
