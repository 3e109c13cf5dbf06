import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judge } from '../../decision/judge.ts';
import { usesSessionTags } from '../../decision/taint.ts';
import { celEvaluator } from '../../policy/conditions/cel.ts';
import { policyPacks } from '../../policy/templates/index.ts';
import { isFactTag } from '../../tags.ts';
import {
  buildGeneratedPolicy,
  crossingArbitrary,
  type GeneratedParts,
  policyParts,
} from '../../testing/generated.ts';
import { buildTestPolicy, type PolicyParts } from '../../testing/policies.ts';
import type { Crossing, Policy, Rule, Tag, Verdict } from '../../types/index.ts';
import { lintCompiledPolicy } from './lint.ts';
import { DEAD_RULE_REMARKS, REMARK_LEVELS, type RemarkId } from './remark.ts';

const rule = (name: string, action: string, more: object = {}) => ({
  name,
  boundary: 'input',
  data_tags: ['personal'],
  action,
  ...more,
});

const contract = (toolName: string, more: object = {}) => ({
  contract: {
    tool_name: toolName,
    accepts: {},
    emits: {},
    side_effects: { reversible: true, requires_approval: false },
    ...more,
  },
});

const onArguments = (when: string, name = 'a') => ({
  ...{ name, boundary: 'action', action: 'block' },
  condition: { tools: ['pay'], when },
});
const PAY_SCHEMA = {
  properties: { amount: { type: 'number' }, order: { properties: { id: { type: 'string' } } } },
};

interface Row {
  readonly parts: PolicyParts;
  readonly tenants?: readonly string[];
  /** Expected id and message of each remark. */
  readonly expect: readonly (readonly [RemarkId, RegExp])[];
}

const email = ['personal.pii.email'];
const ROWS: Readonly<Record<string, Row>> = {
  'nothing to say': {
    parts: { rules: [rule('a', 'block'), rule('b', 'flag', { data_tags: ['secret'] })] },
    expect: [],
  },
  'an exception before its rule': {
    parts: { rules: [rule('a', 'allow', { data_tags: email }), rule('b', 'block')] },
    expect: [],
  },
  'a rule behind one that covers its tag': {
    parts: { rules: [rule('a', 'allow'), rule('b', 'block', { data_tags: email })] },
    expect: [
      ['rule-dead', /`b` never applies: `a` before it matches everything that it matches, with `allow`/],
    ],
  },
  'the same action': {
    parts: { rules: [rule('a', 'block'), rule('b', 'block', { data_tags: email })] },
    expect: [['rule-redundant', /`b` never applies/]],
  },
  'two rules on the same': {
    parts: { rules: [rule('a', 'allow'), rule('b', 'block')] },
    expect: [
      [
        'rule-contradicted',
        /`b` has the action `block` and matches exactly what `a` before it matches with `allow`/,
      ],
    ],
  },
  'priority turns it round': {
    parts: { rules: [rule('a', 'allow'), rule('b', 'block', { data_tags: email, priority: 1 })] },
    expect: [],
  },
  'covered by two together': {
    parts: {
      rules: [
        rule('a', 'flag'),
        rule('b', 'flag', { data_tags: ['secret'] }),
        rule('c', 'block', { data_tags: [...email, 'secret.credential'] }),
      ],
    },
    expect: [['rule-dead', /`c` never applies: `a`, `b`/]],
  },
  'a part of it': {
    parts: { rules: [rule('a', 'flag'), rule('b', 'block', { data_tags: [...email, 'secret'] })] },
    expect: [['rule-partly-dead', /`b` never applies for `personal\.pii\.email`: `a`/]],
  },
  'one boundary of it': {
    parts: {
      rules: [rule('a', 'flag'), rule('b', 'block', { boundary: ['input', 'output'], data_tags: email })],
    },
    expect: [['rule-partly-dead', /never applies for|never applies at `input`/]],
  },
  'another boundary': {
    parts: { rules: [rule('a', 'flag'), rule('b', 'block', { boundary: 'output' })] },
    expect: [],
  },
  'a rule in monitor mode hides none': {
    parts: { rules: [rule('a', 'allow', { enforcement: 'monitor' }), rule('b', 'block')] },
    expect: [],
  },
  'a rule with a condition hides none': {
    parts: { rules: [rule('a', 'allow', { condition: { when: 'findings > 1' } }), rule('b', 'block')] },
    expect: [],
  },
  'a rule of a tenant hides none of all': {
    parts: { tenants: { acme: [rule('a', 'allow')] }, rules: [rule('b', 'block')] },
    expect: [],
  },
  'wildcards of tools': {
    parts: {
      rules: [
        rule('a', 'allow', { condition: { tools: ['mail.*', 'x'] } }),
        rule('b', 'block', { condition: { tools: ['mail.send.*', 'x'] } }),
        rule('c', 'block', { condition: { tools: ['mai*'] } }),
      ],
    },
    expect: [['rule-dead', /`b` never applies/]],
  },
  'agents: one of many, and all who act': {
    parts: {
      rules: [
        rule('a', 'allow', { condition: { agents: ['bot*'] } }),
        rule('b', 'block', { condition: { agents: ['bot-1'] } }),
        rule('c', 'allow', { condition: { agents: ['bot-2'] } }),
      ],
    },
    expect: [['rule-redundant', /`c` never applies/]],
  },
  'rules about the crossing': {
    parts: {
      rules: [
        { name: 'a', boundary: 'action', action: 'block', condition: { tools: ['*'] } },
        { name: 'b', boundary: 'action', action: 'allow', condition: { tools: ['shell'] } },
        { name: 'c', boundary: 'action', action: 'allow' },
      ],
    },
    expect: [['rule-dead', /`b` never applies: `a`/]],
  },
  'a text in place that is itself forbidden': {
    parts: {
      rules: [
        rule('a', 'block', {
          boundary: 'output',
          fallback_template: 'Ask ann.holm@acme-mail.io about {rule}.',
        }),
      ],
    },
    expect: [['fallback-forbidden', /`a` would itself be blocked by `a`/]],
  },
  'a text in place that is fine': {
    parts: { rules: [rule('a', 'block', { boundary: 'output', fallback_template: 'Ask us about {rule}.' })] },
    expect: [],
  },
  'what is offered instead of a dangerous command': {
    parts: { rules: [rule('a', 'block', { boundary: 'action', data_tags: ['sql.select'] })] },
    expect: [['safer-forbidden', /`a` may block too what is offered instead.*SELECT/]],
  },
  'a tag that nothing has': {
    parts: { rules: [rule('a', 'block', { data_tags: ['personal.pii.emial', 'own.tag'] })] },
    expect: [
      ['unknown-tag', /did you mean `personal\.pii\.email`\?$/],
      ['unknown-tag', /`own\.tag`.*the rule never matches\.$/],
    ],
  },
  'a detector that does not exist': {
    parts: {
      rules: [
        rule('a', 'block', { data_tags: ['dangerous'], condition: { rule_ids: ['git.push_forc', 'git.*'] } }),
      ],
    },
    expect: [['unknown-detector', /`git\.push_forc`, and there is none; did you mean `git\.push_force`\?$/]],
  },
  'a group of tags that is misspelt': {
    parts: {
      rules: [rule('a', 'block', { data_tags: ['secert'] }), rule('b', 'block', { data_tags: ['pii'] })],
    },
    expect: [
      ['unknown-tag', /did you mean `secret`\?$/],
      ['unknown-tag', /did you mean `personal\.pii`\?$/],
    ],
  },
  'tags of contracts, of which one is misspelt': {
    parts: {
      documents: [
        contract('crm', {
          accepts: { tags: ['order.number', 'personal'] },
          emits: { tags: ['persnal.pii'] },
        }),
      ],
    },
    expect: [['unknown-tag', /`persnal\.pii`.*did you mean `personal\.pii`\?$/]],
  },
  'a tag that a contract has': {
    parts: {
      rules: [rule('a', 'block', { data_tags: ['own'] })],
      documents: [contract('crm', { emits: { tags: ['own.tag'] } })],
    },
    expect: [],
  },
  'a tool that no contract is for': {
    parts: {
      rules: [rule('a', 'block', { condition: { tools: ['crn', 'cr*', 'agent_to_agent'] } })],
      documents: [contract('crm'), { agent: { agent_id: 'bot', tools: ['mail'] } }],
    },
    expect: [
      ['undeclared-tool', /rule `a` names the tool `crn`, and no contract is for it; did you mean `crm`\?$/],
      ['undeclared-tool', /identity of `bot` names the tool `mail`/],
    ],
  },
  'an agent that no identity is for': {
    parts: {
      rules: [rule('a', 'block', { condition: { agents: ['bott', 'bo*'] } })],
      documents: [{ agent: { agent_id: 'bot' } }, contract('crm', { allowed_agents: ['ann'] })],
    },
    expect: [
      ['undeclared-agent', /rule `a` names the agent `bott`/],
      ['undeclared-agent', /contract of `crm` names the agent `ann`/],
    ],
  },
  'a tenant for which nobody may act': {
    parts: {
      tenants: { acme: [rule('a', 'block'), rule('b', 'flag', { data_tags: ['secret'] })], globex: [] },
    },
    tenants: ['globex'],
    expect: [['tenant-without-users', /The tenant `acme` has rules/]],
  },
  'an argument that the contract has not': {
    parts: {
      rules: [onArguments('args.amuont > 5'), onArguments('has(args.order) && args.order.id == "1"', 'b')],
      documents: [contract('pay', { arguments: PAY_SCHEMA })],
    },
    expect: [
      ['unknown-argument', /`a` reads the argument `amuont`, .* `pay` has not; did you mean `amount`\?$/],
    ],
  },
  'arguments without a schema': {
    parts: { rules: [onArguments('args.amount > 5')] },
    expect: [['argument-without-schema', /`a` reads arguments of `pay`, and no contract has a schema/]],
  },
  'tags that mark a source and limit nothing': {
    parts: {
      documents: [
        contract('read_mail', { emits: { tags: ['private.mail', 'untrusted.mail'] } }),
        contract('read_page', { emits: { tags: ['untrusted.web'] } }),
        contract('read_file', { emits: { tags: ['private.file', 'personal.pii'] } }),
      ],
    },
    expect: [['tags-mark-only', /^The contract of `read_mail` emits source tags only/]],
  },
};

for (const [name, { parts, tenants = null, expect }] of Object.entries(ROWS)) {
  test(`lint: ${name}`, () => {
    const remarks = lintCompiledPolicy({ policy: buildTestPolicy(parts), conditions: celEvaluator, tenants });
    assert.deepEqual(
      remarks.map(({ id }) => id),
      expect.map(([id]) => id),
      JSON.stringify(remarks.map(({ message }) => message)),
    );
    for (const [at, [, words]] of expect.entries()) assert.match(remarks[at]!.message, words);
  });
}

test('lint: every kind of remark is shown to be made', () => {
  const made = new Set(Object.values(ROWS).flatMap(({ expect }) => expect.map(([id]) => id)));
  assert.deepEqual([...made].sort(), Object.keys(REMARK_LEVELS).sort());
  assert.equal(Object.keys(ROWS).length, 30);
});

/**
 * Generates policies of which half have no conditions on tools and agents, so that rules shadow each other more
 * often.
 */
const crowded = fc.record({ parts: policyParts, plain: fc.boolean() }).map(({ parts, plain }) => ({
  ...parts,
  rules: parts.rules.map((each) => (plain ? { ...each, condition: {} } : each)),
}));

/** The only rule that uses session taint tags never applies. Without it, no taint tags are stored. */
const ONLY_ONE_ASKS: [GeneratedParts, Crossing[]] = [
  {
    rules: [
      rule('r0', 'allow', { priority: 1, enforcement: 'enforce', data_tags: ['own.tag'], condition: {} }),
      rule('r1', 'allow', {
        priority: 1,
        enforcement: 'enforce',
        data_tags: ['own.tag'],
        condition: { when: 'has_tag(session_tags, "untrusted.web")' },
      }),
    ] as unknown as GeneratedParts['rules'],
    contracts: [],
    identities: [],
    settings: {
      default_action: 'allow',
      builtin_rules: false,
      undeclared_tools: 'allow',
      unknown_agents: 'allow',
    },
  },
  [
    {
      boundary: 'input',
      phase: null,
      content: { kind: 'text', text: 'Write to anna.holm@acme-mail.io' },
      tenant_id: 'acme',
      agent_id: 'bot',
      session_id: null,
      source_agent_id: null,
      destination_agent_id: null,
      tool: null,
      declared_tags: [],
      now_ms: 0,
    },
  ],
];

const RUNS = process.env.NIGHTLY === undefined ? 150 : 500;

test('lint: removing a rule that never matches changes no answer', () => {
  const ran = { all: 0, dead: 0 };
  fc.assert(
    fc.property(crowded, fc.array(crossingArbitrary, { minLength: 4, maxLength: 4 }), (parts, some) => {
      const policy = buildGeneratedPolicy(parts);
      const remarks = lintCompiledPolicy({ policy, conditions: null, tenants: null });
      const dead = new Set(
        remarks.filter(({ id }) => DEAD_RULE_REMARKS.includes(id)).map(({ record }) => record),
      );
      ran.all += 1;
      if (dead.size === 0) return;
      ran.dead += 1;
      const lean = buildGeneratedPolicy({
        ...parts,
        rules: parts.rules.filter((each) => !isDead(each, dead)),
      });
      assert.equal(lean.rules.length, policy.rules.length - dead.size);
      for (const crossing of some)
        assert.deepEqual(
          answer(crossing, lean),
          answer(crossing, policy, usesSessionTags(lean, crossing.tenant_id)),
        );
    }),
    { numRuns: RUNS, examples: [ONLY_ONE_ASKS] },
  );
  assert.ok(ran.all >= RUNS && ran.dead > RUNS / 20, JSON.stringify(ran));
});

const judged = (crossing: Crossing, policy: Policy) => judge(crossing, policy, null, celEvaluator);

type Written = GeneratedParts['rules'][number];

function isDead(written: Written, dead: ReadonlySet<object>): boolean {
  const tenant = 'tenant_id' in written ? written.tenant_id : null;
  return [...dead].some((each) => {
    const { name, tenant_id } = each as Rule;
    return name === written.name && tenant_id === tenant;
  });
}

/**
 * Returns what the client can observe of a verdict. Facts are collected if any rule names them, and taint tags are
 * stored if any rule uses them, even a rule that never applies. Both appear in the record only.
 */
function answer(crossing: Crossing, policy: Policy, isSessionAsked = true): object {
  const { policy_hash: _, data_tags, taint_change, ...rest }: Verdict = judged(crossing, policy);
  const open = (tags: readonly Tag[]): readonly Tag[] => tags.filter((tag) => !isFactTag(tag));
  const kept = isSessionAsked && taint_change !== null;
  return {
    ...rest,
    data_tags: open(data_tags),
    session_change: kept ? { ...taint_change, add: open(taint_change.add) } : null,
  };
}

test('lint: the packs have no errors', () => {
  let ran = 0;
  for (const { name, document } of policyPacks) {
    const policy = buildTestPolicy({ documents: [document] });
    const remarks = lintCompiledPolicy({ policy, conditions: celEvaluator, tenants: null });
    const errors = remarks.filter(({ id }) => REMARK_LEVELS[id] === 'error');
    assert.deepEqual(
      errors.map(({ message }) => message),
      [],
      name,
    );
    ran += 1;
  }
  assert.ok(ran >= 4);
});
