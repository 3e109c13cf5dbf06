/** What every client program is asked, and what it tells of what its SDK gave it: one JSON line each. */

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
  /** Scheme, host and port; the program adds what its SDK's own address ends with. */
  readonly base_url: string;
  readonly key: string;
  readonly model: string;
  readonly is_stream: boolean;
  readonly instructions: string | null;
  readonly text: string;
  /** A PNG beside the text. */
  readonly image_base64: string | null;
  /** Names of tools that the model may call; each takes any object. */
  readonly tools: readonly string[];
  /** What the tools give back, call by call; with them the conversation goes on until no call comes. */
  readonly results: readonly string[];
  /** Asks for usage in a stream, where that is a choice. */
  readonly has_usage: boolean;
  readonly headers: Readonly<Record<string, string>>;
  readonly max_retries: number;
  readonly timeout_ms: number;
  /** Goes away after so many events of a stream; 0 is as soon as the request is on its way. */
  readonly leave_after: number | null;
}

export interface Seen {
  /** Of the last answer. */
  readonly text: string | null;
  readonly thinking: string | null;
  readonly refusal: string | null;
  readonly finish: string | null;
  /** Tokens that went in and came out, of the last answer. */
  readonly usage: readonly [number | null, number | null] | null;
  /** Of all answers. */
  readonly calls: readonly { readonly tool: string; readonly arguments: unknown }[];
  /** Answers in all. */
  readonly turns: number;
  /** Pieces of text that a stream brought, all answers together. */
  readonly pieces: number;
  /** What an API brings that is neither text nor call: numbers of an embedding, names of models. */
  readonly list: readonly (number | string)[] | null;
  readonly left: boolean;
  readonly error: SeenError | null;
}

export interface SeenError {
  /** The class that a program catches. */
  readonly name: string;
  readonly status: number | null;
  readonly code: string | null;
  readonly type: string | null;
  readonly message: string;
  /** The body as the SDK hands it on. */
  readonly body: unknown;
}
