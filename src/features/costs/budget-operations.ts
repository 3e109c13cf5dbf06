import { Type } from '../../core/schema.ts';
import { defineOperation } from '../../operations/operation.ts';
import { agentId, name, sessionId, tenantId } from '../../operations/shapes.ts';
import { dropBlankName, resolveSubject, resolveTenants } from '../../operations/subject.ts';
import type { BudgetStatus } from './types.ts';

/** The schema of a dollar amount in a response. */
export const usdSchema = Type.Number({ description: 'US dollars.' });
const limitSchema = Type.Nullable(Type.Number());

const statusSchema = Type.Object({
  budget: Type.String(),
  scope: Type.Record(Type.String(), Type.String(), {
    description: 'Names that the budget is counted by; empty if all calls share it.',
  }),
  state: Type.Enum(['ok', 'warning', 'exhausted'], {
    description: '`warning`: past `warn_at`; `exhausted`: the limit is spent.',
  }),
  enforcement: Type.Enum(['enforce', 'monitor']),
  period: Type.String(),
  resets_at: Type.Nullable(Type.String({ description: 'Start of the next period; `null`: never.' })),
  limit_usd: limitSchema,
  spent_usd: usdSchema,
  reserved_usd: { ...usdSchema, description: 'Reserved for calls in progress.' },
  remaining_usd: { ...limitSchema, description: '`null` where dollars are not limited.' },
  limit_tokens: limitSchema,
  spent_tokens: Type.Integer(),
  reserved_tokens: Type.Integer(),
  remaining_tokens: { ...limitSchema, description: '`null` where tokens are not limited.' },
});

/** The budget status in the examples. */
const EXAMPLE_STATUS = {
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

export const dashboardCostBudgets = defineOperation({
  name: 'dashboard_cost_budgets',
  summary: 'Show the status of budgets',
  description:
    'Lists every budget with spending or reservations, the most used first, at most 1,000. For users as the summary; those with certain tenants see the budgets of these.',
  http: { method: 'GET', path: '/v1/dashboard/cost/budgets' },
  permission: 'costs:read',
  for_users: true,
  needs: 'store',
  input: Type.Object({
    tenant_id: Type.Optional({ ...name, description: 'One tenant; without it all that the user sees.' }),
  }),
  output: Type.Object({ budgets: Type.Array(statusSchema) }),
  example: {},
  answer: { budgets: [EXAMPLE_STATUS] },
  async run(input, context) {
    const costs = await context.runtime.costs();
    return { budgets: (await costs.listStatuses(resolveTenants(input, context))).map(buildStatusReply) };
  },
});

export const checkBudget = defineOperation({
  name: 'check_budget',
  summary: 'Show what remains of a budget',
  description:
    'The budgets that a call would concern, and what is left: of an agent’s own tenant, session and user. `remaining_usd` and `remaining_tokens` are the least of all that are enforced, `null` where nothing is limited.',
  http: { method: 'GET', path: '/v1/costs/budget' },
  mcp: { tool: 'check_budget', read_only: true },
  permission: 'costs:own',
  needs: 'store',
  input: Type.Object({
    agent_id: Type.Optional(agentId),
    tenant_id: Type.Optional(tenantId),
    session_id: Type.Optional(sessionId),
    user_id: Type.Optional({ ...name, description: 'The user on whose behalf the agent acts.' }),
    model: Type.Optional({
      ...name,
      description: 'The model; without it budgets for single models are left out.',
    }),
  }),
  output: Type.Object({
    budgets: Type.Array(statusSchema),
    remaining_usd: limitSchema,
    remaining_tokens: limitSchema,
  }),
  example: { agent_id: 'support-bot', user_id: 'ann' },
  answer: { budgets: [EXAMPLE_STATUS], remaining_usd: 50, remaining_tokens: null },
  async run(input, context) {
    const { tenant_id, agent_id } = resolveSubject(input, context);
    const spender = {
      tenant_id,
      agent_id,
      session_id: dropBlankName(input.session_id),
      user_id: dropBlankName(input.user_id),
    };
    const costs = await context.runtime.costs();
    const budgets = (await costs.readStatus(spender, dropBlankName(input.model))).map(buildStatusReply);
    const enforced = budgets.filter(({ enforcement }) => enforcement === 'enforce');
    return {
      budgets,
      remaining_usd: findLeast(enforced.map(({ remaining_usd }) => remaining_usd)),
      remaining_tokens: findLeast(enforced.map(({ remaining_tokens }) => remaining_tokens)),
    };
  },
});

function buildStatusReply(one: BudgetStatus) {
  const left = (limit: number | null, used: number) => (limit === null ? null : Math.max(0, limit - used));
  const leftMicroUsd = left(one.limit_micro_usd, one.spent_micro_usd + one.reserved_micro_usd);
  return {
    budget: one.budget,
    scope: { ...one.scope },
    state: one.state,
    enforcement: one.enforcement,
    period: one.period,
    resets_at: one.resets_at_ms === null ? null : new Date(one.resets_at_ms).toISOString(),
    limit_usd: one.limit_micro_usd === null ? null : toUsd(one.limit_micro_usd),
    spent_usd: toUsd(one.spent_micro_usd),
    reserved_usd: toUsd(one.reserved_micro_usd),
    remaining_usd: leftMicroUsd === null ? null : toUsd(leftMicroUsd),
    limit_tokens: one.limit_tokens,
    spent_tokens: one.spent_tokens,
    reserved_tokens: one.reserved_tokens,
    remaining_tokens: left(one.limit_tokens, one.spent_tokens + one.reserved_tokens),
  };
}

function findLeast(amounts: readonly (number | null)[]): number | null {
  const limits = amounts.filter((amount) => amount !== null);
  return limits.length === 0 ? null : Math.min(...limits);
}

/** Converts whole millionths of a dollar to the dollars of a response. */
export function toUsd(microUsd: number): number {
  return microUsd / 1_000_000;
}
