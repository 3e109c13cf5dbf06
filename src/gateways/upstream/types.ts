import type { ProviderFamily, WireName } from '../../core/wire/wire-format.ts';

/** A judged request to a provider. */
export interface UpstreamRequest {
  readonly wire: WireName | 'openai.models' | 'anthropic.models';
  readonly method: 'GET' | 'POST';
  /** Path and query as the client wrote them, `/v1/messages?beta=true`. */
  readonly path: string;
  /** The client's headers as alternating names and values, without hop-by-hop headers and without this service's. */
  readonly headers: readonly string[];
  /** What the client calls the model: a model, an alias, or a model behind `provider/`. */
  readonly model: string | null;
  /** The body that asks for this model; `null` without a body. Called again for a fallback to another model. */
  readonly bodyFor: (model: string | null) => Uint8Array | null;
  /** Names the one provider to ask, one try for each of its keys; without it the model decides. */
  readonly provider?: string;
  /** Picks the same upstream for all of a conversation, where the route is by weight; `null` any. */
  readonly affinity: string | null;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** An answer whose headers have arrived. */
export interface UpstreamAnswer {
  readonly status: number;
  /** Alternating names and values, without hop-by-hop headers. */
  readonly headers: readonly string[];
  /** The bytes as they come, decoded of any content encoding. Ends with an `UpstreamFailure` where the upstream breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The configured name of the provider, and the model that was asked for there. */
  readonly provider: string;
  readonly model: string | null;
  /** The number of attempts, including this one. */
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
