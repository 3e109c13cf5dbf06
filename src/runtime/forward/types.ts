import type { ProviderFamily, WireName, WireUsage } from '../../core/wire/types.ts';

/** What is sent to a provider, after it was judged. */
export interface UpstreamRequest {
  readonly wire: WireName | 'openai.models' | 'anthropic.models';
  readonly method: 'GET' | 'POST';
  /** Path and query as the client wrote them, `/v1/messages?beta=true`. */
  readonly path: string;
  /** The client's own headers, names and values by turns, without hop-by-hop ones and without ours. */
  readonly headers: readonly string[];
  /** What the client calls the model: a model, an alias, or a model behind `provider/`. */
  readonly model: string | null;
  /** The body that asks for this model; `null` without a body. Called again for a fallback to another model. */
  readonly bodyFor: (model: string | null) => Uint8Array | null;
  /** Names the one provider to ask, one try for each of its keys; without it the model decides. */
  readonly provider?: string;
  /** Picks the same upstream for all of a conversation, where the route is by weight; `null` any. */
  readonly affinity: string | null;
  /** Aborts when nobody waits any more. */
  readonly signal: AbortSignal;
}

/** An answer whose headers are there. */
export interface UpstreamAnswer {
  readonly status: number;
  /** Names and values by turns, without hop-by-hop ones. */
  readonly headers: readonly string[];
  /** The bytes as they come, decoded of any content encoding. Ends with an `UpstreamFailure` where the upstream breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The configured name of the provider, and the model that was asked for there. */
  readonly provider: string;
  readonly model: string | null;
  /** Tries in all, this one included. */
  readonly attempts: number;
}

/** Which models a client may ask for, as far as the configuration says it. */
export interface ModelCatalogue {
  /** Returns the names that clients may ask for in this family beside the models of its providers. */
  readonly aliases: (family: ProviderFamily) => readonly string[];
  /** Returns the names of the providers whose models clients of this family may ask for. */
  readonly providers: (family: ProviderFamily) => readonly string[];
  /** Tells whether a call for this model goes to this provider. */
  readonly routes: (model: string, provider: string, family: ProviderFamily) => boolean;
}

/** Providers, and which of them answers. `send` rejects with an `UpstreamFailure` alone. */
export interface Upstreams {
  readonly send: (request: UpstreamRequest) => Promise<UpstreamAnswer>;
  readonly catalogue: ModelCatalogue;
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
export interface SpendAsk extends Spender {
  readonly model: string | null;
  /** An estimate from above of the tokens that go in. */
  readonly input_tokens: number;
  /** What may come out at most, over all answers; `null` takes the model's own limit, for each of them. */
  readonly max_output_tokens: number | null;
  /** How many answers are asked for side by side; without it one. */
  readonly choices?: number;
  /** Whether what goes in may be kept by the provider's cache for an hour; without it not. */
  readonly keeps_an_hour?: boolean;
  readonly now_ms: number;
  /** Who calls, for the audit trail; without it `unknown`. */
  readonly caller_id?: string;
}

/** Money that is put aside until the cost is known; without a budget that concerns the call it costs nothing to ask. */
export interface Reservation {
  /** Books what it came to; once. `usage` is `null` where nothing was spent. Gives the cost. */
  readonly settle: (usage: SpentUsage | null) => Promise<Cost>;
}

export interface SpentUsage extends WireUsage {
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
export interface OverBudget {
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
  readonly reserve: (ask: SpendAsk) => Promise<Reservation | OverBudget>;
}
