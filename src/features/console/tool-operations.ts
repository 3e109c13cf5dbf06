import { Type } from '../../core/schema.ts';
import { defineOperation } from '../../operations/operation.ts';
import { cutPage, pageInput } from '../../operations/paging.ts';
import { givenName } from '../../operations/shapes.ts';
import { draftContract } from './contract-draft.ts';
import { formatUsage, readCounts, readFirstSeen, sumByValue } from './count-tables.ts';
import { parseWindow, resolveReadScope } from './read-scope.ts';
import { lastSchema, listPageSchemas, tenantSchema, usageSchemas } from './schemas.ts';

const toolSchema = Type.Object({
  tool_name: Type.String(),
  declared: Type.Boolean({ description: 'The active policy has a contract for the tool.' }),
  ...usageSchemas,
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
        EVENTS: 'event_count',
        BLOCKED: 'block_count',
        'LAST SEEN': 'last_seen',
      },
      empty: 'No tool was called in that time.',
    },
    examples: [['customshouse observe tools --last 7d', 'tools of this week']],
  },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    last: Type.Optional(lastSchema),
    tenant_id: Type.Optional(tenantSchema),
    ...pageInput,
  }),
  output: Type.Object({ tools: Type.Array(toolSchema), ...listPageSchemas }),
  example: { last: '24h' },
  answer: { tools: [], count: 0, next_cursor: null, total: 0 },
  refusals: ['invalid_request'],
  async run(input, context) {
    const scope = resolveReadScope(input, context);
    const window = parseWindow(input.last, context.runtime.now_ms());
    const all = sumByValue(await readCounts(context.runtime, 'tool', scope, window));
    const { items, next_cursor } = cutPage(all, ['tools', scope, window.last], input);
    const names = items.map(({ value }) => value);
    const first = await readFirstSeen(context.runtime, 'tool', scope, names);
    const contracts = new Set(context.runtime.policy().contracts.map(({ tool_name }) => tool_name));
    const tools = items.map((each) => ({
      tool_name: each.value,
      declared: contracts.has(each.value),
      ...formatUsage(each, first.get(each.value)),
    }));
    return { tools, count: tools.length, next_cursor, total: all.length };
  },
});

const argumentsFrom = Type.Enum(['recorded_calls', 'approval_requests', 'nothing'], {
  description:
    'The source of the arguments. Events hold their names, types and ranges for the tools of `audit.log_argument_shapes`; approval requests hold masked arguments, of which names and types are used.',
});

const strings = Type.Array(Type.String());
const observedSchema = Type.Object(
  {
    agents: strings,
    calls_per_minute: Type.Integer({ description: 'The most calls that one agent made in one minute.' }),
    argument_tags: strings,
    argument_names: strings,
    result_tags: strings,
    has_egress: Type.Boolean(),
    origins: Type.Record(Type.String(), strings, {
      description: 'Labels that values had, by argument. Only calls of tools with `flow` record them.',
    }),
  },
  { description: 'The facts from which the contract is drafted.' },
);

export const observeToolContract = defineOperation({
  name: 'observe_tool_contract',
  summary: 'Draft a contract from recorded calls',
  description:
    'Drafts the contract of a tool from its recorded calls: agents, calls in a minute, tags of arguments and results, names, types and ranges of arguments, and by their names the origins that values must have. Set `audit.log_argument_shapes` while calls are recorded, because events hold no arguments otherwise. A draft changes nothing.',
  http: { method: 'GET', path: '/v1/dashboard/observe/tools/{tool_name}/contract' },
  cli: {
    verb: 'observe contract',
    arguments: ['tool_name'],
    options: ['last', 'tenant_id'],
    examples: [
      ['customshouse observe contract send_email --json', 'a draft to check and to save below policies/'],
    ],
  },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: Type.Object({
    tool_name: givenName,
    last: Type.Optional(lastSchema),
    tenant_id: Type.Optional(tenantSchema),
  }),
  output: Type.Object({
    tool_name: Type.String(),
    declared: Type.Boolean({ description: 'The active policy has a contract for the tool.' }),
    calls_seen: Type.Integer({
      description: 'Recorded calls from which the draft is made; at most 1,000 events are read.',
    }),
    results_seen: Type.Integer(),
    arguments_from: argumentsFrom,
    observed: observedSchema,
    contract: Type.Nullable(
      Type.Unsafe<object>({
        type: 'object',
        description:
          'One entry of `contracts` in a `v1alpha1` document; `null` if there are no recorded calls in the period.',
      }),
    ),
    reasons: Type.Record(Type.String(), Type.String(), {
      description: 'The reasons for parts of the contract, by path.',
    }),
  }),
  example: { tool_name: 'send_email', last: '7d' },
  answer: null,
  refusals: ['invalid_request'],
  async run(input, context) {
    const { tool_name } = input;
    const scope = resolveReadScope(input, context);
    const window = parseWindow(input.last, context.runtime.now_ms());
    const draft = await draftContract(tool_name, scope, window, context);
    const declared = context.runtime.policy().contracts.some((one) => one.tool_name === tool_name);
    const contract = draft.calls_seen + draft.results_seen === 0 ? null : draft.contract;
    return { tool_name, declared, ...draft, contract };
  },
});

export const observeMetrics = defineOperation({
  name: 'observe_metrics',
  summary: 'Show figures of agents and tools',
  description:
    'Returns the events, blocked events and block rate of each agent and each tool, 1,000 at most.',
  http: { method: 'GET', path: '/v1/dashboard/observe/metrics' },
  permission: 'audit:read',
  for_users: true,
  needs: 'journal',
  input: Type.Object({ last: Type.Optional(lastSchema), tenant_id: Type.Optional(tenantSchema) }),
  output: Type.Object({
    agents: Type.Array(Type.Object({ agent_id: Type.String(), ...usageSchemas })),
    tools: Type.Array(toolSchema),
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
