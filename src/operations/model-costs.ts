import type { WireUsage } from '../core/wire/wire-format.ts';
import type { TaskCostLimit, TaskHolder } from '../runtime/enforcement/task.ts';

/** The caller that a charge belongs to. */
export interface Spender {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly session_id: string | null;
  readonly user_id: string | null;
}

/** A request to reserve the maximum cost of a call before it is sent. */
export interface SpendRequest extends Spender {
  readonly model: string | null;
  /** An upper estimate of the input tokens. */
  readonly input_tokens: number;
  /** The output limit over all choices; `null` uses the model's limit for each choice. */
  readonly max_output_tokens: number | null;
  /** The number of requested choices; default 1. */
  readonly choices?: number;
  /** True if the provider may cache input for one hour; default false. */
  readonly may_cache_1h?: boolean;
  readonly now_ms: number;
  /** The caller in the audit event; default `unknown`. */
  readonly caller_id?: string;
  /** The task that the call names; absent if it names none. */
  readonly task?: TaskHolder;
}

/** A reserved amount until the cost is known. It is free of store access if no budget applies. */
export interface Reservation {
  /** Settles the reservation once and returns the cost. `usage` is `null` if nothing was spent. */
  readonly settle: (usage: ChargedUsage | null) => Promise<Cost>;
  /** Returns the cost of a usage by the price list. Charges nothing. */
  readonly computeCost: (usage: ChargedUsage) => Cost;
}

export interface ChargedUsage extends WireUsage {
  readonly provider: string;
  readonly model: string;
  /** Estimated because the provider reported no usage. */
  readonly is_estimated: boolean;
}

export interface Cost {
  /** Millionths of a US dollar; whole. */
  readonly micro_usd: number;
  /** The model has no known price, so the assumed price was used. */
  readonly is_assumed: boolean;
}

/** A budget or a task blocks the call. The audit event is already recorded. */
export interface BudgetDenial {
  readonly over: true;
  /**
   * `exhausted`: the limit is reached. `exceeds_remaining`: the call may cost more than remains. `unknown_model`: the
   * model has no price and `cost.unknown_models` is `refuse`; no budget is involved. `task`: the task that the call
   * names is not its own, or has ended.
   */
  readonly cause: 'exhausted' | 'exceeds_remaining' | 'unknown_model' | 'task';
  /** The budget's name; `unknown_models` for the cause `unknown_model`, and `task` for a task. */
  readonly budget: string;
  /** One sentence with the budget, its limit and when it resets. */
  readonly reason: string;
  /** When the budget resets, or a part of it is released, in milliseconds since 1970; `null` means never. */
  readonly resets_at_ms: number | null;
  /** The audit event; `null` if it could not be recorded. */
  readonly event_id: string | null;
}

export interface Budgets {
  /** Rejects with a `StoreFailure` if spending cannot be read; the caller must not send the call then. */
  readonly reserve: (spendRequest: SpendRequest) => Promise<Reservation | BudgetDenial>;
}

/** Budgets and prices for model calls. */
export interface ModelCosts extends Budgets {
  /** `true` if calls are counted, so that providers must report the usage of streams too. */
  readonly counts_usage: boolean;
  /** Returns US dollars per million tokens for three quarters input; `null` without a known price. */
  readonly getBlendedPrice: (provider: string, model: string) => number | null;
  /** Returns what the model calls of tasks have cost, by task; those without calls are left out. @throws StoreFailure */
  readonly readTaskCosts: (
    tasks: readonly Pick<TaskCostLimit, 'task_id' | 'created_ms'>[],
  ) => Promise<ReadonlyMap<string, number>>;
}

const FREE: Cost = { micro_usd: 0, is_assumed: true };

/** Returns costs that charge nothing, for a service without the feature, which refuses a configuration with budgets. */
export function openFreeModelCosts(): ModelCosts {
  return {
    counts_usage: false,
    reserve: async ({ task }) => {
      if (task !== undefined) throw new Error('This service cannot count what a task costs.');
      return { settle: async () => FREE, computeCost: () => FREE };
    },
    getBlendedPrice: () => null,
    readTaskCosts: async () => new Map(),
  };
}
