/**
 * What model providers speak, as far as a guard has to read it. All of `core/wire` is pure: text in, places out.
 * Places count UTF-16 units of the body's own text, so that whoever changes a string copies every other byte.
 */
import type { JsonNode, Splice, StringNode } from '../types/json.ts';

export type WireName =
  | 'openai.chat'
  | 'openai.responses'
  | 'openai.completions'
  | 'openai.embeddings'
  | 'anthropic.messages'
  | 'anthropic.count_tokens'
  | 'gemini.generate';

export type ProviderFamily = 'openai' | 'anthropic' | 'gemini';

/** One way of asking a provider. A format is this record and has no state; a stream's state is in its reader. */
export interface WireFormat {
  readonly name: WireName;
  readonly family: ProviderFamily;
  /** `gen_ai.operation.name` of the OpenTelemetry conventions. */
  readonly operation_name: 'chat' | 'text_completion' | 'embeddings' | 'generate_content';
  readonly readRequest: (body: JsonNode) => WireRequest;
  /** Reads a whole answer of status 2xx; `null` if it is nothing of the protocol, and then it must not be handed on. */
  readonly readAnswer: (body: JsonNode, asked?: AnswerContext) => WireAnswer | null;
  /** Reads a streamed answer, event by event. */
  readonly openEvents: (asked?: AnswerContext) => EventReader;
  /** The provider's own shape of an error, as the text of a body. */
  readonly errorBody: (error: WireError) => string;
  /** The events that end a stream with an error if nothing is known of what went out; nothing follows them. */
  readonly errorEvents: (error: WireError) => string;
  /** Opens what ends one stream in the way that this API's clients show and do not retry. */
  readonly openEnding: () => StreamEnding;
}

/** Follows what of a stream goes out to its client, as far as its end depends on it. */
export interface StreamEnding {
  /** Receives the data of each event that goes out, in order. Returns the data as it must go out. */
  readonly forward: (data: string) => string;
  /** The events that end it because the policy blocks; nothing follows them. */
  readonly denialEvents: (error: WireError) => string;
  /** The events that end it because of any other failure; nothing follows them. */
  readonly errorEvents: (error: WireError) => string;
}

/** What of a request its answer is read with. */
export interface AnswerContext {
  /** How many answers were asked for side by side. */
  readonly choices: number;
  /** Strings of the request, as it was sent, that the answer may repeat: they were judged on their way in. */
  readonly repeatable: ReadonlySet<string>;
}

/** What a request asks and says. Every string that is not named here is of the protocol, and is left alone. */
export interface WireRequest {
  /** Why nobody can say what it asks for, in words for its sender; it must not be sent then. */
  readonly problem: string | null;
  /** `null` where the body names none (Gemini has it in the path). */
  readonly model: StringNode | null;
  readonly is_stream: boolean;
  /** What the request itself says may come out at most; `null` where it does not. */
  readonly max_output_tokens: number | null;
  /** How many answers are asked for side by side. */
  readonly choices: number;
  /** What people, the application and the model said before: all judged at `input`, in the order of the body. */
  readonly texts: readonly WireText[];
  /** What tools gave back: each is judged as the result of its tool. */
  readonly tool_results: readonly WireToolResult[];
  /** UTF-16 units of images, sound and files that are handed on without a look. */
  readonly opaque_units: number;
  /** Makes a streamed answer tell its usage where it would not; `null` where it does anyway or cannot. */
  readonly usage_splice: Splice | null;
  /** Always to be made: they take out what an earlier answer of this gateway left unusable, see `Echo`. */
  readonly repairs: readonly Splice[];
  /** Strings that the answer may repeat, see `AnswerAsked`. */
  readonly repeatable: readonly StringNode[];
}

export interface WireText {
  readonly role: 'system' | 'user' | 'assistant' | 'tool_definition' | 'other';
  readonly node: StringNode;
  /**
   * Made in place of writing the text anew where it would change; `null` writes it anew. A signed text is taken
   * out whole, for nobody can sign another one.
   */
  readonly if_changed: readonly Splice[] | null;
}

export interface WireToolResult {
  /** `null` where no call with its id stands in the conversation. */
  readonly tool: string | null;
  readonly call_id: string | null;
  readonly texts: readonly StringNode[];
  /** Puts a notice in place of all that the tool gave back, so that the conversation can go on. */
  readonly replaced: (notice: string) => readonly Splice[];
}

/** What an answer says and asks for. */
export interface WireAnswer {
  readonly id: string | null;
  readonly model: string | null;
  readonly finish_reasons: readonly string[];
  /** Text, reasoning, refusals, transcripts. */
  readonly texts: readonly StringNode[];
  readonly tool_calls: readonly WireToolCall[];
  readonly usage: WireUsage | null;
  readonly echoes: readonly DerivedCopy<readonly StringNode[]>[];
  /** Texts of `texts` that a client puts together, in their order: each list holds two or more. */
  readonly joined: readonly (readonly StringNode[])[];
  /** Names, ids and choices of the protocol, which look like one. */
  readonly words: readonly StringNode[];
}

/**
 * What says texts again, or vouches for them, in a form that cannot be changed with them: log probabilities token by
 * token, sound beside its transcript, a signature over reasoning. The splice takes it out; it has to be made where
 * one of the texts was changed. In a stream `of` is a channel, and it has to be made where that was changed by
 * now, or where some of it is still held when the event goes out.
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
  /** The arguments are a text in a form of the tool's own, and no JSON. */
  readonly is_free: boolean;
}

export interface WireUsage {
  /** Tokens that went in, those from and for the provider's cache included. */
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Of the tokens that went in: read from the provider's cache, and written to it. */
  readonly cache_read_tokens: number;
  readonly cache_write_tokens: number;
  /** Of those that were written: to be kept for an hour, which costs more. Absent where there are none. */
  readonly cache_write_1h_tokens?: number;
}

/** One event of a stream of server-sent events, as it came. */
export interface SseEvent {
  /** Everything, with the blank line that ends it. */
  readonly raw: string;
  /** The `event` field; empty where there is none. */
  readonly name: string;
  /** The `data` lines, joined by line feeds, and where they stand in `raw` when there is exactly one. */
  readonly data: string;
  readonly data_start: number | null;
}

/** What one event brings. Places count in the event's `data`. */
export interface EventParts {
  /** Pieces of texts and of arguments, in the order in which they stand. */
  readonly pieces: readonly EventPiece[];
  /** Channels that end with this event, or before it: what of them is held has to go out first. */
  readonly closed: readonly string[];
  /**
   * Whole texts and calls that an event says again or at once. Where their channel said the very same before, in pieces
   * or whole: to be changed as that was. Where it did not: to be judged here.
   */
  readonly repeats: readonly EventPiece[];
  readonly echoes: readonly DerivedCopy<string>[];
  /** Names, ids and choices of the protocol, which look like one. */
  readonly words: readonly StringNode[];
  /** Always to be made: they give a call or an item the place under which it was judged. */
  readonly repairs: readonly Splice[];
  /** Ids that the repairs take from other events: nothing may be found in them, for there they may have been masked. */
  readonly put_words: readonly string[];
  /** The `event` field under which it goes out; `''` for none. */
  readonly name: string;
  /** What is known of usage by now; the last one counts. */
  readonly usage: WireUsage | null;
  readonly id: string | null;
  readonly model: string | null;
  readonly finish_reasons: readonly string[];
  /** The stream is over behind this event. */
  readonly is_last: boolean;
  /** It is there only because of `usage_splice`: who did not ask for it does not get it. */
  readonly is_added_usage: boolean;
}

export interface EventPiece {
  /** One text or one call of the answer: `0.content`, `0.reasoning`, `0.call.1`, `block.2`. */
  readonly channel: string;
  readonly kind: 'text' | 'arguments';
  /**
   * A string is a piece of what comes. Any other value among the `pieces` says that a call begins, and what its
   * arguments are should no string follow: a client must not see it before the call is judged.
   */
  readonly node: JsonNode;
  /** For arguments: the tool and the call, as soon as they are known. */
  readonly tool: string | null;
  readonly call_id: string | null;
  /** For arguments: they are a text in a form of the tool's own, and no JSON. */
  readonly is_free: boolean;
  /** For texts: what clients put together, each in its order. Texts of one channel are one text in all of them. */
  readonly joins: readonly string[];
}

export interface EventReader {
  /** Reads one event; `null` where it is nothing of this protocol, and then it must not be handed on. */
  readonly read: (event: SseEvent) => EventParts | null;
}

/** Why a call does not go on, for the provider's own shape of an error. */
export interface WireError {
  readonly status: number;
  /** `policy_violation`, `insufficient_quota`, `invalid_request`, `unauthenticated`, `upstream_unavailable` ... */
  readonly code: string;
  readonly message: string;
  readonly request_id: string;
  /** Stands beside the provider's own fields: decision, violations, approval, event_id. */
  readonly extra: Readonly<Record<string, unknown>>;
}
