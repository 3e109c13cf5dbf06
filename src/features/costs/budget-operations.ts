import { operation } from '../../operations/operation.ts';
import { agentId, name, sessionId, tenantId } from '../../operations/shapes.ts';
import { named, resolveSubject, tenantsOf } from '../../operations/subject.ts';
import type { Standing } from './types.ts';

/** An amount in an answer. */
export const money = { type: 'number', description: 'US dollars.' } as const;
const limited = { type: ['number', 'null'] } as const;

const standing = {
  type: 'object',
  required: ['budget', 'scope', 'state', 'remaining_usd', 'remaining_tokens'],
  properties: {
    budget: { type: 'string' },
    scope: {
      type: 'object',
      description: 'Names that the budget is counted by; empty if all calls share it.',
      additionalProperties: { type: 'string' },
    },
    state: {
      enum: ['ok', 'warning', 'exhausted'],
      description: '`warning`: past `warn_at`; `exhausted`: the limit is spent.',
    },
    enforcement: { enum: ['enforce', 'monitor'] },
    period: { type: 'string' },
    resets_at: { type: ['string', 'null'], description: 'Start of the next period; `null`: never.' },
    limit_usd: limited,
    spent_usd: money,
    reserved_usd: { ...money, description: 'Reserved for calls in progress.' },
    remaining_usd: { ...limited, description: '`null` where dollars are not limited.' },
    limit_tokens: limited,
    spent_tokens: { type: 'integer' },
    reserved_tokens: { type: 'integer' },
    remaining_tokens: { ...limited, description: '`null` where tokens are not limited.' },
  },
} as const;

/** What the examples show. */
const team = {
  budget: 'team',
  scope: {},
  state: 'ok' as const,
  enforcement: 'enforce' as const,
  period: 'total',
  resets_at: null,
  limit_usd: 50,
  spent_usd: 0,
  reserved_usd: 0,
  remaining_usd: 50,
  limit_tokens: null,
  spent_tokens: 0,
  reserved_tokens: 0,
  remaining_tokens: null,
};

export const dashboardCostBudgets = operation({
  name: 'dashboard_cost_budgets',
  summary: 'Show the status of budgets',
  description:
    'Lists every budget with spending or reservations, the most used first, at most 1,000. For users as the summary; those with certain tenants see the budgets of these.',
  http: { method: 'GET', path: '/v1/dashboard/cost/budgets' },
  permission: 'costs:read',
  for_users: true,
  needs: 'store',
  input: {
    type: 'object',
    properties: { tenant_id: { ...name, description: 'One tenant; without it all that the user sees.' } },
  },
  output: {
    type: 'object',
    required: ['budgets'],
    properties: { budgets: { type: 'array', items: standing } },
  },
  example: {},
  answer: { budgets: [team] },
  async run(input, context) {
    const costs = await context.runtime.costs();
    return { budgets: (await costs.standings(tenantsOf(input, context))).map(shown) };
  },
});

export const checkBudget = operation({
  name: 'check_budget',
  summary: 'Show what remains of a budget',
  description:
    'The budgets that a call would concern, and what is left: of an agent’s own tenant, session and user. `remaining_usd` and `remaining_tokens` are the least of all that are enforced, `null` where nothing is limited.',
  http: { method: 'GET', path: '/v1/costs/budget' },
  mcp: { tool: 'check_budget', read_only: true },
  permission: 'costs:own',
  needs: 'store',
  input: {
    type: 'object',
    properties: {
      agent_id: agentId,
      tenant_id: tenantId,
      session_id: sessionId,
      user_id: { ...name, description: 'The user on whose behalf the agent acts.' },
      model: { ...name, description: 'The model; without it budgets for single models are left out.' },
    },
  },
  output: {
    type: 'object',
    required: ['budgets', 'remaining_usd', 'remaining_tokens'],
    properties: {
      budgets: { type: 'array', items: standing },
      remaining_usd: limited,
      remaining_tokens: limited,
    },
  },
  example: { agent_id: 'support-bot', user_id: 'ann' },
  answer: { budgets: [team], remaining_usd: 50, remaining_tokens: null },
  async run(input, context) {
    const { tenant_id, agent_id } = resolveSubject(input, context);
    const spender = {
      tenant_id,
      agent_id,
      session_id: named(input.session_id),
      user_id: named(input.user_id),
    };
    const costs = await context.runtime.costs();
    const budgets = (await costs.standing(spender, named(input.model))).map(shown);
    const enforced = budgets.filter(({ enforcement }) => enforcement === 'enforce');
    return {
      budgets,
      remaining_usd: least(enforced.map(({ remaining_usd }) => remaining_usd)),
      remaining_tokens: least(enforced.map(({ remaining_tokens }) => remaining_tokens)),
    };
  },
});

function shown(one: Standing) {
  const left = (limit: number | null, used: number) => (limit === null ? null : Math.max(0, limit - used));
  const left_micro_usd = left(one.limit_micro_usd, one.spent_micro_usd + one.reserved_micro_usd);
  return {
    budget: one.budget,
    scope: { ...one.scope },
    state: one.state,
    enforcement: one.enforcement,
    period: one.period,
    resets_at: one.resets_at_ms === null ? null : new Date(one.resets_at_ms).toISOString(),
    limit_usd: one.limit_micro_usd === null ? null : dollars(one.limit_micro_usd),
    spent_usd: dollars(one.spent_micro_usd),
    reserved_usd: dollars(one.reserved_micro_usd),
    remaining_usd: left_micro_usd === null ? null : dollars(left_micro_usd),
    limit_tokens: one.limit_tokens,
    spent_tokens: one.spent_tokens,
    reserved_tokens: one.reserved_tokens,
    remaining_tokens: left(one.limit_tokens, one.spent_tokens + one.reserved_tokens),
  };
}

function least(amounts: readonly (number | null)[]): number | null {
  const limits = amounts.filter((amount) => amount !== null);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** What an answer tells of whole millionths of a dollar. */
export function dollars(micro_usd: number): number {
  return micro_usd / 1_000_000;
}
