/**
 * The parts of the protocols of model providers that a guard has to read. All of `core/wire` is pure: it takes text
 * and returns offsets. Offsets count UTF-16 units of the body's own text, so that a change of one string copies
 * every other byte.
 */
import type { Json } from '../types/index.ts';
import type { JsonNode, Splice, StringNode } from '../types/json.ts';
import type { ApiFamilyName } from './families/index.ts';

/** The family and the API: `openai.chat`. */
export type WireName = `${ApiFamilyName}.${string}`;

/** A path at which this service serves a format as its provider does. */
export interface WireRoute {
  /** The path in the API description, with parameters in braces. */
  readonly path: string;
  /** The path for the router, if it differs. */
  readonly url?: string;
  /** The name in the API description, if it is not that of the format. */
  readonly name?: string;
  /** The ending of a path that contains the model, and whether it selects a stream. */
  readonly ending?: { readonly text: string; readonly is_stream: boolean };
  readonly summary: string;
  /** A request that the provider accepts, for the API description. */
  readonly example: Json;
}

/** A supported API of a provider. A format is stateless; the state of a stream is in its reader. */
export interface WireFormat {
  readonly name: WireName;
  readonly family: ApiFamilyName;
  readonly routes: readonly WireRoute[];
  /**
   * Matches the path of the API at any base URL. The groups `model` and `verb` exist if the path contains the model; a
   * verb that begins with `stream` requests a stream.
   */
  readonly path_pattern: RegExp;
  /** `true` if the provider charges nothing, so that no budget is reserved. */
  readonly is_free?: true;
  /** `gen_ai.operation.name` of the OpenTelemetry conventions. */
  readonly operation_name: 'chat' | 'text_completion' | 'embeddings' | 'generate_content';
  readonly readRequest: (body: JsonNode) => WireRequest;
  /**
   * Reads a whole answer of status 2xx; `null` if it does not belong to the protocol and must not be forwarded.
   */
  readonly readAnswer: (body: JsonNode, request?: AnswerContext) => WireAnswer | null;
  /** Opens a reader of a streamed answer, event by event. */
  readonly openEvents: (request?: AnswerContext) => EventReader;
  /** Returns the body of an error in the provider's format. */
  readonly errorBody: (error: WireError) => string;
  /**
   * Returns the events that end a stream with an error when the sent events are not known; nothing follows them.
   */
  readonly errorEvents: (error: WireError) => string;
  /** Opens the ending of one stream, which this API's clients show and do not retry. */
  readonly openEnding: () => StreamEnding;
}

/**
 * Follows the events that are sent to the client of a stream, because the events that end it depend on them.
 */
export interface StreamEnding {
  /** Receives the data of each event that is sent, in order. Returns the data to send. */
  readonly forward: (data: string) => string;
  /** Returns the events that end the stream because the policy blocks; nothing follows them. */
  readonly denialEvents: (error: WireError) => string;
  /** Returns the events that end the stream because of any other failure; nothing follows them. */
  readonly errorEvents: (error: WireError) => string;
}

/** The parts of a request that are needed to read its answer. */
export interface AnswerContext {
  /** The number of requested choices. */
  readonly choices: number;
  /** Strings of the sent request that the answer may repeat. They were judged as input. */
  readonly repeatable: ReadonlySet<string>;
}

/**
 * The content of a request. Every string that is not listed here belongs to the protocol and is not changed.
 */
export interface WireRequest {
  /** The reason the request is ambiguous, as a message to its sender. Such a request must not be sent. */
  readonly problem: string | null;
  /** `null` if the body has no model; Gemini states it in the path. */
  readonly model: StringNode | null;
  readonly is_stream: boolean;
  /** The maximum number of output tokens; `null` if the request sets none. */
  readonly max_output_tokens: number | null;
  /** The number of requested choices. */
  readonly choices: number;
  /**
   * Texts of users, of the application, and of the model's earlier answers, in the order of the body. All are
   * judged at `input`.
   */
  readonly texts: readonly WireText[];
  /** Tool results; each is judged as the result of its tool. */
  readonly tool_results: readonly WireToolResult[];
  /** UTF-16 units of images, sound and files that are forwarded without a scan. */
  readonly opaque_units: number;
  /** Makes a streamed answer report its usage; `null` if it does so anyway or cannot. */
  readonly usage_splice: Splice | null;
  /**
   * Splices that must always be applied. They remove parts of an earlier answer that became unusable because this
   * service changed it; see `DerivedCopy`.
   */
  readonly repairs: readonly Splice[];
  /** Strings that the answer may repeat; see `AnswerContext`. */
  readonly repeatable: readonly StringNode[];
}

export interface WireText {
  readonly role: 'system' | 'user' | 'assistant' | 'tool_definition' | 'other';
  readonly node: StringNode;
  /**
   * The splices to apply if the text would change; `null` replaces the text itself. A signed text is removed whole,
   * because only the provider can sign another one.
   */
  readonly if_changed: readonly Splice[] | null;
}

export interface WireToolResult {
  /** `null` if the conversation has no call with this id. */
  readonly tool: string | null;
  readonly call_id: string | null;
  readonly texts: readonly StringNode[];
  /**
   * Returns the splices that replace the whole result with a notice, so that the conversation can continue.
   */
  readonly replaced: (notice: string) => readonly Splice[];
}

/** The content of an answer. */
export interface WireAnswer {
  readonly id: string | null;
  readonly model: string | null;
  readonly finish_reasons: readonly string[];
  /** Text, reasoning, refusals and transcripts. */
  readonly texts: readonly StringNode[];
  readonly tool_calls: readonly WireToolCall[];
  readonly usage: WireUsage | null;
  readonly echoes: readonly DerivedCopy<readonly StringNode[]>[];
  /** Texts of `texts` that clients concatenate, in order. Each list has at least two. */
  readonly joined: readonly (readonly StringNode[])[];
  /** Names, ids and enum values of the protocol, which also look like one. */
  readonly words: readonly StringNode[];
}

/**
 * A copy or signature of texts that cannot be changed along with them: log probabilities per token, sound next to
 * its transcript, a signature over reasoning. `splice` removes it, and must be applied if one of the texts was
 * changed. In a stream `of` is a channel, and `splice` must be applied if that channel was changed so far, or if
 * some of its text is still held when the event is sent.
 */
export interface DerivedCopy<Of> {
  readonly of: Of;
  readonly splice: Splice;
}

export interface WireToolCall {
  readonly tool: string;
  readonly call_id: string | null;
  /** A string that holds JSON, or the value itself. */
  readonly arguments: JsonNode;
  /** `true` if the arguments are free-form text for the tool, not JSON. */
  readonly is_free: boolean;
}

export interface WireUsage {
  /** Input tokens, including tokens read from and written to the provider's cache. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** The input tokens that were read from the provider's cache; the next field counts those written to it. */
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  /** The written tokens that are cached for an hour, which costs more. Absent if there are none. */
  readonly cache_write_1h_tokens?: number;
}

/** One server-sent event, as it was received. */
export interface SseEvent {
  /** The complete event, including the blank line that ends it. */
  readonly raw: string;
  /** The `event` field; empty if there is none. */
  readonly name: string;
  /**
   * The `data` lines, joined by line feeds. `data_start` is their offset in `raw` if there is exactly one line.
   */
  readonly data: string;
  readonly data_start: number | null;
}

/** The content of one event. Offsets count in the event's `data`. */
export interface EventParts {
  /** Pieces of texts and of arguments, in document order. */
  readonly pieces: readonly EventPiece[];
  /** Channels that end with this event or before it. Their held text must be sent before the event. */
  readonly closed: readonly string[];
  /**
   * Whole texts and calls in an event. If the channel already had the same text, in pieces or whole, the repeat is
   * changed in the same way. Otherwise it is judged here.
   */
  readonly repeats: readonly EventPiece[];
  readonly echoes: readonly DerivedCopy<string>[];
  /** Splices that remove the members that the protocol does not define, for an event that is sent again with other text. */
  readonly removals: readonly Splice[];
  /** Names, ids and enum values of the protocol, which also look like one. */
  readonly words: readonly StringNode[];
  /** Splices that must always be applied. They give a call or an item the index under which it was judged. */
  readonly repairs: readonly Splice[];
  /**
   * Ids that the repairs copy from other events. They must have no findings, because they may have been masked
   * there.
   */
  readonly put_words: readonly string[];
  /** The `event` field with which the event is sent; `''` for none. */
  readonly name: string;
  /** The usage that is known so far; the last one counts. */
  readonly usage: WireUsage | null;
  readonly id: string | null;
  readonly model: string | null;
  readonly finish_reasons: readonly string[];
  /** `true` if the stream is over after this event. */
  readonly is_last: boolean;
  /**
   * `true` if the event exists only because of `usage_splice`. Clients that did not request it do not receive it.
   */
  readonly is_added_usage: boolean;
}

export interface EventPiece {
  /** One text or one call of the answer: `0.content`, `0.reasoning`, `0.call.1`, `block.2`. */
  readonly channel: string;
  readonly kind: 'text' | 'arguments';
  /**
   * A string is a piece of the text or the arguments. Any other value among the `pieces` says that a call begins,
   * and is its arguments if no string follows. A client must not receive it before the call is judged.
   */
  readonly node: JsonNode;
  /** For arguments: the tool and the call, once they are known. */
  readonly tool: string | null;
  readonly call_id: string | null;
  /** For arguments: `true` if they are free-form text for the tool, not JSON. */
  readonly is_free: boolean;
  /** For texts: the sequences that clients concatenate. Texts of one channel are one text in all of them. */
  readonly joins: readonly string[];
  /**
   * For repeats: the places of a text that the protocol does not define, by its key and by its position in the event. A
   * client may concatenate the texts of one place, so each is judged by itself and after the earlier ones. Empty for
   * other texts.
   */
  readonly places: readonly string[];
}

export interface EventReader {
  /** Reads one event; `null` if it does not belong to this protocol and must not be forwarded. */
  readonly read: (event: SseEvent) => EventParts | null;
}

/** The reason a call is refused, to be written in the provider's error format. */
export interface WireError {
  readonly status: number;
  /**
   * `policy_violation`, `budget_exceeded`, `invalid_request`, `unauthenticated`, `upstream_unavailable` and
   * others.
   */
  readonly code: string;
  readonly message: string;
  readonly request_id: string;
  /** Added next to the provider's own fields: decision, violations, approval, event_id. */
  readonly extra: Readonly<Record<string, unknown>>;
}
