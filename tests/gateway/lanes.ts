/** A lane: one client with one API of a provider, and the terms that it uses for the same facts. */
import { isNightly } from '../support/nightly.ts';
import type { Api } from './clients/ask.ts';
import type { ClientName } from './clients.ts';

export interface Lane {
  readonly client: ClientName;
  readonly api: Api;
  readonly family: 'openai' | 'anthropic' | 'gemini';
  /** The folder of its recordings. */
  readonly recordings: string;
  readonly model: string;
  /** Its names for the reasons why an answer ends. */
  readonly finish: {
    readonly stop: string;
    readonly calls: string;
    readonly length: string;
    readonly refusal: string;
  };
  /** `true` if it shows the model's thoughts. */
  readonly thinks: boolean;
  /** The place where it shows that a model refuses. */
  readonly refuses: 'refusal' | 'text' | 'finish';
  /** The text before two calls in its recordings. */
  readonly preface: string | null;
  /** `true` if it adds up the tokens of a conversation. */
  readonly adds_usage: boolean;
  /** `true` if a stream contains usage only on request. */
  readonly usage_is_asked: boolean;
}

const ENDS = {
  chat: { stop: 'stop', calls: 'tool_calls', length: 'length', refusal: 'stop' },
  responses: { stop: 'completed', calls: 'completed', length: 'completed', refusal: 'completed' },
  messages: { stop: 'end_turn', calls: 'tool_use', length: 'max_tokens', refusal: 'refusal' },
  vercel: { stop: 'stop', calls: 'tool-calls', length: 'length', refusal: 'content-filter' },
  gemini: { stop: 'STOP', calls: 'STOP', length: 'MAX_TOKENS', refusal: 'PROHIBITED_CONTENT' },
} as const;

const chat = {
  api: 'chat',
  family: 'openai',
  recordings: 'openai/chat',
  model: 'gpt-5.4-mini',
  finish: ENDS.chat,
  thinks: false,
  refuses: 'refusal',
  preface: null,
  adds_usage: false,
  usage_is_asked: true,
} as const;

const responses = {
  ...chat,
  api: 'responses',
  recordings: 'openai/responses',
  finish: ENDS.responses,
  thinks: true,
  usage_is_asked: false,
} as const;

const messages = {
  ...responses,
  api: 'messages',
  family: 'anthropic',
  recordings: 'anthropic/messages',
  model: 'claude-sonnet-5',
  finish: ENDS.messages,
  refuses: 'text',
  preface: "I'll look up both.",
} as const;

const vercel = { client: 'vercel', finish: ENDS.vercel, refuses: 'text', adds_usage: true } as const;

/** The lanes that support conversations. */
export const LANES: readonly Lane[] = [
  { ...chat, client: 'openai' },
  { ...responses, client: 'openai' },
  { ...chat, client: 'python_openai' },
  { ...responses, client: 'python_openai' },
  { ...messages, client: 'anthropic' },
  { ...messages, client: 'anthropic', api: 'beta' },
  { ...messages, client: 'python_anthropic' },
  { ...messages, client: 'python_anthropic', api: 'beta' },
  { ...chat, ...vercel, usage_is_asked: false },
  { ...responses, ...vercel },
  { ...messages, ...vercel },
  {
    ...responses,
    client: 'google',
    api: 'generate',
    family: 'gemini',
    recordings: 'gemini',
    model: 'gemini-3.8-flash',
    finish: ENDS.gemini,
    refuses: 'finish',
  },
];

/** A lane for each API and each JavaScript SDK; in the nightly round, all. */
export const SAMPLE_LANES: readonly Lane[] = LANES.filter(
  ({ client, api }) =>
    isNightly ||
    ['openai responses', 'anthropic messages', 'vercel chat', 'google generate'].includes(`${client} ${api}`),
);

const lookups = {
  ...chat,
  api: 'completions',
  recordings: 'openai/completions',
  model: 'gpt-3.5-turbo-instruct',
} as const;

/** The lanes of the other APIs. */
export const LOOKUP_LANES: readonly Lane[] = [
  { ...lookups, client: 'openai' },
  { ...lookups, client: 'python_openai' },
  { ...chat, client: 'openai', api: 'embeddings', model: 'text-embedding-3-small' },
  { ...chat, client: 'python_openai', api: 'embeddings', model: 'text-embedding-3-small' },
  { ...chat, client: 'openai', api: 'models' },
  { ...chat, client: 'python_openai', api: 'models' },
  { ...messages, client: 'anthropic', api: 'count_tokens' },
  { ...messages, client: 'python_anthropic', api: 'count_tokens' },
  { ...messages, client: 'anthropic', api: 'models' },
  { ...messages, client: 'python_anthropic', api: 'models' },
];

const NAMES: Readonly<Record<number, string>> = {
  400: 'BadRequestError',
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  413: 'ContentTooLargeError',
  429: 'RateLimitError',
  500: 'InternalServerError',
  502: 'InternalServerError',
  529: 'OverloadedError',
};

/** Returns the class of the error that a program catches for a status. */
export function errorName({ client }: Lane, status: number): string {
  if (client === 'google') return 'ApiError';
  return client === 'vercel' ? 'AI_APICallError' : NAMES[status]!;
}

/** Returns the class of the error for a timeout. */
export function timeoutName({ client }: Lane): string {
  if (client === 'google') return 'AbortError';
  if (client === 'vercel') return 'TimeoutError';
  return client.startsWith('python_') ? 'APITimeoutError' : 'APIConnectionTimeoutError';
}

/** Returns the class of the error in a stream. */
export function streamErrorName({ client, family }: Lane): string {
  if (client === 'vercel') return 'AI_StreamProviderError';
  return client === 'python_anthropic' ? 'APIStatusError' : family === 'gemini' ? 'ApiError' : 'APIError';
}

/** Returns a name for people. */
export function nameOf({ client, api }: Lane): string {
  return `${client} ${api}`;
}
