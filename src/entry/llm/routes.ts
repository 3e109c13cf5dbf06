import type { WireName } from '../../core/wire/wire-format.ts';

/** A path of a provider's API that this service serves in the provider's own format. */
export interface LlmRoute {
  readonly http: {
    readonly method: 'GET' | 'POST';
    /** The path in the API description, with parameters in braces. */
    readonly path: string;
  };
  /** The path for the router, if it differs. */
  readonly url?: string;
  /** The name in the API description: `openai_chat`. */
  readonly name: string;
  /** The wire format; `null` for a request for the list of models or one of them. */
  readonly wire: WireName | null;
  /** The ending of a path that contains the model, and whether it selects a stream. */
  readonly ending?: { readonly text: string; readonly is_stream: boolean };
  readonly summary: string;
}

/**
 * All routes of providers' APIs. They are not operations: bodies have the provider's format, so no schema of this
 * service validates them, and errors are written as the provider writes them.
 */
export const llmRoutes: readonly LlmRoute[] = [
  post('/v1/chat/completions', 'openai.chat', 'OpenAI chat completions, guarded'),
  post('/v1/responses', 'openai.responses', 'OpenAI responses, guarded'),
  post('/v1/completions', 'openai.completions', 'OpenAI completions, guarded'),
  post('/v1/embeddings', 'openai.embeddings', 'OpenAI embeddings, guarded'),
  {
    http: { method: 'GET', path: '/v1/models' },
    name: 'models',
    wire: null,
    summary: 'The aliases and the models of all providers of the API',
  },
  {
    http: { method: 'GET', path: '/v1/models/{model}' },
    // Names of models may contain slashes.
    url: '/v1/models/*',
    name: 'model',
    wire: null,
    summary: 'One of the models',
  },
  post('/v1/messages', 'anthropic.messages', 'Anthropic messages, guarded'),
  post('/v1/messages/count_tokens', 'anthropic.count_tokens', 'Anthropic count of tokens, guarded'),
  ...gemini('v1beta'),
  ...gemini('v1'),
];

function post(path: string, wire: WireName, summary: string): LlmRoute {
  return { http: { method: 'POST', path }, name: wire.replace('.', '_'), wire, summary };
}

function gemini(version: string): LlmRoute[] {
  const url = `/${version}/models/:call`;
  return [
    ['generateContent', false, 'Gemini content, guarded'] as const,
    ['streamGenerateContent', true, 'Gemini content as a stream, guarded'] as const,
  ].map(([verb, is_stream, summary]) => ({
    http: { method: 'POST' as const, path: `/${version}/models/{model}:${verb}` },
    url,
    name: `gemini_${version}_${is_stream ? 'stream' : 'generate'}`,
    wire: 'gemini.generate' as const,
    ending: { text: `:${verb}`, is_stream },
    summary,
  }));
}
