import type { ActivityEntry } from '../runtime/audit/activity.ts';
import { parseDuration } from '../runtime/audit/filter.ts';
import type { AuditEvent, AuditFilter } from '../runtime/audit/types.ts';
import { findEvents } from './audit.ts';
import { type Context, defineOperation, Refusal } from './operation.ts';
import { name } from './shapes.ts';
import { dropBlankName, resolveTenants, type SubjectFields } from './subject.ts';

const LAST_DEFAULT = '24h';
const ENTRIES_MAX = 1_000;
const EVENTS_MAX = 1_000;
const NOBODY = 'support-bot-2';

const last = {
  type: 'string',
  maxLength: 32,
  description: `How far back, \`15m\`, \`24h\`, \`7d\`. Default \`${LAST_DEFAULT}\`.`,
} as const;
const tenant = { ...name, description: 'One tenant; without it all that the user sees.' } as const;
const entriesLimit = {
  type: 'integer',
  minimum: 1,
  maximum: ENTRIES_MAX,
  description: 'Entries at most; default 100.',
} as const;
const eventsLimit = (otherwise: number) =>
  ({
    type: 'integer',
    minimum: 1,
    maximum: EVENTS_MAX,
    description: `Events at most; default ${otherwise}.`,
  }) as const;

const times = {
  event_count: { type: 'integer' },
  block_count: { type: 'integer', description: 'Those of them that were blocked.' },
  first_seen: { type: 'string', description: 'The oldest event that was searched.' },
  last_seen: { type: 'string' },
} as const;
const partial = {
  type: 'boolean',
  description: 'Only the newest 50,000 events of this period were searched.',
} as const;
const events = {
  type: 'array',
  items: { type: 'object' },
  description: 'Audit events, as of `/v1/audit/query`.',
} as const;

export const observeAgents = defineOperation({
  name: 'observe_agents',
  summary: 'Agents that did something',
  description:
    'The agents of the audit trail, who did something last first. For users who may read the trail.',
  http: { method: 'GET', path: '/v1/dashboard/observe/agents' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: { type: 'object', properties: { last, tenant_id: tenant, limit: entriesLimit } },
  output: {
    type: 'object',
    required: ['count', 'agents'],
    properties: {
      count: { type: 'integer' },
      agents: {
        type: 'array',
        items: {
          type: 'object',
          required: ['agent_id', 'event_count', 'last_seen'],
          properties: {
            agent_id: { type: 'string' },
            tenant_ids: { type: 'array', items: { type: 'string' } },
            ...times,
          },
        },
      },
      partial,
    },
  },
  example: { last: '24h', tenant_id: 'acme' },
  answer: { count: 0, agents: [], partial: false },
  refusals: ['invalid_request'],
  async run(input, context) {
    const { active, is_partial } = await activeOf('agent_id', input, context);
    const agents = active.map(({ id, tenant_ids, ...rest }) => ({
      agent_id: id,
      tenant_ids: [...tenant_ids],
      ...timesOf(rest),
    }));
    return { count: agents.length, agents, partial: is_partial };
  },
});

export const observeAgent = defineOperation({
  name: 'observe_agent',
  summary: 'The timeline of an agent',
  description: 'Lists the latest activity of an agent, oldest first, from the newest events of the period.',
  http: { method: 'GET', path: '/v1/dashboard/observe/agents/{agent_id}' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: {
    type: 'object',
    required: ['agent_id'],
    properties: {
      agent_id: { ...name, type: 'string' },
      last,
      tenant_id: tenant,
      limit: eventsLimit(100),
    },
  },
  output: {
    type: 'object',
    required: ['agent_id', 'event_count', 'events', 'last_seen'],
    properties: {
      agent_id: { type: 'string' },
      event_count: { type: 'integer', description: 'How many events this answer holds.' },
      events,
      last_seen: { type: ['string', 'null'] },
    },
  },
  example: { agent_id: NOBODY },
  answer: { agent_id: NOBODY, event_count: 0, events: [], last_seen: null },
  refusals: ['invalid_request'],
  async run(input, context) {
    const { agent_id } = input;
    const { agents } = context.caller;
    if (agents !== '*' && !agents.includes(agent_id))
      throw new Refusal('forbidden', '`agent_id` is outside the scope of the credential.');
    const filter = { agent_id, last: durationIn(input.last) };
    const found = await timeline(filter, input, input.limit ?? 100, context);
    const last_seen = found.at(-1)?.timestamp ?? null;
    return { agent_id, event_count: found.length, events: found as object[], last_seen };
  },
});

export const observeSessions = defineOperation({
  name: 'observe_sessions',
  summary: 'Sessions in which something was done',
  description: 'The sessions of the audit trail, in which something was done last first.',
  http: { method: 'GET', path: '/v1/dashboard/observe/sessions' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: { type: 'object', properties: { last, tenant_id: tenant, limit: entriesLimit } },
  output: {
    type: 'object',
    required: ['count', 'sessions'],
    properties: {
      count: { type: 'integer' },
      sessions: {
        type: 'array',
        items: {
          type: 'object',
          required: ['session_id', 'tenant_id', 'agent_ids', 'event_count', 'last_seen'],
          properties: {
            session_id: { type: 'string' },
            tenant_id: { type: 'string' },
            agent_ids: { type: 'array', items: { type: 'string' } },
            ...times,
          },
        },
      },
      partial,
    },
  },
  example: { last: '24h', tenant_id: 'acme' },
  answer: { count: 0, sessions: [], partial: false },
  refusals: ['invalid_request'],
  async run(input, context) {
    const { active, is_partial } = await activeOf('session_id', input, context);
    const sessions = active.map(({ id, tenant_ids, agent_ids, ...rest }) => ({
      session_id: id,
      tenant_id: tenant_ids[0] ?? 'default',
      agent_ids: [...agent_ids],
      ...timesOf(rest),
    }));
    return { count: sessions.length, sessions, partial: is_partial };
  },
});

export const observeSession = defineOperation({
  name: 'observe_session',
  summary: 'The trace of a session',
  description:
    'Lists the activity of a session, oldest first: tool calls, decisions, tags, approval requests. A long session shows its newest events.',
  http: { method: 'GET', path: '/v1/dashboard/observe/sessions/{session_id}' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: {
    type: 'object',
    required: ['session_id'],
    properties: { session_id: { ...name, type: 'string' }, tenant_id: tenant, limit: eventsLimit(200) },
  },
  output: {
    type: 'object',
    required: ['session_id', 'count', 'events'],
    properties: {
      session_id: { type: 'string' },
      count: { type: 'integer', description: 'How many events this answer holds.' },
      events,
    },
  },
  example: { session_id: 'sess-2' },
  answer: { session_id: 'sess-2', count: 0, events: [] },
  refusals: ['invalid_request'],
  async run(input, context) {
    const { session_id } = input;
    const found = await timeline({ session_id }, input, input.limit ?? 200, context);
    return { session_id, count: found.length, events: found as object[] };
  },
});

interface Which extends SubjectFields {
  readonly last?: string;
  readonly limit?: number;
}

async function activeOf(by: 'agent_id' | 'session_id', input: Which, context: Context) {
  const last_ms = parseDuration(durationIn(input.last)) ?? 0;
  const { runtime, caller } = context;
  const { active, partial: is_partial } = await runtime.activity({
    by,
    since_ms: runtime.now_ms() - last_ms,
    tenants: resolveTenants(input, context),
    agents: caller.agents,
  });
  return { active: active.slice(0, input.limit ?? 100), is_partial };
}

/** Returns the newest events, oldest first, of all tenants and agents that the caller may see. */
async function timeline(
  filter: AuditFilter,
  input: SubjectFields,
  limit: number,
  context: Context,
): Promise<readonly AuditEvent[]> {
  const tenants = resolveTenants(input, context);
  const scopes = tenants === '*' ? [{}] : tenants.map((tenant_id) => ({ tenant_id }));
  const { agents } = context.caller;
  const pages = await Promise.all(
    scopes.map((scope) => findEvents({ ...filter, ...scope, limit, newest_first: true }, context)),
  );
  return pages
    .flatMap((page) => page.events)
    .filter(({ agent_id }) => agents === '*' || agents.includes(agent_id))
    .toSorted((a, b) => (a.timestamp < b.timestamp ? 1 : a.timestamp > b.timestamp ? -1 : 0))
    .slice(0, limit)
    .toReversed();
}

function durationIn(given: string | undefined): string {
  const duration = dropBlankName(given) ?? LAST_DEFAULT;
  if (parseDuration(duration) !== null) return duration;
  throw new Refusal('invalid_request', '`last` is a duration: `15m`, `24h`, `7d`.');
}

function timesOf({
  event_count,
  block_count,
  first_ms,
  last_ms,
}: Omit<ActivityEntry, 'id' | 'tenant_ids' | 'agent_ids'>) {
  return {
    event_count,
    block_count,
    first_seen: new Date(first_ms).toISOString(),
    last_seen: new Date(last_ms).toISOString(),
  };
}
