import type { ApiFamilyName } from '../../core/wire/families/index.ts';
import type { WireName } from '../../core/wire/wire-format.ts';

/** A judged request to a provider. */
export interface UpstreamRequest {
  readonly wire: WireName | 'openai.models' | 'anthropic.models';
  readonly method: 'GET' | 'POST';
  /** Path and query as the client wrote them, `/v1/messages?beta=true`. */
  readonly path: string;
  /** The client's headers as alternating names and values, without hop-by-hop headers and without this service's. */
  readonly headers: readonly string[];
  /** The client's name of the model: a model, an alias, or `provider/model`. */
  readonly model: string | null;
  /** Returns the body with this model; `null` without a body. Called again for a fallback to another model. */
  readonly bodyFor: (model: string | null) => Uint8Array | null;
  /** The one provider to call, with one attempt per key; without it the model decides. */
  readonly provider?: string;
  /** Selects the same upstream for a whole conversation if targets are drawn by weight; `null` for any upstream. */
  readonly affinity: string | null;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** An answer whose headers have arrived. */
export interface UpstreamAnswer {
  readonly status: number;
  /** Alternating names and values, without hop-by-hop headers. */
  readonly headers: readonly string[];
  /** The decoded bytes as they arrive. Rejects with an `UpstreamFailure` if the upstream breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
  /** The configured name of the provider, and the model that was requested there. */
  readonly provider: string;
  readonly model: string | null;
  /** The number of attempts, including this one. */
  readonly attempts: number;
}

/** The models that clients may request, as far as the configuration lists them. */
export interface ModelCatalogue {
  /** Returns the names that clients of this family may request in addition to the models of its providers. */
  readonly aliases: (family: ApiFamilyName) => readonly string[];
  /** Returns the names of the providers whose models clients of this family may request. */
  readonly providers: (family: ApiFamilyName) => readonly string[];
  /** Returns whether calls for this model go to this provider. */
  readonly routes: (model: string, provider: string, family: ApiFamilyName) => boolean;
}

/** The configured providers. `send` rejects with an `UpstreamFailure` only. */
export interface Upstreams {
  readonly send: (request: UpstreamRequest) => Promise<UpstreamAnswer>;
  readonly catalogue: ModelCatalogue;
  readonly close: () => Promise<void>;
}
