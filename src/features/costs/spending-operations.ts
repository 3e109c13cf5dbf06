import { Type } from '../../core/schema.ts';
import { type Context, defineOperation, Refusal } from '../../operations/operation.ts';
import { name } from '../../operations/shapes.ts';
import { dropBlankName, resolveTenants } from '../../operations/subject.ts';
import { narrowScope } from '../../runtime/access/scope.ts';
import { toUsd, usdSchema } from './budget-operations.ts';
import { type Period, parsePeriod } from './period.ts';
import type { Costs, SpendingFilter, SpendingKey, SpendingSum } from './types.ts';

const period = Type.String({
  maxLength: 32,
  description:
    'Days, UTC: `last_30d` (the default), `7d`, `4w`, `today`, `this_month`, `all`, from a day `2026-01-31` on, or `2026-01-01/2026-01-31`.',
});

/** The filter of a spending request. */
const filterProperties = {
  period: Type.Optional(period),
  since: Type.Optional({ ...period, description: 'The same, under another name.' }),
  tenant_id: Type.Optional({ ...name, description: 'One tenant; without it all that the user sees.' }),
  agent_id: Type.Optional({ ...name, description: 'One agent.' }),
  model: Type.Optional({ ...name, description: 'One model.' }),
} as const;

const buildSumsSchema = (what: string) =>
  Type.Record(Type.String(), Type.Number(), { description: `US dollars by ${what}.` });

const tokensSchema = Type.Object({
  input: Type.Integer({ description: 'That went in, those from and for the cache included.' }),
  output: Type.Integer(),
  cache_read: Type.Integer(),
  cache_write: Type.Integer(),
});

const countProperties = {
  calls: Type.Integer(),
  tokens: tokensSchema,
  estimated_calls: Type.Integer({
    description: 'Calls whose tokens were counted here, for the provider did not say.',
  }),
  assumed_calls: Type.Integer({
    description: 'Calls to models without a known price, at `cost.assumed_usd_per_mtok`.',
  }),
} as const;

/** The entries of one list in a summary at most. The rest are summed in one entry. */
const ENTRIES_MAX = 1_000;
const ASSUMED_MODELS_MAX = 100;
const OTHERS_NAME = '(others)';
const UNNAMED = '(none)';

export const dashboardCostSummary = defineOperation({
  name: 'dashboard_cost_summary',
  summary: 'Show spending',
  description:
    'Returns spending on calls to model providers, by model, tenant, agent, user, provider and day. For users with the role `admin` or `billing`, limited to the tenants that they may see. Spending of other workers in the last quarter of a second may be missing.',
  http: { method: 'GET', path: '/v1/dashboard/cost/summary' },
  permission: 'costs:read',
  for_users: true,
  needs: 'store',
  input: Type.Object(filterProperties),
  output: Type.Object({
    total_cost: usdSchema,
    by_model: buildSumsSchema('model'),
    by_tenant: buildSumsSchema('tenant'),
    period: Type.String({ description: 'The time, `last_30d`.' }),
    since: Type.Optional(Type.String({ description: 'Its first day.' })),
    until: Type.Optional(Type.String({ description: 'Its last day.' })),
    by_agent: Type.Optional(buildSumsSchema('agent')),
    by_user: Type.Optional(buildSumsSchema('user; `(none)` where a call named none')),
    by_provider: Type.Optional(buildSumsSchema('provider')),
    by_day: Type.Optional(buildSumsSchema('day')),
    ...countProperties,
    assumed_models: Type.Optional(
      Type.Array(Type.String(), {
        description: 'The models of `assumed_calls`, those that cost most first, 100 at most.',
      }),
    ),
  }),
  example: { period: 'last_30d' },
  answer: {
    total_cost: 0,
    by_model: {},
    by_tenant: {},
    period: 'last_30d',
    since: '2026-01-02',
    until: '2026-01-31',
    by_agent: {},
    by_user: {},
    by_provider: {},
    by_day: {},
    calls: 0,
    tokens: { input: 0, output: 0, cache_read: 0, cache_write: 0 },
    estimated_calls: 0,
    assumed_calls: 0,
    assumed_models: [],
  },
  refusals: ['invalid_request'],
  async run(input, context) {
    const request = readPeriod(input, context);
    const filter = buildFilter(input, request, context);
    const costs = await context.runtime.costs();
    const [sum] = await costs.readSpending(filter, [], 1);
    if (sum === undefined) throw new Error('a sum of all there always is');
    const by = (field: keyof SpendingKey) => sumUsdBy(costs, filter, field);
    return {
      total_cost: toUsd(sum.micro_usd),
      by_model: await by('model'),
      by_tenant: await by('tenant_id'),
      period: request.name,
      since: request.since,
      until: request.until,
      by_agent: await by('agent_id'),
      by_user: await by('user_id'),
      by_provider: await by('provider'),
      by_day: await by('day'),
      ...buildCounts(sum),
      assumed_models: sum.assumed_calls === 0 ? [] : await listAssumedModels(costs, filter),
    };
  },
});

const GROUPS = {
  day: 'day',
  tenant: 'tenant_id',
  agent: 'agent_id',
  user: 'user_id',
  model: 'model',
  provider: 'provider',
} as const;
const GROUP_WORDS = Object.keys(GROUPS) as (keyof typeof GROUPS)[];

export const dashboardCostReport = defineOperation({
  name: 'dashboard_cost_report',
  summary: 'List spending line by line',
  description:
    'Adds up spending by the requested fields, most expensive line first. The same users as for the summary may read it.',
  http: { method: 'GET', path: '/v1/dashboard/cost/report' },
  permission: 'costs:read',
  for_users: true,
  needs: 'store',
  input: Type.Object({
    ...filterProperties,
    group_by: Type.Optional(
      Type.String({
        pattern: `^(${GROUP_WORDS.join('|')})(,(${GROUP_WORDS.join('|')})){0,5}$`,
        maxLength: 64,
        description: `Words with commas between them: ${GROUP_WORDS.map((word) => `\`${word}\``).join(', ')}. Default \`day,agent,model\`.`,
      }),
    ),
    limit: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10_000, description: 'Lines at most; default 1,000.' }),
    ),
  }),
  output: Type.Object({
    period: Type.String(),
    since: Type.Optional(Type.String()),
    until: Type.Optional(Type.String()),
    lines: Type.Array(
      Type.Object({
        day: Type.Optional(Type.String()),
        tenant: Type.Optional(Type.String()),
        agent: Type.Optional(Type.String()),
        user: Type.Optional(Type.String({ description: 'Empty if the call named no user.' })),
        model: Type.Optional(Type.String()),
        provider: Type.Optional(Type.String({ description: 'Empty for calls whose reservation expired.' })),
        cost: usdSchema,
        ...countProperties,
      }),
    ),
    truncated: Type.Boolean({ description: 'There are more lines than requested.' }),
  }),
  example: { period: 'last_30d', group_by: 'day,model' },
  answer: { period: 'last_30d', since: '2026-01-02', until: '2026-01-31', lines: [], truncated: false },
  refusals: ['invalid_request'],
  async run(input, context) {
    const request = readPeriod(input, context);
    const words = [...new Set((input.group_by ?? 'day,agent,model').split(','))] as (keyof typeof GROUPS)[];
    const limit = input.limit ?? 1_000;
    const costs = await context.runtime.costs();
    const sums = await costs.readSpending(
      buildFilter(input, request, context),
      words.map((word) => GROUPS[word]),
      limit + 1,
    );
    const lines = sums.slice(0, limit).map((sum) => ({
      ...Object.fromEntries(words.map((word) => [word, sum[GROUPS[word]] ?? ''])),
      cost: toUsd(sum.micro_usd),
      ...buildCounts(sum),
    }));
    return {
      period: request.name,
      since: request.since,
      until: request.until,
      lines,
      truncated: sums.length > limit,
    };
  },
});

interface FilterInput {
  readonly period?: string;
  readonly since?: string;
  readonly tenant_id?: string | null;
  readonly agent_id?: string | null;
  readonly model?: string | null;
}

function readPeriod({ period: written, since }: FilterInput, { runtime }: Context): Period {
  const request = parsePeriod(written ?? since ?? 'last_30d', runtime.now_ms());
  if (request !== null) return request;
  throw new Refusal(
    'invalid_request',
    'That is not a period. Write `last_30d`, `7d`, or two dates as in `2026-01-01/2026-01-31`.',
  );
}

function buildFilter(input: FilterInput, { since, until }: Period, context: Context): SpendingFilter {
  return {
    since,
    until,
    tenant_ids: resolveTenants(input, context),
    agent_ids: narrowScope(context.caller.agents, dropBlankName(input.agent_id)),
    model: dropBlankName(input.model),
  };
}

/** Returns the models without a known price. */
async function listAssumedModels(costs: Costs, filter: SpendingFilter): Promise<string[]> {
  const sums = await costs.readSpending(filter, ['model'], ENTRIES_MAX);
  return sums
    .filter(({ assumed_calls }) => assumed_calls > 0)
    .slice(0, ASSUMED_MODELS_MAX)
    .map(({ model }) => model || UNNAMED);
}

async function sumUsdBy(
  costs: Costs,
  filter: SpendingFilter,
  field: keyof SpendingKey,
): Promise<Record<string, number>> {
  const sums = await costs.readSpending(filter, [field], ENTRIES_MAX);
  const named = sums.map((sum) => [sum[field] || UNNAMED, toUsd(sum.micro_usd)] as const);
  if (sums.length < ENTRIES_MAX) return Object.fromEntries(named);
  const [all] = await costs.readSpending(filter, [], 1);
  const shownMicroUsd = sums.reduce((sum, { micro_usd }) => sum + micro_usd, 0);
  return Object.fromEntries([...named, [OTHERS_NAME, toUsd((all?.micro_usd ?? 0) - shownMicroUsd)]]);
}

function buildCounts(sum: SpendingSum) {
  return {
    calls: sum.calls,
    tokens: {
      input: sum.input_tokens,
      output: sum.output_tokens,
      cache_read: sum.cache_read_tokens,
      cache_write: sum.cache_write_tokens,
    },
    estimated_calls: sum.estimated_calls,
    assumed_calls: sum.assumed_calls,
  };
}
