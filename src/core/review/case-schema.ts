import { ACTIONS, BOUNDARIES, DECISIONS, PHASES } from '../types/index.ts';

/** What people write to say how a policy must answer: the shape of a file of cases, as plain JSON Schema (2020-12). */

const word = { type: 'string', minLength: 1, maxLength: 256 } as const;

const tag = {
  type: 'string',
  maxLength: 128,
  pattern: '^[A-Za-z][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*$',
  'x-expects': 'must be a tag: a dotted name such as `personal.pii`, letters first',
} as const;

function listOf<const Items extends object>(items: Items, description: string) {
  return { type: 'array', maxItems: 1_000, items, description } as const;
}

const text = { type: 'string', maxLength: 1_000_000 } as const;

const expectation = {
  type: 'object',
  description: 'What must come of it; what is not named may be anything.',
  minProperties: 1,
  properties: {
    decision: { enum: DECISIONS, description: 'What the caller is told.' },
    action: { enum: ACTIONS, description: 'The action of the rule that decides.' },
    rule: { ...word, description: 'Its name; `default.allow` where none speaks.' },
    tags: listOf(tag, 'Tags that are found or declared, each itself or by a descendant.'),
    no_tags: listOf(tag, 'Tags of which none is, nor a descendant.'),
    detectors: listOf(word, 'Families of detectors or exact ones that find something.'),
    violations: listOf(word, 'What of contracts, identities and limits is broken: `arguments`, `tools`.'),
    monitored: listOf(word, 'Rules in monitor mode that would have acted.'),
    text: { ...text, description: 'The text that goes on instead.' },
    payload: { description: 'The value that goes on instead.' },
    must_not_contain: listOf(
      { type: 'string', minLength: 1, maxLength: 10_000 },
      'What must stand nowhere in what goes on.',
    ),
  },
  patternProperties: { '^x-': true },
  additionalProperties: false,
} as const;

/** One case: what crosses, and what must come of it. */
export const caseSchema = {
  type: 'object',
  required: ['name', 'boundary', 'expect'],
  properties: {
    name: { ...word, description: 'What is tested, in words.' },
    boundary: { enum: BOUNDARIES, description: 'Where it crosses.' },
    text: { ...text, description: 'What crosses, as text.' },
    payload: { description: 'What crosses, as any value: the arguments of a tool, a result.' },
    data_tags: listOf(tag, 'Tags that the caller declares.'),
    phase: { enum: PHASES, description: 'Which side of an action; `request` where nothing is said.' },
    tool: { ...word, description: 'The tool.' },
    agent_id: { ...word, description: 'Who acts; `unknown` where nothing is said.' },
    source_agent_id: word,
    destination_agent_id: word,
    tenant_id: { ...word, description: 'Whose rules apply; `default` where nothing is said.' },
    session_id: word,
    session_tags: listOf(tag, 'What the session has read.'),
    now: {
      type: 'string',
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d)?Z$',
      'x-expects': 'must be a time in UTC, such as `2026-01-31T12:00:00Z`',
      description: 'When it happens; now where nothing is said.',
    },
    expect: expectation,
  },
  patternProperties: { '^x-': true },
  additionalProperties: false,
} as const;

/** A file of cases. */
export const caseFileSchema = {
  type: 'object',
  required: ['tests'],
  properties: {
    version: { const: 'v1alpha1' },
    tests: { type: 'array', minItems: 1, maxItems: 10_000, items: caseSchema },
  },
  patternProperties: { '^x-': true },
  additionalProperties: false,
} as const;
