import { ACTIONS, BOUNDARIES, DECISIONS } from '../../core/types/index.ts';
import { name } from '../../operations/shapes.ts';

/** A period before now. */
export const lastSchema = {
  type: 'string',
  maxLength: 32,
  description: 'The period before now: `15m`, `24h`, `7d`. Default `24h`.',
} as const;

export const tenantSchema = {
  ...name,
  description: 'One tenant; without it all that the user sees.',
} as const;

export const text = { type: 'string' } as const;
export const textOrNull = { type: ['string', 'null'] } as const;
export const whole = { type: 'integer' } as const;
export const wholeOrNull = { type: ['integer', 'null'] } as const;
export const texts = { type: 'array', items: text } as const;

export const nextCursorSchema = {
  ...textOrNull,
  description: 'The cursor of the next page; `null` if there is none.',
} as const;
export const totalSchema = {
  ...wholeOrNull,
  description: 'The number of entries on all pages; `null` if counting them is expensive.',
} as const;

/** Counts of events by the name of a decision, an action or a boundary. */
export const countsSchema = { type: 'object', additionalProperties: { type: 'integer' } } as const;

/** Builds the schema of an object whose members are all present. */
export function buildObjectSchema<const Properties extends object>(properties: Properties) {
  // A tuple with the union of the keys: from it the type of an answer has every member.
  const required = Object.keys(properties) as [keyof Properties & string];
  return { type: 'object', required, properties } as const;
}

/** Builds the schema of a list. */
export function buildListSchema<const Items extends object>(items: Items, description?: string) {
  return { type: 'array', items, ...(description !== undefined && { description }) } as const;
}

/** An audit event: the decision, never the text that was evaluated. */
export const eventSchema = buildObjectSchema({
  event_id: text,
  timestamp: text,
  boundary: { enum: [...BOUNDARIES, 'memory'] },
  decision: { enum: DECISIONS },
  action: { enum: ACTIONS },
  policy_name: { ...text, description: 'The rule that decided.' },
  reason: text,
  data_tags: texts,
  tenant_id: text,
  agent_id: text,
  tool_name: textOrNull,
  session_id: textOrNull,
  source_agent_id: textOrNull,
  destination_agent_id: textOrNull,
  caller_id: text,
  context_hash: text,
  policy_hash: text,
  coverage: { enum: ['full', 'partial'] },
  metadata: { type: 'object', description: '`phase` and the other details of the event.' },
});

/** The counts of one agent, tool or other value in a period. */
export const usageSchemas = {
  event_count: whole,
  block_count: { ...whole, description: 'Those of them that were blocked.' },
  block_rate: { type: 'number', description: 'Blocked events divided by all events, 0 to 1.' },
  outcomes: buildObjectSchema({ allow: whole, modify: whole, block: whole, require_approval: whole }),
  first_seen: { ...text, description: 'The first event, as far back as the index reaches.' },
  last_seen: text,
} as const;

/** The members of a list that is complete in memory. */
export const listPageSchemas = { count: whole, next_cursor: nextCursorSchema, total: totalSchema } as const;
