import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildTestCrossing, buildTestPolicy } from '../testing/policies.ts';
import type { ApprovalRequirement, Crossing, Verdict } from '../types/index.ts';
import { judge } from './judge.ts';

const ask = (name: string, more: object) => ({
  name,
  boundary: 'action',
  action: 'require_approval',
  ...more,
});

const policy = buildTestPolicy({
  rules: [
    ask('pay', { condition: { tools: ['pay*'] }, approval: { ttl: '30m', min_approvals: 2 } }),
    ask('cards', { data_tags: ['personal.pii.card'], approval: { ttl: '10m' } }),
    { name: 'input-cards', boundary: 'input', data_tags: ['personal.pii.card'], action: 'redact' },
    ask('ssn-asks', { data_tags: ['personal.pii.ssn'] }),
    {
      name: 'input-asks-ssn',
      boundary: 'input',
      data_tags: ['personal.pii.ssn'],
      action: 'require_approval',
    },
    { name: 'never', boundary: 'action', data_tags: ['forbidden'], action: 'block' },
    ask('declared', { data_tags: ['own.mask'] }),
    { name: 'input-mask', boundary: 'input', data_tags: ['own.mask'], action: 'redact' },
    ask('watched', { data_tags: ['watched'], enforcement: 'monitor' }),
  ],
  documents: [
    {
      contract: {
        tool_name: 'pay_bill',
        accepts: {},
        emits: {},
        side_effects: { reversible: false, requires_approval: true },
      },
    },
  ],
  settings: { default_action: 'require_approval' },
});

const CARD = { card: '4111 1111 1111 1111' };
const SSN = { ssn: 'My SSN is 219-09-9999.' };

const call = (tool: string, value: Record<string, string>, more: Partial<Crossing> = {}) =>
  buildTestCrossing({
    boundary: 'action',
    phase: 'request',
    tool,
    content: { kind: 'json', value },
    ...more,
  });

interface Row {
  readonly crossing: Crossing;
  readonly wants: ApprovalRequirement | null;
  /** The result after every required approval is granted. */
  readonly granted: Pick<Verdict, 'decision' | 'action' | 'rule'>;
}

const HOUR_MS = 3_600_000;
const ROWS: Readonly<Record<string, Row>> = {
  'a rule about the tool': {
    crossing: call('pay_now', {}),
    wants: { rules: ['pay'], ttl_ms: 1_800_000, min_approvals: 2 },
    granted: { decision: 'allow', action: 'flag', rule: 'pay' },
  },
  'a contract beside a rule': {
    crossing: call('pay_bill', {}),
    wants: { rules: ['contract.requires_approval', 'pay'], ttl_ms: 1_800_000, min_approvals: 2 },
    granted: { decision: 'allow', action: 'flag', rule: 'contract.requires_approval' },
  },
  'the mask of another rule holds when the first is granted': {
    crossing: call('other', CARD),
    wants: { rules: ['cards'], ttl_ms: 600_000, min_approvals: 1 },
    granted: { decision: 'modify', action: 'redact', rule: 'input-cards' },
  },
  'two rules on one finding': {
    crossing: call('other', SSN),
    wants: { rules: ['ssn-asks', 'input-asks-ssn'], ttl_ms: HOUR_MS, min_approvals: 1 },
    granted: { decision: 'allow', action: 'flag', rule: 'ssn-asks' },
  },
  'the default action': {
    crossing: call('other', {}, { declared_tags: ['own.tag'] }),
    wants: { rules: ['default.require_approval'], ttl_ms: HOUR_MS, min_approvals: 1 },
    granted: { decision: 'allow', action: 'flag', rule: 'default.require_approval' },
  },
  'a mask without a place blocks, whatever is granted': {
    crossing: call('other', {}, { declared_tags: ['own.mask'] }),
    wants: null,
    granted: { decision: 'block', action: 'block', rule: 'input-mask' },
  },
  'what blocks stays a block, and nobody is asked': {
    crossing: call('pay_now', {}, { declared_tags: ['forbidden'] }),
    wants: null,
    granted: { decision: 'block', action: 'block', rule: 'never' },
  },
};

for (const [name, { crossing, wants, granted }] of Object.entries(ROWS)) {
  test(`approval: ${name}`, () => {
    const first = judge(crossing, policy);
    assert.equal(first.decision, 'block');
    assert.deepEqual(first.approval, wants);
    const verdict = judge(
      { ...crossing, approved_rules: wants?.rules ?? ['pay', 'never', 'declared'] },
      policy,
    );
    assert.deepEqual(pick(verdict), granted);
    assert.equal(verdict.approval, null);
  });
}

test('approval: every row ran', () => assert.equal(Object.keys(ROWS).length, 7));

test('approval: what is granted for one rule is not granted for another', () => {
  const verdict = judge(call('pay_bill', {}, { approved_rules: ['pay'] }), policy);
  assert.equal(verdict.action, 'require_approval');
  assert.deepEqual(verdict.approval?.rules, ['contract.requires_approval', 'pay']);
});

test('approval: a mask stays where only approval was granted', () => {
  const verdict = judge(call('other', CARD, { approved_rules: ['cards'] }), policy);
  assert.deepEqual(verdict.content?.kind === 'json' && verdict.content.value, { card: '[REDACTED]' });
});

test('approval: more rules than one request can name leave the block without a request', () => {
  const rules = Array.from({ length: 33 }, (_, at) => ask(`r${at}`, { data_tags: [`t${at}`] }));
  const many = (count: number) =>
    judge(
      call('x', {}, { declared_tags: rules.slice(0, count).map((_, at) => `t${at}`) }),
      buildTestPolicy({ rules }),
    );
  assert.equal(many(32).approval?.rules.length, 32);
  assert.equal(many(33).action, 'require_approval');
  assert.equal(many(33).approval, null);
});

function pick({ decision, action, rule }: Verdict): Row['granted'] {
  return { decision, action, rule };
}
