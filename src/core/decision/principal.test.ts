import assert from 'node:assert/strict';
import { test } from 'node:test';
import { celEvaluator } from '../policy/conditions/cel.ts';
import { buildTestCrossing, buildTestPolicy, type PolicyParts } from '../testing/policies.ts';
import {
  type Crossing,
  NO_PRINCIPAL,
  type Principal,
  type ProvedUser,
  type Verdict,
} from '../types/index.ts';
import { judge } from './judge.ts';

const ALICE: ProvedUser = { user_id: 'alice', user_email: null, groups: ['finance'], scopes: ['email.send'] };
const MALLORY: ProvedUser = { user_id: 'mallory', user_email: null, groups: [], scopes: null };

function decide(
  parts: PolicyParts,
  principal: Partial<Principal> | null,
  more: Partial<Crossing> = {},
): Verdict {
  const crossing = buildTestCrossing({
    boundary: 'action',
    phase: 'request',
    tool: 'send_money',
    agent_id: 'mailer',
    ...(principal !== null && { principal: { ...NO_PRINCIPAL, ...principal } }),
    ...more,
  });
  return judge(crossing, buildTestPolicy(parts), null, celEvaluator);
}

function getViolations({ violations }: Verdict): readonly string[] {
  return violations.map(({ type, rule }) => `${type}:${rule}`);
}

const rule = (action: string, condition: object, name = 'r') => ({
  name,
  boundary: 'action',
  action,
  condition,
});

test('a rule on people blocks them, and unproved calls', () => {
  const parts = { rules: [rule('block', { users: ['mal*'] })] };
  assert.equal(decide(parts, { user: MALLORY }).decision, 'block');
  assert.deepEqual(getViolations(decide(parts, { user: MALLORY })), []);
  assert.equal(decide(parts, { user: ALICE }).decision, 'allow');
  for (const principal of [null, { claimed_user: 'alice' }, { claimed_user: 'mallory' }]) {
    const verdict = decide(parts, principal);
    assert.equal(verdict.decision, 'block');
    assert.equal(verdict.rule, 'r');
    assert.deepEqual(getViolations(verdict), ['identity_violation:r']);
  }
});

test('a rule on people blocks for milder actions too', () => {
  for (const action of ['flag', 'require_approval']) {
    const parts = { rules: [rule(action, { groups: ['contractors'] })] };
    assert.equal(decide(parts, null).action, 'block', action);
    assert.equal(decide(parts, { user: ALICE }).action, 'allow', action);
  }
  const tagged = { ...rule('redact', { users: ['alice'] }), data_tags: ['personal'] };
  assert.equal(decide({ rules: [tagged] }, null).action, 'allow', 'no such data');
  const verdict = decide({ rules: [tagged] }, null, { declared_tags: ['personal.pii'] });
  assert.equal(verdict.action, 'block');
});

test('a rule that allows people needs their proof', () => {
  const parts = {
    rules: [
      { ...rule('allow', { groups: ['finance'] }, 'finance'), data_tags: ['money'] },
      { ...rule('block', {}, 'others'), data_tags: ['money'] },
    ],
  };
  const decides = (principal: Partial<Principal> | null) =>
    decide(parts, principal, { declared_tags: ['money'] }).decision;
  assert.equal(decides({ user: ALICE }), 'allow');
  assert.equal(decides({ user: MALLORY }), 'block');
  assert.equal(decides({ claimed_user: 'alice' }), 'block');
  assert.equal(decides(null), 'block');
});

test('names are compared exactly', () => {
  const parts = { rules: [{ ...rule('block', { users: ['alice'] }) }] };
  for (const twin of ['Alice', 'аlice', 'alice ', '\uff41lice', 'alice\u0301'])
    assert.equal(decide(parts, { user: { ...ALICE, user_id: twin } }).decision, 'allow', twin);
});

test('a stated tier can restrict and never allow', () => {
  const block = { rules: [rule('block', { agent_tiers: ['background'] })] };
  assert.equal(decide(block, { claimed_tier: 'background' }).decision, 'block');
  assert.equal(decide(block, { agent_tier: 'background' }).decision, 'block');
  assert.equal(decide(block, { agent_tier: 'interactive' }).decision, 'allow');
  const unless = { rules: [rule('block', { when: 'agent_tier != "interactive"' })] };
  assert.equal(decide(unless, { agent_tier: 'interactive' }).decision, 'allow');
  assert.equal(decide(unless, { claimed_tier: 'interactive' }).decision, 'block');
  assert.equal(decide(unless, null).decision, 'block');
  const allow = (condition: object) => ({
    rules: [rule('allow', condition, 'a'), rule('block', {}, 'b')],
  });
  for (const [condition, proved] of [
    [{ agent_tiers: ['interactive'] }, 'allow'],
    [{ when: 'agent_tier == "interactive"' }, 'allow'],
    [{ when: 'agent_tier == ""' }, 'block'],
  ] as const) {
    assert.equal(decide(allow(condition), { claimed_tier: 'interactive' }).decision, 'block');
    assert.equal(decide(allow(condition), { agent_tier: 'interactive' }).decision, proved);
  }
});

test('conditions see the person, the chain and the tier', () => {
  const holds = (when: string, principal: Partial<Principal> | null) =>
    decide({ rules: [rule('block', { when })] }, principal).decision === 'block';
  assert.ok(holds('user == "alice" && "finance" in groups && "email.send" in scopes', { user: ALICE }));
  assert.ok(holds('user == "" && size(groups) == 0 && size(scopes) == 0', { claimed_user: 'alice' }));
  assert.ok(holds('claimed_user == "alice"', { claimed_user: 'alice' }));
  assert.ok(holds('"lead" in chain', { chain: ['lead', 'mailer'] }));
  assert.ok(!holds('"lead" in chain', null));
  assert.ok(holds('user == "" || agent_tier == ""', { user: ALICE }));
});

const contract = (terms: object) => ({
  documents: [{ version: 'v1alpha1', contracts: [{ tool_name: 'send_money', ...terms }] }],
});

test('a contract requires scopes of the proved person', () => {
  const parts = contract({ required_scopes: ['email.send', 'money.send'] });
  const all = { ...ALICE, scopes: ['money.send', 'email.send'] };
  assert.equal(decide(parts, { user: all }).decision, 'allow');
  for (const principal of [
    { user: ALICE },
    { user: { ...ALICE, scopes: null } },
    { user: { ...ALICE, scopes: [] } },
    { claimed_user: 'alice' },
    null,
  ]) {
    const verdict = decide(parts, principal);
    assert.equal(verdict.rule, 'contract.required_scopes');
    assert.deepEqual(getViolations(verdict), ['identity_violation:required_scopes']);
  }
  assert.equal(decide(parts, null, { phase: 'response' }).decision, 'allow', 'results need no scope');
});

test('a contract limits the calls for one person', () => {
  const parts = contract({ max_calls_per_minute_per_user: 2 });
  const counted = (count: number) => decide(parts, { user: ALICE }, { calls_last_minute_for_user: count });
  assert.equal(counted(2).decision, 'allow');
  assert.deepEqual(getViolations(counted(3)), ['contract_violation:max_calls_per_minute_per_user']);
  assert.deepEqual(getViolations(decide(parts, { claimed_user: 'alice' })), ['identity_violation:user']);
});

const identities = (...agents: readonly object[]) => ({ documents: [{ version: 'v1alpha1', agents }] });

test('an identity names the people an agent acts for', () => {
  const parts = identities({ agent_id: 'mailer', users: ['bob'], groups: ['fin*'] });
  assert.equal(decide(parts, { user: ALICE }).decision, 'allow');
  assert.equal(decide(parts, { user: { ...MALLORY, user_id: 'bob' } }).decision, 'allow');
  for (const principal of [{ user: MALLORY }, { claimed_user: 'bob' }, null]) {
    const verdict = decide(parts, principal);
    assert.deepEqual(getViolations(verdict), ['identity_violation:users']);
  }
  assert.equal(decide(identities({ agent_id: 'mailer' }), null).decision, 'allow');
});

test('rights are the intersection along the chain', () => {
  const parts = identities(
    { agent_id: 'lead', tools: ['read_file'] },
    { agent_id: 'planner', users: ['alice'] },
    { agent_id: 'mailer', tools: ['send_money', 'read_file'] },
  );
  const chained = (chain: readonly string[], user: ProvedUser | null = ALICE) =>
    getViolations(decide(parts, { user, chain }));
  assert.deepEqual(chained(['mailer']), []);
  assert.deepEqual(chained(['lead', 'mailer']), ['identity_violation:tools']);
  assert.deepEqual(chained(['planner', 'mailer'], MALLORY), ['identity_violation:users']);
  assert.deepEqual(chained(['planner', 'mailer']), []);
  const limited = contract({ allowed_agents: ['mailer'] });
  assert.equal(decide(limited, { chain: ['lead', 'mailer'] }).rule, 'contract.allowed_agents');
  assert.equal(decide(limited, { chain: ['mailer'] }).decision, 'allow');
});

test('a policy without terms on people keeps its hash', () => {
  const policy = buildTestPolicy({
    rules: [rule('block', {})],
    documents: [
      { version: 'v1alpha1', contracts: [{ tool_name: 't' }] },
      { version: 'v1alpha1', agents: [{ agent_id: 'a' }] },
    ],
  });
  const records = [...policy.contracts, ...policy.identities, ...policy.rules];
  const names = new Set(records.flatMap((record) => Object.keys(record)));
  for (const name of ['users', 'groups', 'agent_tiers', 'required_scopes', 'max_calls_per_minute_per_user'])
    assert.ok(!names.has(name), name);
});
