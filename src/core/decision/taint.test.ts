import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { buildTestCrossing, buildTestPolicy } from '../testing/policies.ts';
import { ACTIONS, type Action, type Crossing, PHASES, type Tag } from '../types/index.ts';
import { evaluate } from './evaluate.ts';
import { judge } from './judge.ts';
import { usesSessionTags } from './taint.ts';

const SSN = ['536', '22', '8412'].join('-');

const contract = (toolName: string, more: object = {}) => ({
  tool_name: toolName,
  accepts: {},
  emits: {},
  side_effects: { reversible: true, requires_approval: false },
  ...more,
});

const CONTRACTS = {
  contracts: [
    contract('web.read', { emits: { tags: ['untrusted.web'] } }),
    contract('crm.find', { emits: { tags: ['personal.pii'] } }),
    contract('mail.send', {
      side_effects: { reversible: false, requires_approval: false, egress: true },
    }),
  ],
};

const NO_WAY_OUT = {
  name: 'no-way-out',
  boundary: 'action',
  data_tags: ['egress.tool'],
  action: 'block',
  condition: { session_tags: ['untrusted.web', 'personal.*'] },
  reason: 'Personal data must not leave after a web page was read.',
};

const call = (tool: string, more: Partial<Crossing> = {}): Crossing =>
  buildTestCrossing({
    boundary: 'action',
    phase: 'request',
    content: { kind: 'json', value: {} },
    tool,
    ...more,
  });

test('a rule about the session fits when each of its tags, or a descendant, was read', () => {
  const policy = buildTestPolicy({ rules: [NO_WAY_OUT], documents: [CONTRACTS] });
  const rows: [readonly Tag[] | undefined, 'allow' | 'block'][] = [
    [undefined, 'allow'],
    [[], 'allow'],
    [['untrusted.web'], 'allow'],
    [['personal.pii.email'], 'allow'],
    [['untrusted', 'personal.pii'], 'allow'],
    [['untrusted.website', 'personal.pii'], 'allow'],
    [['untrusted.web', 'personal'], 'block'],
    [['untrusted.web.search', 'personal.pii.email', 'secret'], 'block'],
  ];
  for (const [sessionTags, decision] of rows) {
    const known = sessionTags === undefined ? {} : { session_tags: sessionTags };
    const verdict = judge(call('mail.send', known), policy);
    assert.equal(verdict.decision, decision, String(sessionTags));
    // Control: a tool without egress continues regardless of the session's taint tags.
    assert.equal(judge(call('crm.find', known), policy).decision, 'allow');
    if (decision === 'allow') assert.deepEqual(verdict.violations, []);
    else
      assert.deepEqual(verdict.violations, [
        {
          type: 'flow_violation',
          rule: 'no-way-out',
          severity: 'high',
          path: null,
          reason: NO_WAY_OUT.reason,
        },
      ]);
  }
  assert.equal(rows.length, 8);
});

test('a crossing that goes through adds what was read by it, and nothing else does', () => {
  const policy = buildTestPolicy({
    rules: [
      NO_WAY_OUT,
      {
        name: 'mark',
        boundary: 'action',
        condition: { tool: 'search.*' },
        session: { add: ['untrusted.web'] },
      },
      { name: 'stop', boundary: 'action', action: 'block', condition: { tool: 'search.bad' } },
      {
        name: 'fresh',
        boundary: 'input',
        condition: { agent: 'fresh' },
        session: { reset: true, add: ['internal'] },
      },
    ],
    documents: [CONTRACTS],
  });
  const result = (tool: string, text: string, more: Partial<Crossing> = {}) =>
    call(tool, { phase: 'response', content: { kind: 'text', text }, ...more });
  const rows: [string, Crossing, readonly Tag[] | null, (readonly Tag[] | 'all')?][] = [
    ['a call adds what its tool gives out', call('web.read'), ['untrusted.web']],
    ['a result too', result('web.read', 'Nothing much.'), ['untrusted.web']],
    [
      'and what is found in it',
      result('web.read', 'Mail a@b-corp.io'),
      ['personal.pii.email', 'untrusted.web'],
    ],
    ['what is declared of it', result('other', 'x', { declared_tags: ['Personal.X'] }), ['personal.x']],
    ['what is found in arguments was read before', call('x', { content: { kind: 'text', text: SSN } }), null],
    [
      'what is masked is not read',
      buildTestCrossing({ content: { kind: 'text', text: `SSN ${SSN}` } }),
      null,
    ],
    [
      'an answer reads nothing',
      buildTestCrossing({ boundary: 'output', content: { kind: 'text', text: 'Hi' } }),
      null,
    ],
    [
      'a prompt',
      buildTestCrossing({ declared_tags: ['personal.x'], content: { kind: 'text', text: 'Hi' } }),
      null,
    ],
    ['a mark', call('search.web'), ['untrusted.web']],
    ['what is blocked', call('search.bad'), null],
    ['a clean result', result('other', 'Nothing much.'), null],
    ['a reset', buildTestCrossing({ agent_id: 'fresh' }), ['internal'], 'all'],
    [
      'a message',
      buildTestCrossing({
        boundary: 'action',
        phase: 'message',
        tool: 'agent_to_agent',
        content: { kind: 'text', text: 'Mail a@b-corp.io' },
      }),
      ['personal.pii.email'],
    ],
  ];
  rows.push([
    'and with a message all that its sender had read',
    buildTestCrossing({
      boundary: 'action',
      phase: 'message',
      tool: 'agent_to_agent',
      content: { kind: 'text', text: 'Go on.' },
      session_tags: ['untrusted.web'],
    }),
    ['untrusted.web'],
  ]);
  for (const [name, crossing, add, remove = []] of rows) {
    const { taint_change } = judge(crossing, policy);
    assert.deepEqual(taint_change, add === null ? null : { add, remove }, name);
  }
  assert.equal(rows.length, 14);
});

test('marks take tags away where they fit', () => {
  const policy = buildTestPolicy({
    rules: [
      NO_WAY_OUT,
      {
        name: 'reviewed',
        boundary: 'action',
        condition: { tool: 'review', session_tags: ['untrusted'] },
        session: { remove: ['untrusted.*'] },
      },
    ],
  });
  const change = (sessionTags: readonly Tag[]) =>
    judge(call('review', { session_tags: sessionTags }), policy).taint_change;
  assert.deepEqual(change(['untrusted.web']), { add: [], remove: ['untrusted'] });
  assert.equal(change(['personal']), null);
});

test('sessions are loaded only if a rule of the tenant uses session tags', () => {
  const mark = { name: 'mark', boundary: 'action', session: { add: ['untrusted.web'] } };
  const when = {
    name: 'when',
    boundary: 'action',
    action: 'block',
    condition: { when: '"a" in session_tags' },
  };
  const rows: [Parameters<typeof buildTestPolicy>[0], boolean, boolean][] = [
    [{}, false, false],
    [{ rules: [mark], documents: [CONTRACTS] }, false, false],
    [{ rules: [NO_WAY_OUT] }, true, true],
    [{ rules: [when] }, true, true],
    [{ tenants: { acme: [NO_WAY_OUT] } }, true, false],
    [{ rules: [{ ...NO_WAY_OUT, enabled: false }] }, false, false],
  ];
  for (const [parts, acme, other] of rows) {
    const policy = buildTestPolicy(parts);
    assert.deepEqual([usesSessionTags(policy, 'acme'), usesSessionTags(policy, 'other')], [acme, other]);
    // If no rule uses session tags, no taint tags are stored.
    if (!other) assert.equal(judge(call('web.read', { tenant_id: 'other' }), policy).taint_change, null);
  }
  assert.equal(rows.length, 6);
});

const TAGS = ['a', 'secret', 'personal.pii', 'ours'] as const;
const READ = ['a', 'a.b', 'untrusted.web'] as const;
const tags = fc.subarray([...TAGS]);

const drawnRule = (actions: readonly Action[], read: fc.Arbitrary<string[]>) =>
  fc.record({
    action: fc.constantFrom(...actions),
    data_tags: fc.subarray<string>([...TAGS], { maxLength: 2 }),
    session_tags: read,
    tool: fc.constantFrom(null, null, 'x', 'y'),
    priority: fc.nat(3),
  });

const usualRules = fc.array(drawnRule(['allow', 'flag', 'require_approval', 'block'], fc.constant([])), {
  maxLength: 3,
});
const flowRules = fc.array(
  drawnRule(['flag', 'require_approval', 'block'], fc.subarray([...READ], { minLength: 1 })),
  { minLength: 1, maxLength: 3 },
);

function getRule(
  drawn: { data_tags: string[]; session_tags: string[]; tool: string | null },
  at: number,
): object {
  const { data_tags, session_tags, tool, ...rest } = drawn;
  return {
    name: `rule-${at}`,
    boundary: ['input', 'action'],
    ...rest,
    ...(data_tags.length > 0 && { data_tags }),
    condition: {
      phase: PHASES,
      ...(session_tags.length > 0 && { session_tags }),
      ...(tool !== null && { tool }),
    },
  };
}

const rank = (action: (typeof ACTIONS)[number]) => ACTIONS.indexOf(action);

test('more tags in a session never loosen anything, unless a rule allows because of them', () => {
  let runs = 0;
  let stricter = 0;
  fc.assert(
    fc.property(
      usualRules,
      flowRules,
      tags,
      fc.subarray([...READ]),
      fc.constantFrom(...READ),
      (usual, flow, declaredTags, sessionTags, more) => {
        const policy = buildTestPolicy({ rules: [...flow, ...usual].map(getRule) });
        const requested = {
          boundary: 'action',
          phase: 'request',
          declared_tags: declaredTags,
          tool: 'x',
        } as const;
        const before = judge(buildTestCrossing({ ...requested, session_tags: sessionTags }), policy);
        const after = judge(
          buildTestCrossing({ ...requested, session_tags: [...sessionTags, more] }),
          policy,
        );
        runs += 1;
        if (rank(after.action) > rank(before.action)) stricter += 1;
        assert.ok(rank(after.action) >= rank(before.action), `${before.action} became ${after.action}`);
        assert.ok(before.decision !== 'block' || after.decision === 'block');
      },
    ),
    { numRuns: 400, seed: 1 },
  );
  assert.ok(runs >= 400 && stricter > 10, `${runs} runs, ${stricter} stricter`);
});

test('a rule that allows because of what was read does loosen: the law can fail', () => {
  const allow = { name: 'a', boundary: 'action', action: 'allow', condition: { session_tags: ['reviewed'] } };
  const policy = buildTestPolicy({ rules: [allow, { name: 'b', boundary: 'action', action: 'block' }] });
  assert.equal(judge(call('x'), policy).decision, 'block');
  assert.equal(judge(call('x', { session_tags: ['reviewed'] }), policy).decision, 'allow');
});

test('a rule about the session hides no other, milder or not', () => {
  const flag = {
    name: 'note',
    boundary: 'input',
    data_tags: ['secret'],
    action: 'flag',
    condition: { session_tags: ['a'] },
  };
  const own = {
    name: 'own',
    boundary: 'input',
    data_tags: ['ours'],
    action: 'flag',
    condition: { session_tags: ['a'] },
  };
  const policy = buildTestPolicy({ rules: [flag, own] });
  const requested = (dataTags: readonly Tag[]) =>
    evaluate(policy, { boundary: 'input', data_tags: dataTags, tenant_id: 't', session_tags: ['a'] });
  // The built-in rule blocks secrets in input, and the default blocks tags that no rule names.
  assert.equal(requested(['secret.credential']), 'block');
  assert.equal(requested(['ours']), 'block');
});
