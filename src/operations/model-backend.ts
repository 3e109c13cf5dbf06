import type { Static } from 'typebox';
import { buildEnum, buildSection, Type } from '../core/schema.ts';
import { environmentNameSchema, urlSchema } from '../platform/schema-parts.ts';

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

/** The settings of the model that advises. */
export const modelBackendSchema = buildSection(
  {
    provider: buildEnum(['local', 'compatible-api'], {
      description: '`local`: a model server without a key. `compatible-api`: any chat-completions endpoint.',
    }),
    model: Type.String({ minLength: 1, maxLength: 256, description: 'Name of the model.' }),
    base_url: {
      ...urlSchema,
      description: 'Address of the backend. `/api/chat` or `/chat/completions` is added.',
    },
    api_key_env: Type.Optional({
      ...environmentNameSchema,
      description: 'Name of the environment variable that holds the key.',
    }),
    timeout_seconds: Type.Integer({
      minimum: 1,
      maximum: 1_800,
      default: 120,
      description: 'Time limit of one answer, in seconds.',
    }),
    retries: Type.Integer({
      minimum: 0,
      maximum: 5,
      default: 2,
      description: 'Further attempts after a failed connection, 429 or 5xx.',
    }),
  },
  { description: 'The model that advises.' },
);

/** The settings that a call of the model needs. */
export interface ModelSettings {
  readonly backend?: Static<typeof modelBackendSchema>;
  readonly budget: { readonly answer_tokens_max: number };
}

/** A model that may never be called. The code that calls it is loaded with the first call. */
export interface LazyModel {
  /** Opens the model on the first call. Rejects with a `ModelFailure` `no_backend` if the key is missing. */
  readonly open: () => Promise<ModelBackend>;
  readonly close: () => Promise<void>;
}
