import { Type } from '../../core/schema.ts';
import { ACTIONS, AGENT_TIERS, BOUNDARIES, DECISIONS } from '../../core/types/index.ts';
import { nextCursorSchema, totalSchema } from '../../operations/paging.ts';
import { name } from '../../operations/shapes.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';

/** A period before now. */
export const lastSchema = Type.String({
  maxLength: 32,
  description: 'The period before now: `15m`, `24h`, `7d`. Default `24h`.',
});

export const tenantSchema = {
  ...name,
  description: 'One tenant; without it all that the user sees.',
} as const;

export const effectsSchema = Type.Array(Type.String(), {
  description: 'For each dangerous command that was found: what it does, its rule, and a safer one.',
});

/** Counts of events by the name of a decision, an action or a boundary. */
export const countsSchema = Type.Record(Type.String(), Type.Integer());

/** An audit event: the decision, never the text that was evaluated. */
export const eventSchema = Type.Object({
  event_id: Type.String(),
  timestamp: Type.String(),
  boundary: Type.Enum([...BOUNDARIES, 'memory']),
  decision: Type.Enum(DECISIONS),
  action: Type.Enum(ACTIONS),
  policy_name: Type.String({ description: 'The rule that decided.' }),
  reason: Type.String(),
  data_tags: Type.Array(Type.String()),
  tenant_id: Type.String(),
  agent_id: Type.String(),
  tool_name: Type.Nullable(Type.String()),
  session_id: Type.Nullable(Type.String()),
  source_agent_id: Type.Nullable(Type.String()),
  destination_agent_id: Type.Nullable(Type.String()),
  caller_id: Type.String(),
  user_id: Type.Optional(Type.String({ description: 'The proved person for whom the agent acted.' })),
  user_email: Type.Optional(Type.String()),
  groups: Type.Optional(Type.Array(Type.String())),
  claimed_user: Type.Optional(Type.String({ description: 'A name that the caller only stated.' })),
  chain: Type.Optional(
    Type.Array(Type.String(), { description: 'The agents, the one next to the person first.' }),
  ),
  agent_tier: Type.Optional(Type.Enum(AGENT_TIERS)),
  trace_id: Type.Optional(Type.String()),
  context_hash: Type.String(),
  policy_hash: Type.String(),
  policy_revision: Type.Optional(
    Type.Integer({ description: 'The revision of the managed policy that was active, in a cluster.' }),
  ),
  coverage: Type.Enum(['full', 'partial']),
  metadata: Type.Unsafe<AuditEvent['metadata']>({
    type: 'object',
    description: '`phase` and the other details of the event.',
  }),
});

/** The counts of one agent, tool or other value in a period. */
export const usageSchemas = {
  event_count: Type.Integer(),
  block_count: Type.Integer({ description: 'Those of them that were blocked.' }),
  block_rate: Type.Number({ description: 'Blocked events divided by all events, 0 to 1.' }),
  outcomes: Type.Object({
    allow: Type.Integer(),
    modify: Type.Integer(),
    block: Type.Integer(),
    require_approval: Type.Integer(),
  }),
  first_seen: Type.String({ description: 'The first event, as far back as the index reaches.' }),
  last_seen: Type.String(),
} as const;

/** The members of a list that is complete in memory. */
export const listPageSchemas = {
  count: Type.Integer(),
  next_cursor: nextCursorSchema,
  total: totalSchema,
} as const;
