import { hash } from 'node:crypto';
import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import { matchesName } from '../../core/tags.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { Spender } from './types.ts';

type WrittenBudget = Config['cost']['budgets'][number];
type Field = keyof NonNullable<WrittenBudget['scope']>;

/** A budget as it is counted. Dollars are in whole millionths; `null`: not limited in that way. */
export interface Budget {
  readonly name: string;
  readonly enforcement: WrittenBudget['enforcement'];
  readonly period: string;
  readonly limit_micro_usd: number | null;
  readonly limit_tokens: number | null;
  readonly warn_at: number;
  /** Patterns for the fields that have one, and those that are counted each by itself. */
  readonly patterns: readonly (readonly [Field, string])[];
  readonly each: readonly Field[];
  /** The one tenant that it is for; `null` where it is for several. */
  readonly tenant_id: string | null;
}

/** Reads the budgets of a configuration. */
export function parseBudgets({ budgets }: Pick<Config['cost'], 'budgets'>): readonly Budget[] {
  return budgets.map(({ name, scope, limit_usd, limit_tokens, period, warn_at, enforcement }) => {
    const fields = Object.entries(scope) as [Field, string][];
    return {
      name,
      enforcement,
      period,
      limit_micro_usd: limit_usd === undefined ? null : Math.round(limit_usd * 1_000_000),
      limit_tokens: limit_tokens ?? null,
      warn_at,
      patterns: fields.filter(([, pattern]) => pattern !== 'each'),
      each: fields.filter(([, pattern]) => pattern === 'each').map(([field]) => field),
      tenant_id: isOneName(scope.tenant_id) ? scope.tenant_id : null,
    };
  });
}

function isOneName(pattern: string | undefined): pattern is string {
  return pattern !== undefined && pattern !== 'each' && !pattern.includes('*');
}

/** One budget, for one of those that it counts each by itself. */
export interface BudgetShare {
  readonly budget: Budget;
  /** By field what it is counted by: `{user_id: 'ann'}`. */
  readonly scope: Readonly<Record<string, string>>;
}

/** The names of the model that is asked. */
export interface ModelNames {
  /** What the client calls it, and what it is sent on as or may be: a budget for any of them concerns the call. */
  readonly all: readonly string[];
  /** The one that is counted by; empty where none is known. */
  readonly counted: string;
}

/** UTF-16 units of what one share is counted by. */
const VALUE_UNITS_MAX = 256;

/**
 * The budgets that a call concerns. A call that names no user or no session has the empty one: leaving a name out
 * leaves no budget.
 */
export function findBudgetShares(
  budgets: readonly Budget[],
  spender: Spender,
  models: ModelNames,
): readonly BudgetShare[] {
  const fits = ([field, pattern]: readonly [Field, string]): boolean => {
    if (field !== 'model') return matchesName(pattern, spender[field] ?? '');
    const wanted = pattern.toLowerCase();
    return models.all.some((model) => matchesName(wanted, model.toLowerCase()));
  };
  const countedBy = (field: Field): string =>
    (field === 'model' ? models.counted.toLowerCase() : (spender[field] ?? '')).slice(0, VALUE_UNITS_MAX);
  return budgets
    .filter(({ patterns }) => patterns.every(fits))
    .map((budget) => ({
      budget,
      scope: Object.fromEntries(budget.each.map((field) => [field, countedBy(field)])),
    }));
}

/** Where a share is counted at a moment. */
export interface BudgetWindow {
  readonly share: BudgetShare;
  /** What is booked now goes into this row. */
  readonly row_id: string;
  /** The rows that count together; more than one where time rolls along. */
  readonly row_ids: readonly string[];
  readonly starts_ms: number;
  /** From when on the row counts no more; `null` never. */
  readonly ends_ms: number | null;
  /** When the budget begins anew, or the part of it that was booked now comes back; `null` never. */
  readonly resets_at_ms: number | null;
}

/** In so many steps a period rolls along. */
const STEPS = 24;

/** Where a share is counted at that moment. */
export function computeBudgetWindow(share: BudgetShare, now_ms: number): BudgetWindow {
  const idOf = (starts_ms: number) => hashRowId(share, starts_ms);
  const { period } = share.budget;
  const fixed = findFixedPeriod(period, now_ms);
  if (fixed !== null) {
    const row_id = idOf(fixed.starts_ms);
    return { share, row_id, row_ids: [row_id], ...fixed, resets_at_ms: fixed.ends_ms };
  }
  const length_ms = parseDurationMs(period);
  const step_ms = length_ms / STEPS;
  const step = Math.floor(now_ms / step_ms);
  const startOf = (at: number) => Math.floor(at * step_ms);
  // Another machine's clock may be a step ahead; what it has booked there counts too.
  const row_ids = Array.from({ length: STEPS + 2 }, (_, at) => idOf(startOf(step - STEPS + at)));
  const ends_ms = startOf(step + 1) + length_ms;
  return {
    share,
    row_id: idOf(startOf(step)),
    row_ids,
    starts_ms: startOf(step),
    ends_ms,
    resets_at_ms: startOf(step + 1),
  };
}

function findFixedPeriod(
  period: string,
  now_ms: number,
): { readonly starts_ms: number; readonly ends_ms: number | null } | null {
  const now = new Date(now_ms);
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  switch (period) {
    case 'total':
      return { starts_ms: 0, ends_ms: null };
    case 'month':
      return { starts_ms: Date.UTC(year, month), ends_ms: Date.UTC(year, month + 1) };
    case 'week': {
      // Weeks begin on Monday; `getUTCDay` counts from Sunday.
      const monday = day - ((now.getUTCDay() + 6) % 7);
      return { starts_ms: Date.UTC(year, month, monday), ends_ms: Date.UTC(year, month, monday + 7) };
    }
    case 'day':
      return { starts_ms: Date.UTC(year, month, day), ends_ms: Date.UTC(year, month, day + 1) };
    default:
      return null;
  }
}

/** Names of agents and users can be longer than an index takes, so that a row goes by a hash of them. */
function hashRowId({ budget, scope }: BudgetShare, starts_ms: number): string {
  return hash(
    'sha256',
    JSON.stringify([budget.name, budget.period, Object.entries(scope), starts_ms]),
    'hex',
  );
}
