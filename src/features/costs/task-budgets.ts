import type { Store } from '../../platform/store/index.ts';
import type { TaskCostLimit } from '../../runtime/enforcement/task.ts';
import type { BudgetRefusal } from './budget-messages.ts';
import { type BudgetShare, computeBudgetWindow } from './windows.ts';

/** The period of budgets of tasks; no configured budget has it. */
export const TASK_PERIOD = 'task';

/** Returns a task's limit as a budget, so that the ledger counts it exactly over all processes. */
export function buildTaskShare({
  task_id,
  cost_max_micro_usd,
  created_ms,
  expires_ms,
}: TaskCostLimit): BudgetShare {
  return {
    budget: {
      name: 'task',
      label: 'The task',
      rule: 'task.cost',
      enforcement: 'enforce',
      period: TASK_PERIOD,
      limit_micro_usd: cost_max_micro_usd,
      limit_tokens: null,
      warn_at: 1,
      patterns: [],
      each: [],
      tenant_id: null,
    },
    scope: { task_id },
    lifetime: { starts_ms: created_ms, ends_ms: expires_ms },
  };
}

/** Builds the refusal of a model call that its task does not permit. */
export function buildTaskRefusal({
  rule,
  reason,
}: {
  readonly rule: string;
  readonly reason: string;
}): BudgetRefusal {
  return { cause: 'task', budget: 'task', rule, reason, resets_at_ms: null };
}

/** Returns what the model calls of tasks have cost, in millionths of a US dollar. Tasks without calls are left out. */
export async function readTaskCosts(
  { db }: Store,
  limits: readonly Pick<TaskCostLimit, 'task_id' | 'created_ms'>[],
): Promise<ReadonlyMap<string, number>> {
  const tasksByRow = new Map(
    limits.map(({ task_id, created_ms }) => {
      const share = buildTaskShare({ task_id, created_ms, cost_max_micro_usd: 0, expires_ms: created_ms });
      return [computeBudgetWindow(share, created_ms).row_id, task_id] as const;
    }),
  );
  if (tasksByRow.size === 0) return new Map();
  const rows = await db
    .selectFrom('budget_windows')
    .select(['row_id', 'spent_micro_usd'])
    .where('row_id', 'in', [...tasksByRow.keys()])
    .execute();
  return new Map(rows.map(({ row_id, spent_micro_usd }) => [tasksByRow.get(row_id)!, spent_micro_usd]));
}
