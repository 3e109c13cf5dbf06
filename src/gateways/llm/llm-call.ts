import type { WireError, WireFormat, WireRequest } from '../../core/wire/wire-format.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { Caller } from '../../runtime/access/types.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { ActorContext } from '../../runtime/enforcement/crossings.ts';
import type { EnforcementPorts, Ruling } from '../../runtime/enforcement/types.ts';
import type { UpstreamAnswer, UpstreamRequest } from '../upstream/types.ts';
import type { CallUsage } from './call-account.ts';
import type { RequestSize } from './estimate.ts';
import type { ResultCache } from './result-cache.ts';

declare module '../../operations/operation.ts' {
  interface Context {
    /** The LLM proxy, for operations that call models; without it they refuse. */
    readonly llm?: () => Promise<LlmProxy>;
  }
}

/** A model call and its caller. */
export interface LlmCall {
  readonly format: WireFormat;
  /** Path and query as the client wrote them. */
  readonly path: string;
  /** The client's headers as alternating names and values, without hop-by-hop headers and without this service's. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** The model and the stream flag if the path holds them, as in Gemini's API. */
  readonly in_path: { readonly model: string; readonly is_stream: boolean } | null;
  readonly acting: ActorContext;
  readonly user_id: string | null;
  readonly caller: Caller;
  readonly request_id: string;
  readonly approval_request_id: string | null;
  /** A capability token that must allow each tool call of the answer; `null` if none was presented. */
  readonly capability_token: string | null;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** Returns the error that the client receives for a denial. */
  readonly describeDenial: (denial: Ruling) => WireError;
  /** Sends the call instead of the configured providers. Rejects with an `UpstreamFailure` only. */
  readonly send?: (request: UpstreamRequest) => Promise<UpstreamAnswer>;
  /** Receives the ruling on the input, and the one on the texts of the answer, when their events are durable. */
  readonly onRuling?: (ruling: Ruling) => void;
}

/** The reply to the client. */
export interface LlmReply {
  readonly status: number;
  /** Alternating names and values, including this service's headers. */
  readonly headers: readonly string[];
  /** The whole body, or the pieces of a stream. `return` on the reader ends the call. */
  readonly body: string | Uint8Array | AsyncGenerator<string>;
}

/** The LLM proxy of one process. It guards requests and answers. */
export interface LlmProxy {
  /** Handles a call. Rejects on an internal fault only, before anything is returned to the client. */
  readonly call: (call: LlmCall) => Promise<LlmReply>;
  /** Lists the models that clients may ask for, or describes one of them. */
  readonly listModels: (requested: ModelListRequest) => Promise<LlmReply>;
  /** Waits until all charges are settled, then closes the connections. */
  readonly close: () => Promise<void>;
}

/** A request for the models that clients may ask for. */
export interface ModelListRequest extends Pick<LlmCall, 'path' | 'headers' | 'request_id' | 'signal'> {
  /** The one requested model; `null` requests the list. */
  readonly model: string | null;
  /** The format of errors, and the API family of the list. */
  readonly format: Pick<WireFormat, 'errorBody' | 'family'>;
}

/** The context of one call. Its policy does not change while the call runs. */
export interface LlmCallContext {
  readonly call: LlmCall;
  readonly ports: EnforcementPorts;
  readonly presentCapability: Runtime['presentCapability'];
  readonly result_cache: ResultCache;
  readonly settings: LlmSettings;
}

/** A parsed request. */
export interface ParsedCall {
  readonly text: string;
  readonly request: WireRequest;
  readonly size: RequestSize;
}

/** A conversation's messages whose values may permit a tool call. */
export interface EndorsingMessages {
  /** True if the newest `user` message has a person's words. */
  readonly trusts_user_role: boolean;
  /** SHA-256 of the operator's system prompts, in hex. */
  readonly operator_prompts: ReadonlySet<string>;
}

/** The settings of the LLM proxy. */
export interface LlmSettings {
  /** `tokenize` replaces redacted input with tokens and restores the values in the answer. */
  readonly mode: 'mask' | 'tokenize';
  /** Requests usage of streams, which some servers reject; default true. */
  readonly asks_usage?: boolean;
  /** The maximum size of a non-streamed answer, in bytes. */
  readonly response_bytes_max: number;
  /** The messages whose values may permit a tool call; absent or `null` for none. */
  readonly endorsing?: EndorsingMessages | null;
  /** The UTF-16 units of a stream that may be held until a tool call is judged, and the maximum of one event. */
  readonly held_units_max: number;
}

/** Returns the metadata of a call's audit events. `model` must be scanned; `null` omits it, and so the usage. */
export function buildCallMetadata(
  { format }: LlmCall,
  model: string | null,
  usage: CallUsage | null = null,
): AuditEvent['metadata'] {
  return { ...(model !== null && { model }), wire: format.name, ...usage };
}
