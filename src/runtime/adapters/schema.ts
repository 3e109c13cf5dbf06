import { Type } from '../../core/schema.ts';
import { type AdapterSpec, type DialectSpec, SUBJECT_KEYS } from './types.ts';

/** The shapes of `dialects` and `adapters` in a plug-in, as plain JSON Schema (2020-12). */

const EVENTS_MAX = 100;
const CHECKS_MAX = 10;
const EXAMPLES_MAX = 100;
const TEXT_UNITS_MAX = 2_000;

const text = { type: 'string', minLength: 1, maxLength: TEXT_UNITS_MAX } as const;
const eventName = { type: 'string', minLength: 1, maxLength: 256 } as const;

/** The names of plug-ins and of their parts. */
export const plugNameSchema = {
  type: 'string',
  maxLength: 64,
  pattern: '^[a-z0-9]+(?:-[a-z0-9]+)*$',
  'x-expects': 'must be a name of lower-case letters and digits with single dashes between',
} as const;

const check = {
  type: 'object',
  required: ['kind', 'content'],
  additionalProperties: false,
  properties: {
    kind: { enum: ['call', 'result', 'prompt', 'answer'] },
    each: {
      type: 'string',
      maxLength: 200,
      pattern: '^/[^{}\\s]*$',
      'x-expects': 'must be the place of a list, such as `/tool_calls`',
    },
    tool: text,
    content: {},
    json: { type: 'boolean' },
    optional: { type: 'boolean' },
  },
} as const;

const example = {
  type: 'object',
  required: ['payload', 'checks'],
  additionalProperties: false,
  properties: {
    payload: { type: 'object' },
    event: eventName,
    checks: {
      type: 'array',
      maxItems: EXAMPLES_MAX,
      items: {
        type: 'object',
        required: ['kind', 'content'],
        additionalProperties: false,
        properties: { kind: check.properties.kind, tool: text, content: {} },
      },
    },
  },
} as const;

const dialectReply = {
  type: 'object',
  additionalProperties: false,
  properties: { stdout: {}, stderr: text, code: { enum: [0, 1, 2] } },
} as const;

function buildProtocolSchema(reply: object, more: object, required: readonly string[]) {
  return {
    type: 'array',
    maxItems: 20,
    items: {
      type: 'object',
      required: ['name', 'events', 'examples', ...required],
      additionalProperties: false,
      properties: {
        name: plugNameSchema,
        description: { ...text, maxLength: 500 },
        agent_id: eventName,
        event: text,
        subject: {
          type: 'object',
          additionalProperties: false,
          properties: Object.fromEntries(SUBJECT_KEYS.map((key) => [key, text])),
        },
        events: {
          type: 'object',
          minProperties: 1,
          maxProperties: EVENTS_MAX,
          additionalProperties: {
            type: 'object',
            required: ['checks', 'deny'],
            additionalProperties: false,
            properties: {
              checks: { type: 'array', minItems: 1, maxItems: CHECKS_MAX, items: check },
              deny: reply,
              change: reply,
              ...more,
            },
          },
        },
        ignored_events: { type: 'array', maxItems: EVENTS_MAX, items: eventName },
        pass: reply,
        examples: { type: 'array', minItems: 1, maxItems: EXAMPLES_MAX, items: example },
      },
    },
  } as const;
}

/** The schema of dialects, the protocols in which coding agents call a hook. */
export const dialectsSchema = Type.Unsafe<readonly DialectSpec[]>(
  buildProtocolSchema(dialectReply, { ask: dialectReply }, []),
);

/**
 * The schema of adapters, the protocols in which gateways and frameworks call over HTTP. They have no `ask`
 * reply, because no user can answer there.
 */
export const adaptersSchema = Type.Unsafe<readonly AdapterSpec[]>(
  buildProtocolSchema({ type: 'object' }, {}, ['pass']),
);
