import type { Crossing } from '../../core/types/index.ts';
import type { WireError, WireFormat, WireRequest } from '../../core/wire/wire-format.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { Caller } from '../../runtime/access/types.ts';
import type { AuditEvent } from '../../runtime/audit/types.ts';
import type { ActorContext } from '../../runtime/enforcement/tool-calls.ts';
import type { EnforcementPorts, Ruling } from '../../runtime/enforcement/types.ts';
import type { UpstreamAnswer, UpstreamRequest } from '../upstream/types.ts';
import type { RequestSize } from './estimate.ts';
import type { ResultCache } from './result-cache.ts';

declare module '../../operations/operation.ts' {
  interface Context {
    /** Guarded calls of models, for operations that make them; without it they refuse. */
    readonly llm?: () => Promise<LlmProxy>;
  }
}

/** A call of a model as a client makes it, and who makes it. */
export interface LlmCall {
  readonly format: WireFormat;
  /** Path and query as the client wrote them. */
  readonly path: string;
  /** The client's own headers, names and values by turns, without hop-by-hop ones and without ours. */
  readonly headers: readonly string[];
  readonly body: Uint8Array;
  /** Where the path names the model and says whether a stream is asked for, as Gemini's does. */
  readonly in_path: { readonly model: string; readonly is_stream: boolean } | null;
  readonly acting: ActorContext;
  readonly user_id: string | null;
  readonly caller: Caller;
  readonly request_id: string;
  readonly approval_request_id: string | null;
  /** A capability token that must allow every tool call of the answer; `null` where none was shown. */
  readonly capability_token: string | null;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Says to the client why something does not go on. */
  readonly describeDenial: (denial: CallDenial) => WireError;
  /** Makes the call in place of the configured providers; without it they do. Rejects with an `UpstreamFailure` alone. */
  readonly send?: (request: UpstreamRequest) => Promise<UpstreamAnswer>;
  /** Receives the ruling on the input, and the one on the texts of the answer, when their events are durable. */
  readonly onRuling?: (ruled: BoundaryRuling) => void;
}

/** What was decided on one side of a call. */
export interface BoundaryRuling extends CallDenial {
  readonly boundary: 'input' | 'output';
}

/** What keeps a call from going on. */
export interface CallDenial {
  readonly ruling: Ruling;
  /** What was ruled on, for the places of findings. */
  readonly crossing: Crossing;
}

/** What goes back to the client. */
export interface LlmReply {
  readonly status: number;
  /** Names and values by turns, ours among them. */
  readonly headers: readonly string[];
  /** All of it, or pieces of a stream as they come: its reader's `return` ends the call. */
  readonly body: string | Uint8Array | AsyncGenerator<string>;
}

/** Calls of models, guarded both ways. One per process that answers. */
export interface LlmProxy {
  /** Takes a call. Rejects for a fault of ours alone, and then nothing went back to the client. */
  readonly call: (call: LlmCall) => Promise<LlmReply>;
  /** Lists the models that clients may ask for, or describes one of them. */
  readonly listModels: (asked: ModelListRequest) => Promise<LlmReply>;
  /** Resolves when all that was spent is settled, and closes what was opened. */
  readonly close: () => Promise<void>;
}

/** A request for the models that clients may ask for. */
export interface ModelListRequest extends Pick<LlmCall, 'path' | 'headers' | 'request_id' | 'signal'> {
  /** The one model that is asked about; `null` asks for the list. */
  readonly model: string | null;
  /** How errors are written, and whose list it is. */
  readonly format: Pick<WireFormat, 'errorBody' | 'family'>;
}

/** What guarding one call works with; its policy stays the same to the end. */
export interface LlmCallContext {
  readonly call: LlmCall;
  readonly ports: EnforcementPorts;
  readonly capabilities: Runtime['capabilities'];
  readonly result_cache: ResultCache;
  readonly settings: LlmSettings;
}

/** A request that was read. */
export interface ParsedCall {
  readonly text: string;
  readonly request: WireRequest;
  readonly size: RequestSize;
}

/** What is configured of the road. */
export interface LlmSettings {
  /** `tokenize`: what is redacted on its way in has a token there, and is itself again in the answer. */
  readonly mode: 'mask' | 'tokenize';
  /** Whether streams are asked for their usage, which some servers refuse; without it they are. */
  readonly asks_usage?: boolean;
  /** Bytes of an answer that is no stream. */
  readonly response_bytes_max: number;
  /** UTF-16 units of one stream that wait for a tool call to be judged, and of one of its events. */
  readonly held_units_max: number;
}

/** What the events of a call say beside their decisions. `model` is a name that was looked at; `null` leaves it out. */
export function buildCallMetadata({ format }: LlmCall, model: string | null): AuditEvent['metadata'] {
  return { ...(model !== null && { model }), wire: format.name };
}
