import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePolicy } from '../policy/compile/index.ts';
import { readRecordedDecision } from '../review/recorded-decision.ts';
import { DETECTION_SETTINGS } from '../testing/policies.ts';
import { type Crossing, NO_PRINCIPAL, type Policy } from '../types/index.ts';
import { judge } from './judge.ts';

const policy = compilePolicy({
  inline_rules: [],
  documents: [
    {
      file: 'agents.yaml',
      value: {
        version: 'v1alpha1',
        agents: [{ agent_id: 'bound', require_task: true }, { agent_id: 'free' }],
      },
    },
  ],
  settings: {
    default_action: 'allow',
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

const TASK_ID = 'tsk_0123456789abcdef01234567';
const CALL: Crossing = {
  boundary: 'action',
  phase: 'request',
  content: { kind: 'json', value: { to: 'team' } },
  tenant_id: 'default',
  agent_id: 'free',
  session_id: null,
  source_agent_id: null,
  destination_agent_id: null,
  tool: 'send_email',
  declared_tags: [],
  now_ms: 0,
};
const REFUSAL = { rule: 'task.values', reason: 'The task does not allow one of these argument values.' };
const getRule = (about: Partial<Crossing>) => judge({ ...CALL, ...about }, policy).rule;

test('a refusing task blocks, a fitting one leaves the rules', () => {
  const refused = judge({ ...CALL, task: { task_id: TASK_ID, refusal: REFUSAL } }, policy);
  assert.deepEqual([refused.decision, refused.rule], ['block', REFUSAL.rule]);
  assert.deepEqual(
    refused.violations.map(({ type, rule }) => [type, rule]),
    [['flow_violation', REFUSAL.rule]],
  );
  const fits = judge({ ...CALL, task: { task_id: TASK_ID, refusal: null } }, policy);
  assert.deepEqual(fits, judge(CALL, policy));
});

test('a task that a call names is never left unchecked', () => {
  const principal = { ...NO_PRINCIPAL, task_id: TASK_ID };
  assert.equal(getRule({ principal }), 'task.unknown');
  assert.equal(getRule({ principal, phase: 'response' }), 'default.allow');
  assert.equal(getRule({ principal, task: { task_id: TASK_ID, refusal: null } }), 'default.allow');
});

test('an agent that needs a task never acts without', () => {
  assert.equal(getRule({ agent_id: 'bound' }), 'identity.require_task');
  assert.equal(getRule({ agent_id: 'free', source_agent_id: 'bound' }), 'identity.require_task');
  assert.equal(getRule({ agent_id: 'bound', task: { task_id: TASK_ID, refusal: null } }), 'default.allow');
  assert.equal(getRule({ agent_id: 'free' }), 'default.allow');
});

test('a replayed refusal is refused again', () => {
  const event = {
    event_id: 'evt_1',
    boundary: 'action',
    decision: 'block' as const,
    action: 'block',
    policy_name: REFUSAL.rule,
    data_tags: [],
    tenant_id: 'default',
    agent_id: 'free',
    tool_name: 'send_email',
    session_id: null,
    source_agent_id: null,
    destination_agent_id: null,
    task_id: TASK_ID,
    policy_hash: policy.hash,
    coverage: 'full' as const,
    metadata: {
      endpoint: 'intercept_tool',
      phase: 'request',
      violations: [`flow_violation:${REFUSAL.rule}`],
    },
  };
  const read = readRecordedDecision(event, 0);
  assert.ok(typeof read === 'object');
  assert.equal(read.crossing.task?.refusal?.rule, REFUSAL.rule);
  const allowed = readRecordedDecision(
    { ...event, metadata: { endpoint: 'intercept_tool', phase: 'request', violations: [] } },
    0,
  );
  assert.ok(typeof allowed === 'object' && allowed.crossing.task?.refusal === null);
});
