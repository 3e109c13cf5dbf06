import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePolicy } from '../policy/compile/index.ts';
import { readRecordedDecision } from '../review/recorded-decision.ts';
import { DETECTION_SETTINGS } from '../testing/policies.ts';
import type { Crossing, Policy } from '../types/index.ts';
import { judge } from './judge.ts';

const policy = compilePolicy({
  inline_rules: [],
  documents: [],
  settings: {
    default_action: 'block',
    builtin_rules: true,
    undeclared_tools: 'allow',
    unknown_agents: 'allow',
    file: 'service.yaml',
    ...DETECTION_SETTINGS,
    pii_protection: { enabled: true, action: 'redact' },
    limits: { text_bytes_max: 10_000, depth_max: 10, nodes_max: 100, findings_max: 100 },
    redaction: { typed: false },
  },
}).policy as Policy;

const CALL: Crossing = {
  boundary: 'action',
  phase: 'request',
  content: { kind: 'json', value: { to: 'team' } },
  tenant_id: 'default',
  agent_id: 'bot',
  session_id: null,
  source_agent_id: null,
  destination_agent_id: null,
  tool: 'send_email',
  declared_tags: [],
  now_ms: 0,
};
const REFUSAL = { rule: 'capability_token.expired', reason: 'The capability token has expired.' };

test('a token that is refused blocks the call; one that fits leaves all to the rules', () => {
  const refused = judge({ ...CALL, capability: { token_id: 'cap_1', refusal: REFUSAL } }, policy);
  assert.deepEqual([refused.decision, refused.rule, refused.reason], ['block', REFUSAL.rule, REFUSAL.reason]);
  assert.deepEqual(
    refused.violations.map(({ type, rule, severity }) => [type, rule, severity]),
    [['identity_violation', REFUSAL.rule, 'high']],
  );
  const fits = judge({ ...CALL, capability: { token_id: 'cap_1', refusal: null } }, policy);
  assert.deepEqual(fits, judge(CALL, policy));
  const dangerous = { kind: 'json', value: { command: 'rm -rf /' } } as const;
  const still = judge(
    { ...CALL, content: dangerous, capability: { token_id: 'cap_1', refusal: null } },
    policy,
  );
  assert.deepEqual(still, judge({ ...CALL, content: dangerous }, policy));
  assert.equal(still.decision, 'block');
});

test('a token that could not be checked blocks, and is no violation by the agent', () => {
  const refusal = { rule: 'fault.store', reason: 'The store cannot be asked.' };
  const verdict = judge({ ...CALL, capability: { token_id: null, refusal } }, policy);
  assert.deepEqual([verdict.decision, verdict.rule, verdict.violations], ['block', 'fault.store', []]);
});

test('a refused call is refused again when the decision is explained later', () => {
  const event = {
    event_id: 'evt_1',
    boundary: 'action',
    decision: 'block',
    action: 'block',
    policy_name: REFUSAL.rule,
    data_tags: [],
    tenant_id: 'default',
    agent_id: 'bot',
    tool_name: 'send_email',
    session_id: null,
    source_agent_id: null,
    destination_agent_id: null,
    policy_hash: policy.hash,
    coverage: 'full',
    metadata: { endpoint: 'intercept_tool', phase: 'request', capability_token_id: 'cap_1' },
  } as const;
  const violations = [`identity_violation:${REFUSAL.rule}`];
  const refused = readRecordedDecision({ ...event, metadata: { ...event.metadata, violations } }, 0);
  assert.ok(typeof refused === 'object');
  assert.equal(refused.crossing.capability?.refusal?.rule, REFUSAL.rule);
  const taken = readRecordedDecision(event, 0);
  assert.ok(typeof taken === 'object');
  assert.deepEqual(taken.crossing.capability, { token_id: 'cap_1', refusal: null });
});
