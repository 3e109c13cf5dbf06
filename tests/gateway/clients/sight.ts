/** What a client sees of an answer: every text that it could show or pass on, and every tool that it could run. */
export interface Sight {
  readonly texts: string[];
  readonly tools: string[];
}

/** What came back of a call, as the network brings it. */
export interface Came {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export type OracleName =
  | 'openai.chat'
  | 'openai.completions'
  | 'openai.responses'
  | 'anthropic.messages'
  | 'gemini.generate';

/** Reads an answer as the vendor's SDK does, whole or as a stream; what it throws ends what it sees. */
export type Oracle = (wire: OracleName, came: Came) => Promise<Sight>;
