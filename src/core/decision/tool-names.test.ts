import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNameRemarks } from '../review/lint/names.ts';
import { buildTestCrossing, buildTestPolicy } from '../testing/policies.ts';
import type { Action, Crossing, Policy } from '../types/index.ts';
import { judge } from './judge.ts';

const EMAIL = ['jane', 'corp-mail.io'].join('@');

const request = (tool: string, value: object = {}, more: Partial<Crossing> = {}): Crossing =>
  buildTestCrossing({
    boundary: 'action',
    phase: 'request',
    content: { kind: 'json', value: value as Record<string, string> },
    tool,
    ...more,
  });

const contract = (toolName: string, more: object = {}) => ({
  tool_name: toolName,
  accepts: {},
  emits: {},
  side_effects: { reversible: true, requires_approval: false },
  ...more,
});

const SPELLINGS = ['Issue_refund', 'ISSUE_REFUND', 'i\u017Fsue_refund', '\u0131ssue_refund'];

test('a rule that restricts a tool holds for each spelling of its name in upper and lower case', () => {
  const rows: readonly [Action, string][] = [
    ['block', 'issue_refund'],
    ['block', 'Issue_*'],
    ['require_approval', 'issue_refund'],
    ['flag', '*_Refund'],
  ];
  for (const [action, pattern] of rows) {
    const rules = [{ name: 'refunds', boundary: 'action', action, condition: { tools: [pattern] } }];
    const policy = buildTestPolicy({ rules });
    for (const tool of ['issue_refund', ...SPELLINGS])
      assert.equal(judge(request(tool), policy).rule, 'refunds', `${action} ${pattern} ${tool}`);
    // Control: a different name is a different tool.
    assert.equal(judge(request('read_refunds'), policy).rule, 'default.allow');
  }
  assert.equal(rows.length * (1 + SPELLINGS.length), 20);
});

test('a rule masks in each spelling of a tool', () => {
  const condition = { tools: ['crm.find'] };
  const rules = [
    { name: 'mask', boundary: 'action', data_tags: ['personal.pii'], action: 'redact', condition },
  ];
  const policy = buildTestPolicy({ rules });
  assert.equal(judge(request('CRM.find', { to: EMAIL }), policy).decision, 'modify');
  assert.equal(judge(request('crm.list', { to: EMAIL }), policy).decision, 'allow');
});

test('a rule that allows a tool is for the name that it writes, and for no other spelling', () => {
  const rules = [
    { name: 'mine', boundary: 'action', action: 'allow', condition: { tools: ['issue_*'] } },
    { name: 'none', boundary: 'action', action: 'block' },
  ];
  const policy = buildTestPolicy({ rules });
  assert.equal(judge(request('issue_refund'), policy).decision, 'allow');
  for (const tool of SPELLINGS) assert.equal(judge(request(tool), policy).rule, 'none', tool);
});

test('an identity gives an agent the tools that it writes, and no other spelling', () => {
  const policy = buildTestPolicy({ documents: [{ agents: [{ agent_id: 'bot', tools: ['issue_refund'] }] }] });
  const known = { agent_id: 'bot' };
  assert.equal(judge(request('issue_refund', {}, known), policy).decision, 'allow');
  for (const tool of SPELLINGS)
    assert.equal(judge(request(tool, {}, known), policy).rule, 'identity.tools', tool);
});

const getRule = (policy: Policy, tool: string, value: object = {}) =>
  judge(request(tool, value), policy).rule;

test('a contract restricts each spelling of its tool, and declares one', () => {
  const schema = { type: 'object', required: ['amount'] };
  const documents = [{ contracts: [contract('issue_refund', { arguments: schema })] }];
  const open = buildTestPolicy({ documents });
  const closed = buildTestPolicy({ documents, settings: { undeclared_tools: 'block' } });
  for (const tool of ['issue_refund', ...SPELLINGS]) {
    assert.equal(getRule(open, tool), 'contract.arguments', tool);
    assert.equal(getRule(open, tool, { amount: '1' }), 'default.allow', tool);
  }
  assert.equal(getRule(closed, 'issue_refund', { amount: '1' }), 'default.allow');
  for (const tool of SPELLINGS) assert.equal(getRule(closed, tool, { amount: '1' }), 'contract.tool', tool);
  assert.equal(getRule(open, 'read_refunds'), 'default.allow');
});

test('a name between two contracts that differ in case is declared by neither', () => {
  const documents = [
    { contracts: [contract('Read', { allowed_agents: ['a'] }), contract('read', { allowed_agents: ['b'] })] },
  ];
  const policy = buildTestPolicy({ documents });
  const by = (tool: string, agentId: string) => judge(request(tool, {}, { agent_id: agentId }), policy).rule;
  assert.equal(by('Read', 'a'), 'default.allow');
  assert.equal(by('Read', 'b'), 'contract.allowed_agents');
  assert.equal(by('read', 'b'), 'default.allow');
  assert.equal(by('READ', 'a'), 'contract.tool');
});

test('lint takes a rule that restricts for one about each spelling of a declared tool', () => {
  const named = (action: Action, tool: string) => ({
    name: 'one',
    boundary: 'action',
    action,
    condition: { tools: [tool] },
  });
  const documents = [{ contracts: [contract('issue_refund')] }];
  const remarks = (action: Action, tool: string) =>
    findNameRemarks(buildTestPolicy({ rules: [named(action, tool)], documents })).length;
  assert.equal(remarks('block', 'Issue_Refund'), 0);
  assert.equal(remarks('allow', 'Issue_Refund'), 1);
  assert.equal(remarks('block', 'issue_refunds'), 1);
});
