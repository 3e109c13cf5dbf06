import type { WireUsage } from '../../core/wire/wire-format.ts';

declare module '../../operations/runtime.ts' {
  interface Runtime {
    /** Prices, budgets and what was spent. Loaded with the first question. */
    readonly costs: () => Promise<Costs>;
  }
}

/** US dollars for a million tokens, which is the same as millionths of a dollar for one. */
export interface Rates {
  readonly input: number;
  readonly output: number;
  /** For tokens that the provider's cache gave, and for those that were written to it. */
  readonly cache_read: number;
  readonly cache_write: number;
  /** For those of them that are kept for an hour. */
  readonly cache_write_1h: number;
}

/** What a model costs. */
export interface Price {
  /** A name or a pattern (`*`), in lower case. */
  readonly model: string;
  /** A pattern for the configured name of the provider; `null` any. */
  readonly provider: string | null;
  readonly rates: Rates;
  /** Other rates for the whole call, where more tokens than that go in. */
  readonly above: { readonly input_tokens: number; readonly rates: Rates } | null;
  /** What may come out at most; `null` where nobody says. */
  readonly max_output_tokens: number | null;
  /** Where the figures are from, and of which day; `null` where nobody says. */
  readonly source: string | null;
  readonly as_of: string | null;
}

/** US dollars for a million tokens: in, out, from the cache, into the cache; `null`: as tokens that go in. */
export type RowRates = readonly [number, number, number | null, number | null];

/** A row of the price table: the model, its rates, the tokens that may come out, and others above so many tokens in. */
export type PriceRow = readonly [
  model: string,
  ...RowRates,
  max_output_tokens: number | null,
  above?: readonly [input_tokens: number, ...RowRates],
];

/** Rows of one price list. */
export interface PriceGroup {
  readonly vendor: string;
  readonly source: string;
  /** The day of the figures, ISO 8601. */
  readonly as_of: string;
  /** What a token costs that the provider's cache keeps for an hour, in tokens that go in; absent: as any that is written. */
  readonly cache_write_1h_of_input?: number;
  readonly rows: readonly PriceRow[];
}

/** What was spent with one call, told to whoever counts. */
export interface ChargedCall {
  readonly spender: Spender;
  readonly usage: ChargedUsage;
  readonly cost: Cost;
}

/** What one budget came to, told to whoever counts: a call was refused, a warning was given, the limit was reached. */
export interface BudgetNotice {
  readonly budget: string;
  readonly kind: 'refusal' | 'warning' | 'exhausted';
  readonly tenant_id: string;
}

/** Sums over calls. */
export interface SpendingFigures {
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  readonly micro_usd: number;
  /** Calls whose tokens were counted by us, for the provider did not say. */
  readonly estimated_calls: number;
  /** Calls of models without a known price, at an assumed one. */
  readonly assumed_calls: number;
}

/** Who spent it, on what, on which day (UTC, `2026-01-31`). */
export interface SpendingKey {
  readonly day: string;
  readonly tenant_id: string;
  readonly agent_id: string;
  /** Empty where the call named none. */
  readonly user_id: string;
  readonly model: string;
  readonly provider: string;
}

export interface SpendingRow extends SpendingKey, SpendingFigures {}

/** Several lines added up; what they are not counted by is left out. */
export type SpendingSum = Partial<SpendingKey> & SpendingFigures;

/** Which spending is asked for. */
export interface SpendingFilter {
  /** First and last day, both included. */
  readonly since: string;
  readonly until: string;
  /** `*` any. */
  readonly tenant_ids: '*' | readonly string[];
  readonly agent_ids: '*' | readonly string[];
  readonly model: string | null;
}

/** How a budget stands for one tenant, agent, session, user or model. */
export interface BudgetStatus {
  readonly budget: string;
  /** What it is counted by: `{user_id: 'ann'}`; empty where all it concerns have it together. */
  readonly scope: Readonly<Record<string, string>>;
  readonly enforcement: 'enforce' | 'monitor';
  readonly period: string;
  /** `null`: not limited in that way. Dollars are in millionths. */
  readonly limit_micro_usd: number | null;
  readonly limit_tokens: number | null;
  readonly spent_micro_usd: number;
  readonly spent_tokens: number;
  /** Put aside for calls that are under way. */
  readonly reserved_micro_usd: number;
  readonly reserved_tokens: number;
  readonly state: 'ok' | 'warning' | 'exhausted';
  readonly resets_at_ms: number | null;
}

/** Prices, budgets and the books. One per process that answers. */
export interface Costs extends Budgets {
  /** What was spent, added up by some of what it is counted by, the dearest first; as far as it is written down. */
  readonly readSpending: (
    filter: SpendingFilter,
    by: readonly (keyof SpendingKey)[],
    limit: number,
  ) => Promise<readonly SpendingSum[]>;
  /** The budgets that a call would concern. */
  readonly readStatus: (spender: Spender, model: string | null) => Promise<readonly BudgetStatus[]>;
  /** All budgets of the tenants that hold something, the most used first; at most 1,000. */
  readonly listStatuses: (tenant_ids: '*' | readonly string[]) => Promise<readonly BudgetStatus[]>;
  /** Writes down what is not yet; resolves when that was tried. */
  readonly close: () => Promise<void>;
}

/** Who spends. */
export interface Spender {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly user_id: string | null;
}

/** What a call may cost at most, asked before it is sent. */
export interface SpendRequest extends Spender {
  readonly model: string | null;
  /** An estimate from above of the tokens that go in. */
  readonly input_tokens: number;
  /** What may come out at most, over all answers; `null` takes the model's own limit, for each of them. */
  readonly max_output_tokens: number | null;
  /** How many answers are asked for side by side; without it one. */
  readonly choices?: number;
  /** Whether what goes in may be kept by the provider's cache for an hour; without it not. */
  readonly may_cache_1h?: boolean;
  readonly now_ms: number;
  /** Who calls, for the audit trail; without it `unknown`. */
  readonly caller_id?: string;
}

/** Money that is put aside until the cost is known; without a budget that concerns the call it costs nothing to ask. */
export interface Reservation {
  /** Books what it came to; once. `usage` is `null` where nothing was spent. Gives the cost. */
  readonly settle: (usage: ChargedUsage | null) => Promise<Cost>;
}

export interface ChargedUsage extends WireUsage {
  readonly provider: string;
  readonly model: string;
  /** Counted by us, for the provider did not say. */
  readonly is_estimated: boolean;
}

export interface Cost {
  /** Millionths of a US dollar; whole. */
  readonly micro_usd: number;
  /** The model has no price in the table, and a default was taken. */
  readonly is_assumed: boolean;
}

/** A budget does not let the call go on. It is in the audit trail already. */
export interface BudgetDenial {
  readonly over: true;
  /**
   * `exhausted`: it is used up. `exceeds_remaining`: what is left is less than the call may cost. `unknown_model`: nobody knows
   * what the model costs, and such models are refused (`cost.unknown_models`): no budget has to do with it.
   */
  readonly cause: 'exhausted' | 'exceeds_remaining' | 'unknown_model';
  /** The budget's name; `unknown_models` where the cause is that. */
  readonly budget: string;
  /** One sentence: which budget, its limit and when it begins anew. */
  readonly reason: string;
  /** Milliseconds since 1970 when it begins anew, or something of it comes back; `null` never by itself. */
  readonly resets_at_ms: number | null;
  /** The audit event; `null` where it could not be written. */
  readonly event_id: string | null;
}

/** Rejects with a `StoreFailure` where nobody can tell what was spent: then nothing is sent. */
export interface Budgets {
  readonly reserve: (ask: SpendRequest) => Promise<Reservation | BudgetDenial>;
}
