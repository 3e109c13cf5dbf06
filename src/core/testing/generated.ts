import fc from 'fast-check';
import { ACTIONS, BOUNDARIES, type Crossing, type Json, PHASES, type Policy } from '../types/index.ts';
import { buildTestCrossing, buildTestPolicy } from './policies.ts';

/** Generates policies and crossings from a small vocabulary, so that rules often match. */

const TAGS = [
  'secret',
  'secret.credential',
  'personal',
  'personal.pii.email',
  'own',
  'own.tag',
  'sql.delete',
];
const TOOLS = ['shell', 'shell*', 'mail.send', '*'];
const AGENTS = ['bot', 'bot-*', 'ann', '*'];
const TENANTS = ['acme', 'default'];

/** Concatenated, so that secret scanners do not take it for a real key. */
const KEY = ['sk-', 'ABCDEF1234567890'].join('');
const TEXTS = [
  'Nothing to see.',
  `Use key ${KEY}`,
  'Write to anna.holm@acme-mail.io',
  `Both: ${KEY} and anna.holm@acme-mail.io`,
  'DELETE FROM carts WHERE id = 7; see https://billing.example.com/a',
  'rm -rf /',
];

function generateSubset<T>(from: readonly T[], max: number): fc.Arbitrary<T[]> {
  return fc.uniqueArray(fc.constantFrom(...from), { maxLength: max });
}

const SESSION_TAGS = ['untrusted', 'untrusted.web', 'personal'];

/** Conditions in CEL. The last cannot be evaluated if there are no findings. */
const CONDITIONS = [
  'findings > 0',
  'has_tag(data_tags, "secret") || agent_id == "bot"',
  'tag == "" || severity == "high"',
  'has_tag(session_tags, "untrusted.web")',
  '10 / findings > 4',
];

/** A rule as an author writes it, without name and tenant. */
const ruleBody = fc
  .record({
    boundary: generateSubset(BOUNDARIES, 3).filter((list) => list.length > 0),
    data_tags: generateSubset(TAGS, 2),
    action: fc.constantFrom(...ACTIONS),
    tools: generateSubset(TOOLS, 2),
    agents: generateSubset(AGENTS, 2),
    phase: generateSubset(PHASES, 2),
    priority: fc.constantFrom(1, 100, 100, 100),
    enforcement: fc.constantFrom('enforce', 'enforce', 'monitor'),
    session_tags: fc.oneof(
      { weight: 4, arbitrary: fc.constant<string[]>([]) },
      generateSubset(SESSION_TAGS, 2),
    ),
    when: fc.oneof(
      { weight: 3, arbitrary: fc.constant<string | null>(null) },
      fc.constantFrom(...CONDITIONS),
    ),
  })
  .map(({ boundary, data_tags, action, priority, enforcement, ...conditions }) => ({
    boundary,
    action: action === 'redact' && data_tags.length === 0 ? 'flag' : action,
    priority,
    enforcement,
    ...(data_tags.length > 0 && { data_tags }),
    condition: writeConditions(conditions, boundary.includes('action')),
  }));

interface GeneratedConditions {
  readonly tools: string[];
  readonly agents: string[];
  readonly phase: string[];
  readonly session_tags: string[];
  readonly when: string | null;
}

/** Returns only the conditions that restrict, because authors do not write empty lists. */
function writeConditions(conditions: GeneratedConditions, isAction: boolean): object {
  const { tools, agents, phase, session_tags, when } = conditions;
  return {
    ...(tools.length > 0 && { tools }),
    ...(agents.length > 0 && { agents }),
    ...(phase.length > 0 && isAction && { phase }),
    ...(session_tags.length > 0 && { session_tags }),
    ...(when !== null && { when }),
  };
}

const ruleList = fc
  .array(fc.record({ body: ruleBody, tenant: fc.constantFrom(null, null, 'acme') }), { maxLength: 7 })
  .map((list) =>
    list.map(({ body, tenant }, at) => ({ name: `r${at}`, ...body, ...(tenant && { tenant_id: tenant }) })),
  );

const mode = fc.constantFrom('enforce', 'monitor');

const contract = fc
  .record({
    tool_name: fc.constantFrom('shell', 'mail.send'),
    accepts: fc.constantFrom({}, { tags: ['personal'] }, { fields: ['to'] }, { tags: [], fields: ['to'] }),
    emits: fc.constantFrom({}, { tags: ['own'] }, { fields: ['to'] }),
    typed: fc.boolean(),
    requires_approval: fc.boolean(),
    enforcement: mode,
    allowed_agents: fc.constantFrom(undefined, ['bot*', 'unknown']),
    max_calls_per_minute: fc.constantFrom(undefined, 3),
    egress: fc.boolean(),
  })
  .map(({ typed, allowed_agents, max_calls_per_minute, egress, requires_approval, ...rest }) => ({
    ...rest,
    ...(allowed_agents && { allowed_agents }),
    ...(max_calls_per_minute && { max_calls_per_minute }),
    ...(typed && { arguments: { type: 'object', required: ['to'] } }),
    side_effects: { reversible: true, requires_approval, egress },
  }));

const identity = fc.record({
  agent_id: fc.constantFrom('bot', 'ann'),
  tools: fc.constantFrom<string[]>(['shell'], ['*']),
  clearance_tags: fc.constantFrom<string[]>(['personal'], ['own', 'secret', 'personal']),
  enforcement: mode,
});

/** The parts of a policy: rules, documents and settings. */
export const policyParts = fc.record({
  rules: ruleList,
  contracts: fc.uniqueArray(contract, { maxLength: 2, selector: ({ tool_name }) => tool_name }),
  identities: fc.uniqueArray(identity, { maxLength: 2, selector: ({ agent_id }) => agent_id }),
  settings: fc.record({
    default_action: fc.constantFrom(...ACTIONS),
    builtin_rules: fc.boolean(),
    undeclared_tools: fc.constantFrom('allow' as const, 'block' as const),
    unknown_agents: fc.constantFrom('allow' as const, 'block' as const),
  }),
});
export type GeneratedParts = typeof policyParts extends fc.Arbitrary<infer Parts> ? Parts : never;

/** Compiles the policy of generated parts. */
export function buildGeneratedPolicy({ rules, contracts, identities, settings }: GeneratedParts): Policy {
  const documents = [
    ...contracts.map((each) => ({ contract: each })),
    ...identities.map((each) => ({ agent: each })),
  ];
  return buildTestPolicy({ rules, documents, settings });
}

const content = fc.constantFrom(...TEXTS).chain((text) =>
  fc.constantFrom<Crossing['content']>(
    { kind: 'text', text },
    { kind: 'json', value: { to: 'x', command: text } as Json },
    {
      kind: 'json',
      value: { command: [text] } as Json,
    },
  ),
);

/** Generates crossings at any boundary, some with declared tags. */
export const crossingArbitrary: fc.Arbitrary<Crossing> = fc
  .record({
    boundary: fc.constantFrom(...BOUNDARIES),
    phase: fc.constantFrom(...PHASES),
    content,
    tenant_id: fc.constantFrom(...TENANTS),
    agent_id: fc.constantFrom('bot', 'bot-2', 'ann', 'unknown'),
    source_agent_id: fc.constantFrom(null, null, 'ann', 'bot'),
    tool: fc.constantFrom('shell', 'shell.run', 'mail.send', null),
    declared_tags: generateSubset(['own.tag', 'secret', 'personal.pii.email', 'sql.delete', 'Own'], 2),
    session_tags: generateSubset(['untrusted.web', 'personal.pii.email', 'own'], 2),
    calls_last_minute: fc.constantFrom(0, 2, 9),
    approved_rules: generateSubset(['r0', 'r1', 'default.require_approval', 'contract.requires_approval'], 1),
  })
  .map(({ boundary, phase, tool, ...rest }) => {
    const isAction = boundary === 'action';
    const ofAction = phase === 'message' ? 'agent_to_agent' : (tool ?? 'shell');
    return buildTestCrossing({
      ...rest,
      boundary,
      phase: isAction ? phase : null,
      tool: isAction ? ofAction : tool,
      destination_agent_id: isAction && phase === 'message' ? 'ann' : null,
    });
  });
