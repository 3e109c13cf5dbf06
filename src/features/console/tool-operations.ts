import { defineOperation } from '../../operations/operation.ts';
import { readCounts, sumByValue, type ValueCount } from './count-tables.ts';
import { formatPageCursor, parsePageCursor, parseWindow, resolveReadScope } from './read-scope.ts';
import {
  buildListSchema,
  buildObjectSchema,
  lastSchema,
  nextCursorSchema,
  PAGE_LIMIT_DEFAULT,
  pageSchemas,
  tenantSchema,
  text,
  totalSchema,
  whole,
} from './schemas.ts';

const usage = {
  events: whole,
  blocked: whole,
  block_rate: { type: 'number', description: 'Blocked events divided by all events, 0 to 1.' },
  outcomes: buildObjectSchema({ allow: whole, modify: whole, block: whole, require_approval: whole }),
  first_seen: text,
  last_seen: text,
} as const;

const toolSchema = buildObjectSchema({
  tool_name: text,
  declared: { type: 'boolean', description: 'The active policy has a contract for the tool.' },
  ...usage,
});

export const observeTools = defineOperation({
  name: 'observe_tools',
  summary: 'Tools that agents called',
  description:
    'Lists the tools of a period, most frequent first: whether a contract declares them, calls, blocked calls, first and last seen.',
  http: { method: 'GET', path: '/v1/dashboard/observe/tools' },
  cli: {
    verb: 'observe tools',
    options: ['last', 'limit', 'tenant_id'],
    columns: {
      rows: 'tools',
      cells: {
        TOOL: 'tool_name',
        CONTRACT: 'declared',
        EVENTS: 'events',
        BLOCKED: 'blocked',
        'LAST SEEN': 'last_seen',
      },
      empty: 'No tool was called in that time.',
    },
    examples: [['service observe tools --last 7d', 'tools of this week']],
  },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: { type: 'object', properties: { last: lastSchema, tenant_id: tenantSchema, ...pageSchemas } },
  output: buildObjectSchema({
    tools: buildListSchema(toolSchema),
    count: whole,
    next_cursor: nextCursorSchema,
    total: totalSchema,
  }),
  example: { last: '24h' },
  answer: { tools: [], count: 0, next_cursor: null, total: 0 },
  refusals: ['invalid_request'],
  async run(input, context) {
    const scope = resolveReadScope(input, context);
    const window = parseWindow(input.last, context.runtime.now_ms());
    const query = ['tools', scope, window.last];
    const from = Number(parsePageCursor(query, input.cursor)?.[0] ?? 0);
    const all = sumByValue(await readCounts(context.runtime, 'tool', scope, window));
    const limit = input.limit ?? PAGE_LIMIT_DEFAULT;
    const contracts = new Set(context.runtime.policy().contracts.map(({ tool_name }) => tool_name));
    const tools = all.slice(from, from + limit).map((each) => ({
      tool_name: each.value,
      declared: contracts.has(each.value),
      ...formatUsage(each),
    }));
    const next_cursor = from + limit < all.length ? formatPageCursor(query, [from + limit]) : null;
    return { tools, count: tools.length, next_cursor, total: all.length };
  },
});

export const observeMetrics = defineOperation({
  name: 'observe_metrics',
  summary: 'Figures of agents and tools',
  description:
    'Returns the events, blocked events and block rate of each agent and each tool, 1,000 at most.',
  http: { method: 'GET', path: '/v1/dashboard/observe/metrics' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: { type: 'object', properties: { last: lastSchema, tenant_id: tenantSchema } },
  output: buildObjectSchema({
    agents: buildListSchema(buildObjectSchema({ agent_id: text, ...usage })),
    tools: buildListSchema(toolSchema),
  }),
  example: { last: '24h' },
  answer: { agents: [], tools: [] },
  refusals: ['invalid_request'],
  async run(input, context) {
    const scope = resolveReadScope(input, context);
    const window = parseWindow(input.last, context.runtime.now_ms());
    const contracts = new Set(context.runtime.policy().contracts.map(({ tool_name }) => tool_name));
    const agents = sumByValue(await readCounts(context.runtime, 'agent', scope, window));
    const tools = sumByValue(await readCounts(context.runtime, 'tool', scope, window));
    return {
      agents: agents.slice(0, METRICS_MAX).map((each) => ({ agent_id: each.value, ...formatUsage(each) })),
      tools: tools.slice(0, METRICS_MAX).map((each) => ({
        tool_name: each.value,
        declared: contracts.has(each.value),
        ...formatUsage(each),
      })),
    };
  },
});

const METRICS_MAX = 1_000;

function formatUsage({ events, blocked, outcomes, first_ms, last_ms }: ValueCount) {
  return {
    events,
    blocked,
    block_rate: events === 0 ? 0 : blocked / events,
    outcomes: { ...outcomes },
    first_seen: new Date(first_ms).toISOString(),
    last_seen: new Date(last_ms).toISOString(),
  };
}
