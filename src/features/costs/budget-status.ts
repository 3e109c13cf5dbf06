import { isDeepStrictEqual } from 'node:util';
import type { Store, StoreTables } from '../../platform/store/index.ts';
import { findThresholdLevel, sumWindowUsage } from './ledger.ts';
import { TASK_PERIOD } from './task-budgets.ts';
import type { BudgetStatus } from './types.ts';
import { type Budget, type BudgetShare, type BudgetWindow, computeBudgetWindow } from './windows.ts';

type Row = StoreTables['budget_windows'];

/** Returns the status of each share at a moment, in the order of the shares. */
export async function readBudgetStatuses(
  { db }: Store,
  shares: readonly BudgetShare[],
  nowMs: number,
): Promise<readonly BudgetStatus[]> {
  if (shares.length === 0) return [];
  const windows = shares.map((share) => computeBudgetWindow(share, nowMs));
  const found = await db
    .selectFrom('budget_windows')
    .selectAll()
    .where('row_id', 'in', [...new Set(windows.flatMap(({ row_ids }) => row_ids))])
    .execute();
  const rows = new Map(found.map((row) => [row.row_id, row]));
  return windows.map((window) => buildBudgetStatus(window, rows));
}

/** The rows that are read, and the statuses that are returned, at most. */
const ROWS_MAX = 20_000;
const STATUSES_MAX = 1_000;

/**
 * Returns the budgets that have a current row, and all budgets that every caller shares, the most used first. A budget
 * of certain tenants is listed only if `tenantIds` includes them.
 */
export async function listBudgetStatuses(
  { db }: Store,
  budgets: readonly Budget[],
  tenantIds: '*' | readonly string[],
  nowMs: number,
): Promise<readonly BudgetStatus[]> {
  let query = db
    .selectFrom('budget_windows')
    .selectAll()
    .where('period', '!=', TASK_PERIOD)
    .where(({ or, eb }) => or([eb('ends_ms', 'is', null), eb('ends_ms', '>', nowMs)]));
  if (tenantIds !== '*') query = query.where('tenant_id', 'in', ['', ...tenantIds]);
  const found = await query.orderBy('changed_ms', 'desc').limit(ROWS_MAX).execute();
  const seen = (tenantId: string | null) => tenantIds === '*' || tenantIds.includes(tenantId ?? '');
  const common = budgets
    .filter(({ each, tenant_id }) => each.length === 0 && seen(tenant_id))
    .map((budget) => ({ budget, scope: {} }));
  const shares = [...common, ...found.flatMap((row) => (seen(row.tenant_id) ? findShare(row, budgets) : []))];
  const rows = new Map(found.map((row) => [row.row_id, row]));
  const windows = new Map(
    shares.map((share) => computeBudgetWindow(share, nowMs)).map((window) => [window.row_id, window]),
  );
  return [...windows.values()]
    .map((window) => buildBudgetStatus(window, rows))
    .toSorted((a, b) => computeUsedShare(b) - computeUsedShare(a))
    .slice(0, STATUSES_MAX);
}

/** Returns the row's budget as configured now; empty if it was removed or its period or dimensions changed. */
function findShare(row: Row, budgets: readonly Budget[]): readonly BudgetShare[] {
  const scope = JSON.parse(row.scope) as Record<string, string>;
  return budgets
    .filter(
      ({ name, period, each }) =>
        name === row.budget && period === row.period && isDeepStrictEqual([...each], Object.keys(scope)),
    )
    .map((budget) => ({ budget, scope }));
}

function buildBudgetStatus(window: BudgetWindow, rows: ReadonlyMap<string, Row>): BudgetStatus {
  const { budget, scope } = window.share;
  const spent = sumWindowUsage(rows, window, 'spent alone');
  const reserved = sumWindowUsage(rows, window, 'reserved alone');
  return {
    budget: budget.name,
    scope,
    enforcement: budget.enforcement,
    period: budget.period,
    limit_micro_usd: budget.limit_micro_usd,
    limit_tokens: budget.limit_tokens,
    spent_micro_usd: spent.micro_usd,
    spent_tokens: spent.tokens,
    reserved_micro_usd: reserved.micro_usd,
    reserved_tokens: reserved.tokens,
    state: (['ok', 'warning', 'exhausted'] as const)[findThresholdLevel(budget, spent)],
    resets_at_ms: window.resets_at_ms,
  };
}

function computeUsedShare({
  limit_micro_usd,
  limit_tokens,
  spent_micro_usd,
  spent_tokens,
}: BudgetStatus): number {
  const parts = [
    [limit_micro_usd, spent_micro_usd],
    [limit_tokens, spent_tokens],
  ] as const;
  return Math.max(...parts.map(([limit, spent]) => (limit === null ? 0 : spent / Math.max(1, limit))));
}
