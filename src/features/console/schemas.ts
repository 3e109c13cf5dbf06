import { ACTIONS, BOUNDARIES, DECISIONS } from '../../core/types/index.ts';
import {
  buildObjectSchema,
  integerSchema,
  nullableIntegerSchema,
  nullableTextSchema,
  textListSchema,
  textSchema,
} from '../../operations/schema-parts.ts';
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

export const effectsSchema = {
  ...textListSchema,
  description: 'For each dangerous command that was found: what it does, its rule, and a safer one.',
} as const;

export const nextCursorSchema = {
  ...nullableTextSchema,
  description: 'The cursor of the next page; `null` if there is none.',
} as const;
export const totalSchema = {
  ...nullableIntegerSchema,
  description: 'The number of entries on all pages; `null` if counting them is expensive.',
} as const;

/** Counts of events by the name of a decision, an action or a boundary. */
export const countsSchema = { type: 'object', additionalProperties: { type: 'integer' } } as const;

/** An audit event: the decision, never the text that was evaluated. */
export const eventSchema = buildObjectSchema({
  event_id: textSchema,
  timestamp: textSchema,
  boundary: { enum: [...BOUNDARIES, 'memory'] },
  decision: { enum: DECISIONS },
  action: { enum: ACTIONS },
  policy_name: { ...textSchema, description: 'The rule that decided.' },
  reason: textSchema,
  data_tags: textListSchema,
  tenant_id: textSchema,
  agent_id: textSchema,
  tool_name: nullableTextSchema,
  session_id: nullableTextSchema,
  source_agent_id: nullableTextSchema,
  destination_agent_id: nullableTextSchema,
  caller_id: textSchema,
  context_hash: textSchema,
  policy_hash: textSchema,
  coverage: { enum: ['full', 'partial'] },
  metadata: { type: 'object', description: '`phase` and the other details of the event.' },
});

/** The counts of one agent, tool or other value in a period. */
export const usageSchemas = {
  event_count: integerSchema,
  block_count: { ...integerSchema, description: 'Those of them that were blocked.' },
  block_rate: { type: 'number', description: 'Blocked events divided by all events, 0 to 1.' },
  outcomes: buildObjectSchema({
    allow: integerSchema,
    modify: integerSchema,
    block: integerSchema,
    require_approval: integerSchema,
  }),
  first_seen: { ...textSchema, description: 'The first event, as far back as the index reaches.' },
  last_seen: textSchema,
} as const;

/** The members of a list that is complete in memory. */
export const listPageSchemas = {
  count: integerSchema,
  next_cursor: nextCursorSchema,
  total: totalSchema,
} as const;
