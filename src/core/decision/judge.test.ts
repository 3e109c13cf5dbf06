import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { buildTestCrossing, buildTestPolicy, compileParts } from '../testing/policies.ts';
import {
  ACTIONS,
  BOUNDARIES,
  type Crossing,
  DECISIONS,
  type Json,
  PHASES,
  type Policy,
} from '../types/index.ts';
import { judge } from './judge.ts';

const policy = buildTestPolicy({
  rules: [
    { name: 'mask-cards', boundary: ['input', 'action'], data_tags: ['personal.pii.card'], action: 'redact' },
    {
      name: 'ask',
      boundary: 'action',
      action: 'require_approval',
      condition: { tools: ['pay*'], agents: ['a*'] },
    },
    {
      name: 'own',
      boundary: 'output',
      data_tags: ['personal'],
      action: 'block',
      fallback_template: '{redacted}{reason}',
    },
  ],
  documents: [
    {
      contract: {
        tool_name: 'strict',
        accepts: { fields: ['a', 'b.c'], tags: ['personal'] },
        emits: { fields: ['a.b'], tags: [] },
        arguments: {
          type: 'object',
          properties: {
            a: { type: 'string', pattern: '^(a+)+$' },
            list: { type: 'array', uniqueItems: true },
          },
          patternProperties: {
            '^x_[a-z]+$': { anyOf: [{ type: 'string', format: 'uri' }, { not: { minimum: 3 } }] },
          },
          additionalProperties: false,
        },
        side_effects: { reversible: true, requires_approval: false },
      },
    },
    { agents: [{ agent_id: 'agent', tools: ['strict', 'pay*'], clearance_tags: ['personal'] }] },
  ],
  settings: { unknown_agents: 'allow' },
});

const hostileText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom(
    '\ud800',
    '\u0000',
    '536-22-1234',
    'anna@acme-mail.io',
    '4539 1488 0343 6467',
    'a'.repeat(5_000),
    '__proto__',
  ),
);
const hostileJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5 },
    hostileText,
    fc.double(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(hostileText, fc.constantFrom('a', 'b', 'c', 'list', 'x_y', 'constructor')),
      tie('value'),
      { maxKeys: 4 },
    ),
  ),
})).value;
const anyCrossing = fc.record({
  boundary: fc.constantFrom(...BOUNDARIES),
  phase: fc.constantFrom(null, ...PHASES),
  content: fc.oneof(
    hostileText.map((text) => ({ kind: 'text', text }) as const),
    hostileJson.map((value) => ({ kind: 'json', value: value as Json }) as const),
  ),
  tenant_id: hostileText,
  agent_id: fc.oneof(hostileText, fc.constant('agent')),
  session_id: fc.constant(null),
  source_agent_id: fc.option(hostileText),
  destination_agent_id: fc.option(hostileText),
  tool: fc.option(fc.oneof(hostileText, fc.constantFrom('strict', 'pay_out'))),
  declared_tags: fc.array(fc.oneof(hostileText, fc.constantFrom('secret', 'personal.pii', 'own')), {
    maxLength: 3,
  }),
  now_ms: fc.constant(0),
});

test('any crossing gets a verdict that is whole', () => {
  fc.assert(
    fc.property(anyCrossing, (crossing) => {
      const verdict = judge(crossing as Crossing, policy);
      assert.equal(verdict.fault, false, JSON.stringify(crossing));
      assert.ok(DECISIONS.includes(verdict.decision) && ACTIONS.includes(verdict.action));
      assert.ok(verdict.rule.length > 0 && /[.]$/.test(verdict.reason), verdict.reason);
      const isBlocked = verdict.action === 'block' || verdict.action === 'require_approval';
      assert.equal(verdict.decision === 'block', isBlocked);
      assert.equal(verdict.decision === 'modify', verdict.action === 'redact');
      assert.equal(verdict.content !== null, verdict.decision === 'modify' || verdict.fallback_used);
    }),
    { numRuns: 1_000 },
  );
});

test('a name that every object has is a name like others in commands', () => {
  const names = Object.getOwnPropertyNames(Object.prototype);
  for (const name of names)
    for (const command of [
      name,
      `sudo ${name} -l`,
      `john --${name}`,
      `${name} -T file host`,
      `cd /; ${name} -C x`,
    ]) {
      const crossing = buildTestCrossing({ content: { kind: 'json', value: { command: [command] } } });
      const verdict = judge(crossing, policy);
      assert.deepEqual([verdict.fault, verdict.decision], [false, 'allow'], command);
    }
  assert.equal(names.length, 12);
});

test('the same crossing has the same verdict, under the policy and under its copy', () => {
  const copy = JSON.parse(JSON.stringify(policy)) as Policy;
  fc.assert(
    fc.property(anyCrossing, (crossing) => {
      const verdict = judge(crossing as Crossing, policy);
      assert.deepEqual(judge(crossing as Crossing, policy), verdict);
      assert.deepEqual(judge(crossing as Crossing, copy), verdict);
    }),
    { numRuns: 300 },
  );
});

test('a verdict contains no matched text', () => {
  const marker = `marker.${'q7'.repeat(6)}@acme-mail.io`;
  const contents = [
    { kind: 'text', text: `to ${marker}` },
    { kind: 'json', value: { a: marker, [marker]: 1, list: [{ a: `to ${marker}` }] } },
  ] as const;
  let count = 0;
  for (const content of contents) {
    for (const boundary of BOUNDARIES) {
      for (const phase of PHASES) {
        const verdict = judge(
          buildTestCrossing({ boundary, phase, content, tool: 'strict', agent_id: 'agent' }),
          policy,
        );
        const { content: _, ...reported } = verdict;
        assert.ok(verdict.findings.length + verdict.removed.length > 0);
        assert.ok(!JSON.stringify(reported).includes('q7q7'), JSON.stringify(reported));
        count += 1;
      }
    }
  }
  assert.equal(count, 18);
});

test('an internal fault blocks and reveals nothing', () => {
  const hostile = {
    kind: 'text',
    get text(): string {
      throw new Error('marker-text');
    },
  } as const;
  const faults = [
    judge(buildTestCrossing({ content: hostile }), policy),
    judge(buildTestCrossing(), null as unknown as Policy),
    judge(null as unknown as Crossing, policy),
    judge(buildTestCrossing(), { ...policy, limits: undefined } as unknown as Policy),
  ];
  for (const verdict of faults) {
    assert.equal(verdict.decision, 'block');
    assert.equal(verdict.rule, 'fault.internal');
    assert.equal(verdict.fault, true);
    assert.equal(verdict.content, null);
    assert.ok(!JSON.stringify(verdict).includes('marker-text'));
  }
  assert.equal(faults.length, 4);
});

test('arguments cannot make the check of a contract slow or throw', () => {
  const written = [
    { a: `${'a'.repeat(60_000)}!` },
    { a: 'a'.repeat(7_000_000) },
    { list: Array.from({ length: 100_000 }, (_, at) => ({ at })) },
    Object.fromEntries(Array.from({ length: 50_000 }, (_, at) => [`k${at}`, at])),
    { x_y: '%'.repeat(50_000) },
    { '\ud800': 1 },
  ];
  for (const value of written) {
    const content = { kind: 'json', value } as const;
    const verdict = judge(
      buildTestCrossing({ boundary: 'action', phase: 'request', tool: 'strict', content, agent_id: 'agent' }),
      policy,
    );
    assert.equal(verdict.rule, 'contract.arguments');
    assert.equal(verdict.fault, false);
    assert.ok(verdict.violations.length <= 20);
  }
  assert.equal(written.length, 6);
});

test('once an identity exists, unknown agents are blocked by default', () => {
  const agents = { agents: [{ agent_id: 'agent' }] };
  const stranger = buildTestCrossing({
    boundary: 'action',
    phase: 'request',
    tool: 'x',
    agent_id: 'stranger',
  });
  assert.equal(judge(stranger, buildTestPolicy({ documents: [agents] })).rule, 'identity.agent_id');
  assert.equal(judge(stranger, buildTestPolicy()).decision, 'allow');
  const allowing = buildTestPolicy({ documents: [agents], settings: { unknown_agents: 'allow' } });
  assert.equal(judge(stranger, allowing).decision, 'allow');
  assert.equal(compileParts({ documents: [agents] }).problems.length, 0);
});

test('a result loses what a rule redacts, and no contract or identity objects to that', () => {
  const documents = [
    {
      contract: {
        tool_name: 'find',
        accepts: {},
        emits: { tags: ['internal'] },
        side_effects: { reversible: true, requires_approval: false },
      },
    },
    { agent: { agent_id: 'agent', clearance_tags: ['internal'] } },
  ];
  const mask = { name: 'mask', boundary: 'action', data_tags: ['personal'], action: 'redact' };
  const rules = [{ ...mask, condition: { phase: 'response' } }];
  const content = { kind: 'json', value: { id: 7, mail: 'jane.doe@corp-mail.io' } } as const;
  const requested = buildTestCrossing({
    boundary: 'action',
    phase: 'response',
    tool: 'find',
    agent_id: 'agent',
    content,
  });
  const masked = judge(requested, buildTestPolicy({ rules, documents }));
  assert.deepEqual([masked.decision, masked.rule], ['modify', 'mask']);
  assert.deepEqual(masked.content?.kind === 'json' && masked.content.value, { id: 7, mail: '[REDACTED]' });
  const declared = judge(
    { ...requested, declared_tags: ['personal.pii'] },
    buildTestPolicy({ rules, documents }),
  );
  assert.equal(declared.decision, 'block');
  assert.equal(judge(requested, buildTestPolicy({ documents })).decision, 'block');
});
