import type { ChargedUsage, Cost, ModelCosts, Spender } from '../../operations/model-costs.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** Prices, budgets and spending. Loaded on first use. */
    readonly costs: () => Promise<Costs>;
  }
}

/** US dollars per million tokens, which equals millionths of a dollar per token. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  /** Tokens read from the provider's cache, and tokens written to it. */
  readonly cache_read: number;
  readonly cache_write: number;
  /** Cache writes that are kept for one hour. */
  readonly cache_write_1h: number;
}

/** The price of a model. */
export interface Price {
  /** A name or a pattern (`*`), in lower case. */
  readonly model: string;
  /** A pattern for the configured provider name; `null` matches every provider. */
  readonly provider: string | null;
  readonly rates: Rates;
  /** Rates for the whole call if its input exceeds `input_tokens`. */
  readonly above: { readonly input_tokens: number; readonly rates: Rates } | null;
  /** The output limit of the model; `null` if unknown. */
  readonly max_output_tokens: number | null;
  /** The source and the date of the figures; `null` if unknown. */
  readonly source: string | null;
  readonly as_of: string | null;
}

/** The charge of one call, for metrics. */
export interface ChargedCall {
  readonly spender: Spender;
  readonly usage: ChargedUsage;
  readonly cost: Cost;
}

/** A refusal, warning or exhaustion of a budget, for metrics. */
export interface BudgetNotice {
  readonly budget: string;
  readonly kind: 'refusal' | 'warning' | 'exhausted';
  readonly tenant_id: string;
}

/** Sums over calls. */
export type SpendingFigures = {
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly micro_usd: number;
  /** Calls whose usage was estimated because the provider reported none. */
  readonly estimated_calls: number;
  /** Calls of models without a known price, charged at the assumed price. */
  readonly assumed_calls: number;
};

/** The dimensions of spending. `day` is in UTC, `2026-01-31`. */
export interface SpendingKey {
  readonly day: string;
  readonly tenant_id: string;
  readonly agent_id: string;
  /** Empty if the call named no user. */
  readonly user_id: string;
  readonly model: string;
  readonly provider: string;
}

export interface SpendingRow extends SpendingKey, SpendingFigures {}

/** Added rows. Dimensions that are not grouped by are absent. */
export type SpendingSum = Partial<SpendingKey> & SpendingFigures;

/** A filter for spending. */
export interface SpendingFilter {
  /** The first and the last day, inclusive. */
  readonly since: string;
  readonly until: string;
  /** `*` matches every tenant. */
  readonly tenant_ids: '*' | readonly string[];
  readonly agent_ids: '*' | readonly string[];
  readonly model: string | null;
}

/** The status of a budget for one tenant, agent, session, user or model. */
export interface BudgetStatus {
  readonly budget: string;
  /** The values that the budget counts by, such as `{user_id: 'ann'}`; empty if all callers share it. */
  readonly scope: Readonly<Record<string, string>>;
  readonly enforcement: 'enforce' | 'monitor';
  readonly period: string;
  /** `null` means no limit of this kind. Dollars are in millionths. */
  readonly limit_micro_usd: number | null;
  readonly limit_tokens: number | null;
  readonly spent_micro_usd: number;
  readonly spent_tokens: number;
  /** Reserved for calls in progress. */
  readonly reserved_micro_usd: number;
  readonly reserved_tokens: number;
  readonly state: 'ok' | 'warning' | 'exhausted';
  readonly resets_at_ms: number | null;
}

/** Prices, budgets and the ledger of one process. */
export interface Costs extends ModelCosts {
  /** Returns recorded spending, grouped by `by`, highest cost first. */
  readonly readSpending: (
    filter: SpendingFilter,
    by: readonly (keyof SpendingKey)[],
    limit: number,
  ) => Promise<readonly SpendingSum[]>;
  /** Returns the status of each budget that applies to a call. */
  readonly readStatus: (spender: Spender, model: string | null) => Promise<readonly BudgetStatus[]>;
  /** Returns the status of all active budgets of the tenants, most used first; at most 1,000. */
  readonly listStatuses: (tenantIds: '*' | readonly string[]) => Promise<readonly BudgetStatus[]>;
  /** Flushes pending entries. Resolves after one attempt. */
  readonly close: () => Promise<void>;
}
