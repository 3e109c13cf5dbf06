/** The requests to client programs, and their reports of what the SDK returned: one JSON line each. */

export type Api =
  | 'chat'
  | 'responses'
  | 'completions'
  | 'embeddings'
  | 'models'
  | 'model'
  | 'messages'
  | 'beta'
  | 'count_tokens'
  | 'generate';

export interface Ask {
  readonly api: Api;
  /** Scheme, host and port. The program appends the path that its SDK needs. */
  readonly base_url: string;
  readonly key: string;
  readonly model: string;
  readonly is_stream: boolean;
  readonly instructions: string | null;
  readonly text: string;
  /** A PNG that is sent with the text. */
  readonly image_base64: string | null;
  /** Names of tools that the model may call. Each accepts any object. */
  readonly tools: readonly string[];
  /** The results of the tools, call by call. With them the conversation continues until the model makes no call. */
  readonly results: readonly string[];
  /** Asks for a JSON object in a stream. The pieces are the different partial objects that the SDK returns. */
  readonly is_structured: boolean;
  /** Requests usage in a stream, for APIs with that option. */
  readonly has_usage: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly max_retries: number;
  readonly timeout_ms: number;
  /** Disconnects after this many events of a stream. With 0, it disconnects once the request is sent. */
  readonly leave_after: number | null;
}

export interface ClientReading {
  /** The text of the last answer. */
  readonly text: string | null;
  readonly thinking: string | null;
  readonly refusal: string | null;
  readonly finish: string | null;
  /** Input and output tokens of the last answer. */
  readonly usage: readonly [number | null, number | null] | null;
  /** The calls of all answers. */
  readonly calls: readonly { readonly tool: string; readonly arguments: unknown }[];
  /** The number of answers. */
  readonly turns: number;
  /** The number of text pieces in the streams of all answers. */
  readonly pieces: number;
  /** Results that are neither text nor calls: the numbers of an embedding, the names of models. */
  readonly list: readonly (number | string)[] | null;
  readonly left: boolean;
  readonly error: SeenError | null;
}

export interface SeenError {
  /** The class of the error that a program catches. */
  readonly name: string;
  readonly status: number | null;
  readonly code: string | null;
  readonly type: string | null;
  readonly message: string;
  /** The body as the SDK exposes it. */
  readonly body: unknown;
}
