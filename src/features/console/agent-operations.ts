import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import {
  cutPage,
  formatPageCursor,
  nextCursorSchema,
  PAGE_LIMIT_DEFAULT,
  pageInput,
  parsePageCursor,
} from '../../operations/paging.ts';
import { givenName } from '../../operations/shapes.ts';
import { coversName } from '../../runtime/access/scope.ts';
import { formatUsage, readCounts, readFirstSeen, sumByValue } from './count-tables.ts';
import { findScopedEvents } from './incidents.ts';
import { parseWindow, type ReadScope, resolveReadScope } from './read-scope.ts';
import { eventSchema, lastSchema, listPageSchemas, tenantSchema, usageSchemas } from './schemas.ts';

const AGENT_EXAMPLE = 'support-bot-2';

export const observeAgents = defineOperation({
  name: 'observe_agents',
  summary: 'List active agents',
  description:
    'Lists the agents with events in a period, most recent activity first. For users who may read the audit log.',
  http: { method: 'GET', path: '/v1/dashboard/observe/agents' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    last: Type.Optional(lastSchema),
    tenant_id: Type.Optional(tenantSchema),
    ...pageInput,
  }),
  output: Type.Object({
    agents: Type.Array(
      Type.Object({
        agent_id: Type.String(),
        tenant_ids: Type.Array(Type.String()),
        declared: Type.Boolean({ description: 'The active policy has an identity for the agent.' }),
        ...usageSchemas,
      }),
    ),
    ...listPageSchemas,
  }),
  example: { last: '24h', tenant_id: 'acme' },
  answer: { agents: [], count: 0, next_cursor: null, total: 0 },
  refusals: ['invalid_request'],
  async run(input, context) {
    const { runtime } = context;
    const scope = resolveReadScope(input, context);
    const window = parseWindow(input.last, runtime.now_ms());
    const counts = await readCounts(runtime, 'agent', scope, window, { split: 'tenant' });
    const tenants = Map.groupBy(counts, ({ value }) => value);
    const all = sumByValue(counts).toSorted((a, b) => b.last_ms - a.last_ms);
    const { items, next_cursor } = cutPage(all, ['agents', scope, window.last], input);
    const ids = items.map(({ value }) => value);
    const first = await readFirstSeen(runtime, 'agent', scope, ids);
    const identities = new Set(runtime.policy().identities.map(({ agent_id }) => agent_id));
    const agents = items.map((each) => ({
      agent_id: each.value,
      tenant_ids: [...new Set(tenants.get(each.value)?.flatMap(({ split }) => split ?? []))].toSorted(),
      declared: identities.has(each.value),
      ...formatUsage(each, first.get(each.value)),
    }));
    return { agents, count: agents.length, next_cursor, total: all.length };
  },
});

const namedCounts = Type.Array(Type.Object({ name: Type.String(), ...usageSchemas }));

export const observeAgent = defineOperation({
  name: 'observe_agent',
  summary: 'Show the activity of an agent',
  description: 'Returns the counts of an agent, its tools and rules, and its latest events, oldest first.',
  http: { method: 'GET', path: '/v1/dashboard/observe/agents/{agent_id}' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    agent_id: givenName,
    last: Type.Optional(lastSchema),
    tenant_id: Type.Optional(tenantSchema),
    ...pageInput,
  }),
  output: Type.Object({
    agent_id: Type.String(),
    event_count: Type.Integer({ description: 'The number of events in this answer.' }),
    events: Type.Array(eventSchema, { description: 'Oldest first.' }),
    next_cursor: {
      ...nextCursorSchema,
      description: 'The cursor of older events; `null` if there are none.',
    },
    last_seen: Type.Nullable(Type.String()),
    usage: Type.Union([Type.Object(usageSchemas), Type.Null()], {
      description: 'The counts of the period; `null` if it has no event.',
    }),
    tools: namedCounts,
    rules: namedCounts,
    identity: Type.Union(
      [
        Type.Object({
          description: Type.String(),
          tools: Type.Array(Type.String()),
          clearance_tags: Type.Array(Type.String()),
          tenant_id: Type.Nullable(Type.String()),
        }),
        Type.Null(),
      ],
      { description: 'The identity of the agent in the active policy; `null` if it has none.' },
    ),
  }),
  example: { agent_id: AGENT_EXAMPLE },
  answer: {
    agent_id: AGENT_EXAMPLE,
    event_count: 0,
    events: [],
    next_cursor: null,
    last_seen: null,
    usage: null,
    tools: [],
    rules: [],
    identity: null,
  },
  refusals: ['invalid_request'],
  async run(input, context) {
    const { agent_id } = input;
    const { runtime } = context;
    const scope = resolveAgentScope(agent_id, input, context);
    const window = parseWindow(input.last, runtime.now_ms());
    const list = async (by: 'tool' | 'rule') =>
      sumByValue(await readCounts(runtime, by, scope, window))
        .slice(0, NAMES_MAX)
        .map((each) => ({ name: each.value, ...formatUsage(each) }));
    const [usage] = sumByValue(await readCounts(runtime, 'agent', scope, window));
    const first = await readFirstSeen(runtime, 'agent', scope, [agent_id]);
    const query = ['agent', scope, window.last];
    const { events, next_cursor } = await findScopedEvents(
      {
        agent_id,
        since: new Date(window.since_ms).toISOString(),
        limit: input.limit ?? PAGE_LIMIT_DEFAULT,
        cursor: String(parsePageCursor(query, input.cursor)?.[0] ?? ''),
      },
      scope,
      context,
    );
    return {
      agent_id,
      event_count: events.length,
      events: events.toReversed(),
      next_cursor: next_cursor ? formatPageCursor(query, [next_cursor]) : null,
      last_seen: usage === undefined ? null : new Date(usage.last_ms).toISOString(),
      usage: usage === undefined ? null : formatUsage(usage, first.get(agent_id)),
      tools: await list('tool'),
      rules: await list('rule'),
      identity: findIdentity(agent_id, scope, context),
    };
  },
});

const NAMES_MAX = 50;

function resolveAgentScope(
  agentId: string,
  input: { readonly tenant_id?: string | null },
  context: Context,
): ReadScope {
  const scope = resolveReadScope(input, context);
  if (scope.agents !== '*' && !scope.agents.includes(agentId))
    throw new Refusal('forbidden', '`agent_id` is outside the scope of the credential.');
  return { ...scope, agents: [agentId] };
}

function findIdentity(agentId: string, { tenants }: ReadScope, { runtime }: Context) {
  const identity = runtime
    .policy()
    .identities.find(
      (one) => one.agent_id === agentId && (one.tenant_id === null || coversName(tenants, one.tenant_id)),
    );
  if (identity === undefined) return null;
  const { description, tools, clearance_tags, tenant_id } = identity;
  return { description, tools: [...tools], clearance_tags: [...clearance_tags], tenant_id };
}
