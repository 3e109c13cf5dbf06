import { ACTIONS, BOUNDARIES, DECISIONS, PHASES } from '../types/index.ts';

/** JSON Schema (2020-12) of the files with policy test cases. */

const word = { type: 'string', minLength: 1, maxLength: 256 } as const;

const tag = {
  type: 'string',
  maxLength: 128,
  pattern: '^[A-Za-z][A-Za-z0-9_-]*(\\.[A-Za-z0-9_-]+)*$',
  'x-expects': 'must be a tag: a dotted name such as `personal.pii`, letters first',
} as const;

function getList<const Items extends object>(items: Items, description: string) {
  return { type: 'array', maxItems: 1_000, items, description } as const;
}

const text = { type: 'string', maxLength: 1_000_000 } as const;

const expectation = {
  type: 'object',
  description: 'The expected verdict; omitted fields may have any value.',
  minProperties: 1,
  properties: {
    decision: { enum: DECISIONS, description: 'The decision that the caller gets.' },
    action: { enum: ACTIONS, description: 'The action of the rule that decides.' },
    rule: { ...word, description: 'Name of the rule; `default.allow` if no rule matches.' },
    tags: getList(tag, 'Tags that are found or declared, each itself or by a descendant.'),
    no_tags: getList(tag, 'Tags that must not be found or declared, neither itself nor a descendant.'),
    detectors: getList(word, 'Families of detectors or exact ones that find something.'),
    violations: getList(word, 'Violated parts of contracts, identities and limits: `arguments`, `tools`.'),
    monitored: getList(word, 'Rules in monitor mode that would have acted.'),
    text: { ...text, description: 'The text that replaces the content.' },
    payload: { description: 'The value that replaces the content.' },
    must_not_contain: getList(
      { type: 'string', minLength: 1, maxLength: 10_000 },
      'Texts that must not be in the resulting content.',
    ),
  },
  patternProperties: { '^x-': true },
  additionalProperties: false,
} as const;

/** A step of the session before the crossing. */
const step = {
  anyOf: [
    {
      type: 'object',
      required: ['prompt'],
      properties: { prompt: { ...text, description: 'Words of the person.' } },
      additionalProperties: false,
    },
    {
      type: 'object',
      required: ['tool', 'result'],
      properties: {
        tool: { ...word, description: 'The tool that gives the result.' },
        result: { description: 'The result: a text, or any JSON value.' },
      },
      additionalProperties: false,
    },
  ],
  'x-expects': 'must be `{prompt: text}` or `{tool: name, result: value}`',
} as const;

/** Schema of one case: the crossing and the expected verdict. */
export const caseSchema = {
  type: 'object',
  required: ['name', 'boundary', 'expect'],
  properties: {
    name: { ...word, description: 'Name of the test case, in words.' },
    boundary: { enum: BOUNDARIES, description: 'The boundary.' },
    text: { ...text, description: 'The content, as text.' },
    payload: { description: 'The content, as any JSON value: the arguments of a tool, a result.' },
    data_tags: getList(tag, 'Tags that the caller declares.'),
    phase: { enum: PHASES, description: 'The phase of an action (default: `request`).' },
    tool: { ...word, description: 'The tool.' },
    agent_id: { ...word, description: 'The agent that acts (default: `unknown`).' },
    source_agent_id: word,
    destination_agent_id: word,
    tenant_id: { ...word, description: 'The tenant whose rules apply (default: `default`).' },
    session_id: word,
    before: {
      type: 'array',
      maxItems: 100,
      items: step,
      description: 'Prompts and results that the session has seen before, for the origin of argument values.',
    },
    session_tags: getList(tag, 'Taint tags of the session.'),
    now: {
      type: 'string',
      pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d(:\\d\\d)?Z$',
      'x-expects': 'must be a time in UTC, such as `2026-01-31T12:00:00Z`',
      description: 'The time of the crossing (default: now).',
    },
    expect: expectation,
  },
  patternProperties: { '^x-': true },
  additionalProperties: false,
} as const;

/** Schema of a file of cases. */
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
