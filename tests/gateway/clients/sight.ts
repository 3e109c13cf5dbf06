/**
 * The content of an answer that a client sees: every text that it could show or pass on, and every tool that it could
 * run.
 */
export interface Sight {
  readonly texts: string[];
  readonly tools: string[];
}

/** The response of a call as the network delivers it. */
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

/** Reads an answer as the vendor's SDK does, whole or as a stream. If the SDK throws, the result ends there. */
export type Oracle = (wire: OracleName, came: Came) => Promise<Sight>;
