import type { Config } from '../runtime/config/index.ts';

/** One message of a conversation with a model. */
export interface ModelMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

/** The whole answer of a model. */
export interface ModelAnswer {
  readonly text: string;
  /** The model as the backend names it. */
  readonly model: string;
  /** As the backend counts them; `null` if it does not. */
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
}

/** The reason why a model gave no usable answer. */
export type ModelFailureCode =
  /** The variable of the key is not set, or there is no backend. */
  | 'no_backend'
  | 'key_refused'
  | 'model_unknown'
  | 'rate_limited'
  | 'request_refused'
  | 'unreachable'
  | 'timeout'
  | 'answer_cut_short'
  | 'answer_invalid'
  /** The caller stopped. */
  | 'aborted';

/** A failed call of a model: a code for programs, and a sentence without text of the prompt, the answer or the key. */
export class ModelFailure extends Error {
  readonly code: ModelFailureCode;
  constructor(code: ModelFailureCode, message: string) {
    super(message);
    this.name = 'ModelFailure';
    this.code = code;
  }
}

/** The configured model. */
export interface ModelBackend {
  /** Sends one conversation. Rejects with a `ModelFailure`. */
  readonly ask: (messages: readonly ModelMessage[], signal: AbortSignal) => Promise<ModelAnswer>;
  readonly close: () => Promise<void>;
}

/** The section `intelligence` of the configuration. */
export type IntelligenceSettings = Config['intelligence'];

/** The advisory layer of a process. */
export interface AdvisoryLayer {
  readonly settings: IntelligenceSettings;
  /** Opens the model on the first call. Rejects with a `ModelFailure` `no_backend` if the key is missing. */
  readonly backend: () => Promise<ModelBackend>;
}
