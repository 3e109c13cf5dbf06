import type { ModelAnswer, ModelMessage } from '../../operations/model-backend.ts';
import { ModelFailure } from '../../operations/model-backend.ts';

/** A question in the format of one kind of backend. */
export interface ChatQuestion {
  readonly model: string;
  readonly messages: readonly ModelMessage[];
  readonly answer_tokens_max: number;
  /** Uses the newer name of the token limit, which some models of chat-completions APIs require. */
  readonly uses_completion_tokens: boolean;
}

/** The wire format of a kind of backend. */
export interface ChatFormat {
  /** Added to the path of the base URL. */
  readonly path: string;
  readonly buildBody: (question: ChatQuestion) => object;
  /** @throws ModelFailure `answer_cut_short` or `answer_invalid` */
  readonly readAnswer: (body: unknown, question: ChatQuestion) => ModelAnswer;
}

type Fields = Readonly<Record<string, unknown>>;

/** The format of a local model server: `POST /api/chat`. */
const localFormat: ChatFormat = {
  path: '/api/chat',
  buildBody: ({ model, messages, answer_tokens_max }) => ({
    model,
    messages,
    stream: false,
    // Local servers cut prompts that are longer than their default context without saying so.
    options: {
      temperature: 0.2,
      num_predict: answer_tokens_max,
      num_ctx: estimateContext(messages, answer_tokens_max),
    },
  }),
  readAnswer: (body, question) => {
    const answer = asFields(body);
    if (answer.done_reason === 'length') throw buildCutFailure(question);
    return {
      text: requireText(asFields(answer.message).content),
      model: readModelName(answer.model, question),
      input_tokens: readCount(answer.prompt_eval_count),
      output_tokens: readCount(answer.eval_count),
    };
  },
};

/** The format of chat-completions APIs: `POST /chat/completions`. */
const compatibleFormat: ChatFormat = {
  path: '/chat/completions',
  buildBody: ({ model, messages, answer_tokens_max, uses_completion_tokens }) => ({
    model,
    messages,
    stream: false,
    ...(uses_completion_tokens
      ? { max_completion_tokens: answer_tokens_max }
      : { max_tokens: answer_tokens_max }),
  }),
  readAnswer: (body, question) => {
    const answer = asFields(body);
    const choice = asFields(Array.isArray(answer.choices) ? answer.choices[0] : null);
    if (choice.finish_reason === 'length') throw buildCutFailure(question);
    if (choice.finish_reason === 'content_filter')
      throw new ModelFailure('answer_invalid', 'The model server filtered the answer, so there is none.');
    const usage = asFields(answer.usage);
    return {
      text: requireText(readContent(asFields(choice.message).content)),
      model: readModelName(answer.model, question),
      input_tokens: readCount(usage.prompt_tokens),
      output_tokens: readCount(usage.completion_tokens),
    };
  },
};

/** The formats by `intelligence.backend.provider`. */
export const chatFormats = { local: localFormat, 'compatible-api': compatibleFormat } as const;

const CONTEXT_STEP = 4_096;

/** Returns the context that a prompt and its answer need, in tokens; a token is taken as three characters. */
function estimateContext(messages: readonly ModelMessage[], answerTokensMax: number): number {
  const units = messages.reduce((sum, { content }) => sum + content.length, 0);
  return Math.ceil((units / 3 + answerTokensMax) / CONTEXT_STEP) * CONTEXT_STEP;
}

function asFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/** Joins content in parts, which some servers send instead of a string. */
function readContent(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return content
    .map((part: unknown) => asFields(part).text)
    .filter((text) => typeof text === 'string')
    .join('');
}

function requireText(content: unknown): string {
  if (typeof content === 'string' && content.trim() !== '') return content;
  throw new ModelFailure(
    'answer_invalid',
    'The model server answered without text. Check `intelligence.backend.provider`, `base_url` and `model`.',
  );
}

function readModelName(model: unknown, question: ChatQuestion): string {
  return typeof model === 'string' && /^[\x20-\x7e]{1,256}$/.test(model) ? model : question.model;
}

function readCount(count: unknown): number | null {
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
}

function buildCutFailure({ answer_tokens_max }: ChatQuestion): ModelFailure {
  return new ModelFailure(
    'answer_cut_short',
    `The answer was cut short after ${answer_tokens_max} tokens, so nothing of it is used. Raise \`intelligence.budget.answer_tokens_max\`, or take a model that writes less.`,
  );
}
