import { hash } from 'node:crypto';
import { parseDurationMs } from '../../core/policy/compile/duration.ts';
import { matchesName } from '../../core/tags.ts';
import type { Spender } from '../../operations/model-costs.ts';
import type { Config } from '../../runtime/config/index.ts';

type WrittenBudget = Config['cost']['budgets'][number];
type Field = keyof NonNullable<WrittenBudget['scope']>;

/** A parsed budget. Dollars are in whole millionths; `null` means no limit of this kind. */
export interface Budget {
  readonly name: string;
  /** The subject of sentences about it, such as ``The budget `daily` ``. */
  readonly label: string;
  /** Its name in events, such as `budget.daily`. */
  readonly rule: string;
  readonly enforcement: WrittenBudget['enforcement'];
  readonly period: string;
  readonly limit_micro_usd: number | null;
  readonly limit_tokens: number | null;
  readonly warn_at: number;
  /** The patterns that a call must match, and the fields whose values are counted separately. */
  readonly patterns: readonly (readonly [Field, string])[];
  readonly each: readonly Field[];
  /** The only tenant of the budget; `null` if it applies to several. */
  readonly tenant_id: string | null;
}

/** Parses the budgets of a configuration. */
export function parseBudgets({ budgets }: Pick<Config['cost'], 'budgets'>): readonly Budget[] {
  return budgets.map(({ name, scope, limit_usd, limit_tokens, period, warn_at, enforcement }) => {
    const fields = Object.entries(scope) as [Field, string][];
    return {
      name,
      label: `The budget \`${name}\``,
      rule: `budget.${name}`,
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

/** A budget for one combination of the values that it counts separately. */
export interface BudgetShare {
  readonly budget: Budget;
  /** The counted values by field, such as `{user_id: 'ann'}`. */
  readonly scope: Readonly<Record<string, string>>;
  /** The only period of a budget that has no others; absent if periods follow each other. */
  readonly lifetime?: { readonly starts_ms: number; readonly ends_ms: number };
}

/** The names of the requested model. */
export interface ModelNames {
  /**
   * The name that the client sent, and the names to which it may resolve. A budget for any of them applies to the call.
   */
  readonly all: readonly string[];
  /** The name that usage is counted by; empty if none is known. */
  readonly counted: string;
}

/** The length to which a counted value is cut, in UTF-16 units. */
const VALUE_UNITS_MAX = 256;

/**
 * Returns the budgets that apply to a call. A call without a user or a session counts as the empty one, so omitting a
 * name does not avoid a budget.
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

/** The rows in which a share is counted at a moment. */
export interface BudgetWindow {
  readonly share: BudgetShare;
  /** The row that charges at this moment go into. */
  readonly row_id: string;
  /** The rows whose sum is compared with the limit; more than one for a rolling period. */
  readonly row_ids: readonly string[];
  readonly starts_ms: number;
  /** The time from which the row no longer counts; `null` means never. */
  readonly ends_ms: number | null;
  /**
   * The time when the budget resets, or when the oldest step of a rolling period no longer counts; `null` means never.
   */
  readonly resets_at_ms: number | null;
}

/** The number of steps of a rolling period. */
const STEPS = 24;

/** Returns the window of a share at a moment. */
export function computeBudgetWindow(share: BudgetShare, nowMs: number): BudgetWindow {
  const idOf = (startsMs: number) => hashRowId(share, startsMs);
  const { period } = share.budget;
  const { lifetime } = share;
  const fixed = lifetime ?? findFixedPeriod(period, nowMs);
  if (fixed !== null) {
    const rowId = idOf(fixed.starts_ms);
    const resetsAtMs = lifetime === undefined ? fixed.ends_ms : null;
    return { share, row_id: rowId, row_ids: [rowId], ...fixed, resets_at_ms: resetsAtMs };
  }
  const lengthMs = parseDurationMs(period);
  const stepMs = lengthMs / STEPS;
  const step = Math.floor(nowMs / stepMs);
  const startOf = (at: number) => Math.floor(at * stepMs);
  // The clock of another machine may be one step ahead; its charges count too.
  const rowIds = Array.from({ length: STEPS + 2 }, (_, at) => idOf(startOf(step - STEPS + at)));
  const endsMs = startOf(step + 1) + lengthMs;
  return {
    share,
    row_id: idOf(startOf(step)),
    row_ids: rowIds,
    starts_ms: startOf(step),
    ends_ms: endsMs,
    resets_at_ms: startOf(step + 1),
  };
}

function findFixedPeriod(
  period: string,
  nowMs: number,
): { readonly starts_ms: number; readonly ends_ms: number | null } | null {
  const now = new Date(nowMs);
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

/** Returns a hash as the row's key, because names of agents and users can exceed the length limit of an index. */
function hashRowId({ budget, scope }: BudgetShare, startsMs: number): string {
  return hash('sha256', JSON.stringify([budget.name, budget.period, Object.entries(scope), startsMs]), 'hex');
}
