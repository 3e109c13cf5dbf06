import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validate } from '@cfworker/json-schema';
import { EARLIER_NAME } from '../../names.ts';
import { buildTestPolicy, compileParts } from '../../testing/policies.ts';
import { buildDocumentSchema, DOCUMENT_KINDS } from '../schemas.ts';
import { parseDurationMs } from './duration.ts';
import { hashPolicy } from './policy-hash.ts';
import { hashTextPortably } from './portable-hash.ts';

const RULE = { name: 'r', boundary: 'input', data_tags: ['secret'], action: 'block' };
const CONTRACT = {
  tool_name: 't',
  accepts: {},
  emits: {},
  side_effects: { reversible: true, requires_approval: false },
};
const MEMORY = { name: 'm', scope: 'session', fields: [{ name: 'f', type: 'string', tag: 'internal' }] };

/** Rules, documents, the path of the first problem, and its message. */
type Row = [readonly unknown[], readonly unknown[], string, RegExp];

const WRONG: Row[] = [
  [['text'], [], 'policies[0]', /must be a mapping/],
  [[undefined], [], 'policies[0]', /no plain data/],
  [[{ ...RULE, name: undefined }], [], 'policies[0].name', /is missing/],
  [[{ ...RULE, name: '' }], [], 'policies[0].name', /must not be empty/],
  [[{ ...RULE, name: 'a\nb' }], [], 'policies[0].name', /must be a name/],
  [
    [{ ...RULE, boundry: 'input' }],
    [],
    'policies[0].boundry',
    /unknown key `policies\[0\]\.boundry`; did you mean `boundary`/,
  ],
  [[{ ...RULE, boundary: 'inputs' }], [], 'policies[0].boundary', /must be `input`, `output` or `action`/],
  [[{ ...RULE, boundary: [] }], [], 'policies[0].boundary', /or a list of them/],
  [[{ ...RULE, action: 'blok' }], [], 'policies[0].action', /did you mean `block`/],
  [[{ ...RULE, action: 'deny' }], [], 'policies[0].action', /must be one of/],
  [[{ ...RULE, data_tags: 'secret' }], [], 'policies[0].data_tags', /must be a list/],
  [[{ ...RULE, data_tags: [] }], [], 'policies[0].data_tags', /at least 1 entry/],
  [[{ ...RULE, data_tags: ['a b'] }], [], 'policies[0].data_tags[0]', /must be a tag/],
  [[{ ...RULE, priority: -1 }], [], 'policies[0].priority', /at least 0/],
  [[{ ...RULE, priority: 1.5 }], [], 'policies[0].priority', /whole number/],
  [[{ ...RULE, severity: 'hgih' }], [], 'policies[0].severity', /did you mean `high`/],
  [[{ ...RULE, enforcement: 'observe' }], [], 'policies[0].enforcement', /must be one of/],
  [[{ ...RULE, enabled: 'no' }], [], 'policies[0].enabled', /`true` or `false`/],
  [[{ ...RULE, condition: { tool: 7 } }], [], 'policies[0].condition.tool', /must be a text/],
  [[{ ...RULE, condition: { when: '' } }], [], 'policies[0].condition.when', /must not be empty/],
  [
    [{ ...RULE, condition: { when: 'tol == "x"' } }],
    [],
    'policies[0].condition.when',
    /unknown variable: tol/,
  ],
  [[{ ...RULE, condition: { when: 'tool' } }], [], 'policies[0].condition.when', /true or false.*`string`/],
  [[{ ...RULE, condition: { session_tags: [] } }], [], 'policies[0].condition.session_tags', /at least 1/],
  [
    [{ ...RULE, condition: { session_tags: ['a*'] } }],
    [],
    'policies[0].condition.session_tags[0]',
    /must be a tag/,
  ],
  [[{ ...RULE, action: undefined }], [], 'policies[0].action', /is missing/],
  [[{ ...RULE, action: undefined, session: {} }], [], 'policies[0].session', /says nothing/],
  [[{ ...RULE, session: { reset: false } }], [], 'policies[0].session', /says nothing/],
  [
    [{ ...RULE, session: { remove: ['a'], reset: true } }],
    [],
    'policies[0].session.remove',
    /keep one of them/,
  ],
  [
    [{ ...RULE, action: undefined, session: { add: ['a'] }, enforcement: 'monitor' }],
    [],
    'policies[0].enforcement',
    /decides nothing/,
  ],
  [[{ ...RULE, condition: { data_tags: ['a'] } }], [], 'policies[0].condition.data_tags', /keep one of them/],
  [
    [{ ...RULE, condition: { phase: 'response' } }],
    [],
    'policies[0].condition.phase',
    /belongs to the boundary `action`/,
  ],
  [[{ ...RULE, condition: { direction: 'inbound' } }], [], 'policies[0].condition.direction', /unknown key/],
  [
    [{ ...RULE, data_tags: undefined, action: 'redact' }],
    [],
    'policies[0].action',
    /nothing that it could mask/,
  ],
  [
    [{ ...RULE, fallback_template: '{original}' }],
    [],
    'policies[0].fallback_template',
    /give out what is blocked/,
  ],
  [[{ ...RULE, fallback_template: '{nam}' }], [], 'policies[0].fallback_template', /does not exist/],
  [[{ ...RULE, approval: { ttl: '1 hour' } }], [], 'policies[0].approval.ttl', /must be a duration/],
  [
    [RULE, RULE],
    [],
    'policies[1]',
    /second rule named `r`; the first is in `service.yaml` at `policies\[0\]`/,
  ],
  [[RULE], [{ policy: RULE }], 'policy', /second rule named `r`/],
  [[], ['text'], '', /must be a mapping/],
  [[], [{}], '', /has none of/],
  [[], [{ policy: RULE, agents: [] }], '', /together/],
  [[], [{ policies: [] }], 'policies', /at least one entry/],
  [[], [{ policys: [RULE] }], 'policys', /did you mean `policy`/],
  [[], [{ version: 'v1', policy: RULE }], 'version', /must be `v1alpha1`/],
  [[], [{ policies: [RULE, { ...RULE, name: 's', tool: 'x' }] }], 'policies[1].tool', /unknown key/],
  [[], [{ contract: { accepts: {} } }], 'contract.tool_name', /is missing/],
  [
    [],
    [{ contract: { tool_name: 't', side_effects: {} } }],
    'contract.side_effects.reversible',
    /is missing/,
  ],
  [
    [],
    [{ contract: { ...CONTRACT, accepts: { field: ['a'] } } }],
    'contract.accepts.field',
    /did you mean `fields`/,
  ],
  [
    [],
    [{ contract: { ...CONTRACT, accepts: { fields: ['a..b'] } } }],
    'contract.accepts.fields[0]',
    /name of a field/,
  ],
  [
    [],
    [{ contract: { ...CONTRACT, stores: { retention: 'soon' } } }],
    'contract.stores.retention',
    /duration/,
  ],
  [
    [],
    [{ contract: { ...CONTRACT, arguments: { typ: 'object' } } }],
    'contract.arguments.typ',
    /did you mean `type`/,
  ],
  [[], [{ contracts: [CONTRACT, CONTRACT] }], 'contracts[1]', /second contract named `t`/],
  [[], [{ agent: { agent_id: '' } }], 'agent.agent_id', /must not be empty/],
  [[], [{ agents: [{ agent_id: 'a' }, { agent_id: 'a' }] }], 'agents[1]', /second identity named `a`/],
  [[], [{ memory: { ...MEMORY, scope: 'local' } }], 'memory.scope', /must be one of/],
  [
    [],
    [{ memory: { ...MEMORY, fields: [...MEMORY.fields, ...MEMORY.fields] } }],
    'memory.fields[1].name',
    /already defined above/,
  ],
  [[], [{ memory: { ...MEMORY, value_bytes_max: 0 } }], 'memory.value_bytes_max', /at least 1/],
  [
    [],
    [{ memory: { ...MEMORY, fields: [{ ...MEMORY.fields[0], value_bytes_max: 8_388_609 }] } }],
    'memory.fields[0].value_bytes_max',
    /at most 8388608/,
  ],
  [
    [],
    [
      {
        memory: {
          ...MEMORY,
          max_entries: 1,
          fields: ['a', 'b'].map((name) => ({ ...MEMORY.fields[0], name, required: true })),
        },
      },
    ],
    'memory.max_entries',
    /less than the number of required fields, 2/,
  ],
  [[], [{ memories: [MEMORY, MEMORY] }], 'memories[1]', /second memory schema/],
];

test('an error has its path and a message, and there is no policy', () => {
  for (const [rules, documents, path, message] of WRONG) {
    const { policy, problems } = compileParts({ rules, documents });
    assert.equal(policy, null, path);
    const [first] = problems;
    assert.ok(first !== undefined && first.level === 'error');
    assert.equal(first.path, path, first.message);
    assert.match(first.message, message);
    assert.match(first.message, /^(?:unknown key )?`.*[.?]$/s);
    assert.equal(first.file, rules.length > 0 && documents.length === 0 ? 'service.yaml' : 'document-0.yaml');
  }
  assert.equal(WRONG.length, 60);
});

test('every problem is reported, not only the first', () => {
  const { problems } = compileParts({
    rules: [
      { nam: 'x', boundary: 'nowhere' },
      { ...RULE, action: 'x', condition: { when: '1', extra: 1 } },
    ],
    documents: [
      { contract: { ...CONTRACT, emits: 1, arguments: { typo: 1 } } },
      'text',
      { version: 2, agents: [{}] },
    ],
  });
  assert.deepEqual(problems.map(({ file, path }) => `${file}: ${path}`).sort(), [
    'document-0.yaml: contract.arguments.typo',
    'document-0.yaml: contract.emits',
    'document-1.yaml: ',
    'document-2.yaml: agents[0].agent_id',
    'document-2.yaml: version',
    'service.yaml: policies[0].action',
    'service.yaml: policies[0].boundary',
    'service.yaml: policies[0].nam',
    'service.yaml: policies[0].name',
    'service.yaml: policies[1].action',
    'service.yaml: policies[1].condition.extra',
    'service.yaml: policies[1].condition.when',
  ]);
});

test('a message repeats a short word, and describes what may be a credential', () => {
  const key = ['sk', 'ABCDEF1234567890'].join('-');
  const { problems } = compileParts({ rules: [{ ...RULE, action: key, name: `${key}\n` }] });
  assert.equal(problems.length, 2);
  assert.ok(!JSON.stringify(problems).includes(key));
  assert.match(problems.map(({ message }) => message).join(' '), /it is a string of 19 characters/);
  const [word] = compileParts({ rules: [{ ...RULE, action: 'deny' }] }).problems;
  assert.match(word?.message ?? '', /it is the string `deny`; did you mean `block`\?$/);
});

test('another program’s file is left out with a warning; our own ways to name the version are not', () => {
  for (const apiVersion of ['apps/v1', 'v1', 'v1beta1', 'networking.k8s.io/v1', 3]) {
    const { policy, problems } = compileParts({ documents: [{ apiVersion, kind: 'Deployment', spec: {} }] });
    assert.ok(policy !== null);
    assert.deepEqual(
      problems.map(({ level, path }) => [level, path]),
      [['warning', 'apiVersion']],
    );
  }
  for (const apiVersion of [
    'v1alpha1',
    'service/v1alpha1',
    'customshouse/v1alpha1',
    `${EARLIER_NAME}/v1alpha1`,
    'safety.example.com/v1alpha1',
  ]) {
    assert.equal(buildTestPolicy({ documents: [{ apiVersion, policy: RULE }] }).rules.length, 1);
  }
});

test('both forms of a rule compile to the same rule', () => {
  const one = {
    name: 'r',
    boundary: ['action'],
    data_tags: ['Secret'],
    action: 'block',
    condition: { tools: ['a'], agents: ['b'] },
  };
  const other = {
    name: 'r',
    boundary: 'action',
    action: 'block',
    condition: { data_tags: ['secret'], tool: 'a', agent: 'b' },
    'x-note': 1,
  };
  assert.deepEqual(buildTestPolicy({ rules: [one] }), buildTestPolicy({ rules: [other] }));
  const [rule] = buildTestPolicy({ rules: [one] }).rules;
  assert.deepEqual(rule, {
    name: 'r',
    boundaries: ['action'],
    phases: ['request', 'message'],
    data_tags: ['secret'],
    action: 'block',
    tenant_id: null,
    tools: ['a'],
    agents: ['b'],
    session_tags: [],
    when: null,
    priority: 100,
    reason: 'The rule `r` blocks this.',
    severity_min: null,
    severity: null,
    fallback_template: null,
    enforcement: 'enforce',
    approval: { ttl_ms: 3_600_000, min_approvals: 1 },
  });
});

test('inline rules come first, then documents; priority reorders and keeps the order of equals', () => {
  const named = (name: string, more: object = {}) => ({ ...RULE, name, ...more });
  const { rules } = buildTestPolicy({
    rules: [named('a'), named('b', { priority: 200 }), named('c', { enabled: false })],
    tenants: { acme: [named('a', { priority: 5 })] },
    documents: [{ policies: [named('d', { priority: 5 }), named('e', { tenant_id: 'acme' })] }],
  });
  assert.deepEqual(
    rules.map(({ name, tenant_id }) => [name, tenant_id]),
    [
      ['a', 'acme'],
      ['d', null],
      ['a', null],
      ['e', 'acme'],
      ['b', null],
    ],
  );
});

test('a policy is frozen to its leaves, and its hash is of its content', () => {
  const parts = {
    rules: [RULE],
    documents: [{ contract: CONTRACT }, { memory: MEMORY }, { agent: { agent_id: 'a' } }],
  };
  const policy = buildTestPolicy(parts);
  const open: unknown[] = [policy];
  let count = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === null || typeof at !== 'object') continue;
    assert.ok(Object.isFrozen(at));
    count += 1;
    open.push(...Object.values(at));
  }
  assert.ok(count > 100);
  assert.equal(policy.hash, hashPolicy(policy, hashTextPortably));
  assert.equal(policy.hash, buildTestPolicy(parts).hash);
  assert.notEqual(policy.hash, buildTestPolicy({ ...parts, rules: [] }).hash);
  assert.deepEqual(JSON.parse(JSON.stringify(policy)), policy);
});

test('a contract may be a schema alone and restricts nothing else', () => {
  const schema = { type: 'object', properties: { n: { type: 'integer' } } };
  const [bare] = buildTestPolicy({
    documents: [{ contract: { tool_name: 't', arguments: schema } }],
  }).contracts;
  const empty = {
    ...{ tool_name: 't', arguments: schema, accepts: {}, emits: {} },
    side_effects: { reversible: false, requires_approval: false },
  };
  assert.deepEqual(bare, buildTestPolicy({ documents: [{ contract: empty }] }).contracts[0]);
  const strict = buildTestPolicy({ documents: [{ contract: { ...empty, accepts: { tags: [] } } }] });
  assert.notDeepEqual(bare, strict.contracts[0]);
});

test('durations are milliseconds', () => {
  const cases: [string, number][] = [
    ['30s', 30_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['30d', 2_592_000_000],
    ['2w', 1_209_600_000],
  ];
  for (const [written, ms] of cases) assert.equal(parseDurationMs(written), ms);
  const { memory_schemas } = buildTestPolicy({
    documents: [{ memory: { ...MEMORY, default_retention: '2w' } }],
  });
  assert.equal(memory_schemas[0]?.fields[0]?.retention_ms, 1_209_600_000);
  assert.equal(memory_schemas[0]?.fields[0]?.value_bytes_max, 65_536);
  assert.equal(cases.length, 5);
});

test('the editors’ schema takes what compiles, and refuses what has a key too many', () => {
  const bodies = {
    policy: RULE,
    'tool-contract': CONTRACT,
    'agent-identity': { agent_id: 'a' },
    memory: MEMORY,
  };
  for (const { kind, one, many } of DOCUMENT_KINDS) {
    const schema = buildDocumentSchema(kind);
    const check = (document: object) => validate(document, schema as object, '2020-12').valid;
    assert.ok(check({ version: 'v1alpha1', [one]: bodies[kind] }), kind);
    assert.ok(check({ [many]: [bodies[kind]], 'x-owner': 'me' }), kind);
    assert.ok(!check({ [one]: bodies[kind], [many]: [bodies[kind]] }), kind);
    assert.ok(!check({ [one]: { ...bodies[kind], extra: 1 } }), kind);
    assert.ok(!check({ version: 'v2', [one]: bodies[kind] }), kind);
  }
  assert.equal(DOCUMENT_KINDS.length, 4);
});

test('a contract for servers has their tool names alone', () => {
  const contract = { tool_name: 'send', servers: ['mail', 'work.mail'], allowed_agents: ['bot'] };
  const { contracts } = buildTestPolicy({ documents: [{ contracts: [contract, { tool_name: 'send' }] }] });
  assert.deepEqual(
    contracts.map(({ tool_name, allowed_agents }) => [tool_name, allowed_agents.length]),
    [
      ['mcp__mail__send', 1],
      ['mail__send', 1],
      ['mcp__work.mail__send', 1],
      ['work.mail__send', 1],
      ['send', 0],
    ],
  );
  const problems = (more: object) =>
    compileParts({ documents: [{ contracts: [contract, { tool_name: 'mail__send' }, more] }] }).problems;
  assert.match(problems({ tool_name: 'other' })[0]!.message, /second contract named `mail__send`/);
  assert.match(
    problems({ tool_name: 'a', servers: ['b*'] })[0]!.message,
    /must be the name of an MCP server/,
  );
});

test('a fallback gives way to any other contract', () => {
  const fallback = { tool_name: 'send', servers: ['mail'], fallback: true, description: 'fallback' };
  const list = (documents: readonly object[], settings: object = {}) =>
    buildTestPolicy({ documents: [{ contracts: documents }], settings }).contracts.map(
      ({ tool_name, tenant_id, description }) => [tool_name, tenant_id, description],
    );
  const proxied = ['mail__send', null, 'fallback'];
  assert.deepEqual(list([fallback]), [['mcp__mail__send', null, 'fallback'], proxied]);
  const own = { tool_name: 'mcp__mail__send' };
  assert.deepEqual(list([fallback, own]), [proxied, ['mcp__mail__send', null, '']]);
  assert.equal(list([fallback, { ...own, tenant_id: 'acme' }]).length, 3);
  // It would declare a tool that is blocked because no operator declared it.
  assert.deepEqual(list([fallback, { tool_name: 'x' }], { undeclared_tools: 'block' }), [['x', null, '']]);
  const twice = compileParts({ documents: [{ contracts: [fallback, fallback] }] }).problems;
  assert.match(twice[0]!.message, /second contract named `mcp__mail__send`/);
});
