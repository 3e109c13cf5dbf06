/** Sends requests without an SDK, and keeps the bytes of the answer. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { KEY } from './runs.ts';

export interface RawAsk {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly body: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  /** `true` if the connection broke. */
  readonly is_broken: boolean;
}

/** Returns a request for the API of a recording, such as `openai/chat/plain.stream`, with credentials for that API. */
export function rawAskFor(recording: string, text: string): RawAsk {
  const isStream = recording.endsWith('.stream');
  const stream = isStream ? { stream: true } : {};
  const [family, api] = recording.split('/') as [string, string];
  if (family === 'gemini') {
    const verb = isStream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    const body = { contents: [{ role: 'user', parts: [{ text }] }] };
    return post(`/v1beta/models/gemini-3.8-flash:${verb}`, body, { 'x-goog-api-key': KEY });
  }
  if (family === 'anthropic') {
    const own = { 'x-api-key': KEY, 'anthropic-version': '2023-06-01' };
    if (api === 'models') return { path: '/v1/models', method: 'GET', body: null, headers: own };
    const messages = [{ role: 'user', content: text }];
    if (api === 'count-tokens')
      return post('/v1/messages/count_tokens', { model: 'claude-sonnet-5', messages }, own);
    return post('/v1/messages', { model: 'claude-sonnet-5', max_tokens: 64, messages, ...stream }, own);
  }
  const own = { authorization: `Bearer ${KEY}` };
  if (api === 'models') return { path: '/v1/models', method: 'GET', body: null, headers: own };
  const usage = isStream ? { stream_options: { include_usage: true } } : {};
  const model = 'gpt-5.4-mini';
  if (api === 'responses') return post('/v1/responses', { model, input: text, ...stream }, own);
  if (api === 'completions')
    return post('/v1/completions', { model, prompt: text, ...stream, ...usage }, own);
  if (api === 'embeddings') {
    const encoding = recording.endsWith('base64') ? { encoding_format: 'base64' } : {};
    return post('/v1/embeddings', { model, input: text, ...encoding }, own);
  }
  const messages = [{ role: 'user', content: text }];
  return post('/v1/chat/completions', { model, messages, ...stream, ...usage }, own);
}

function post(path: string, body: object, headers: Readonly<Record<string, string>>): RawAsk {
  return { path, method: 'POST', body: JSON.stringify(body), headers };
}

/** Sends the request, and reads the answer to its end. */
export async function askRaw(baseUrl: string, { path, method, body, headers }: RawAsk): Promise<RawAnswer> {
  const own = { ...headers, ...(body === null ? {} : { 'content-type': 'application/json' }) };
  const asked = request(`${baseUrl}${path}`, { method, headers: own, agent: false });
  asked.end(body ?? undefined);
  const answered = once(asked, 'response');
  // A broken connection also emits an error here, after the headers of the answer.
  asked.on('error', () => {});
  const [answer] = (await answered) as [IncomingMessage];
  const chunks: Buffer[] = [];
  let isBroken = false;
  try {
    for await (const chunk of answer) chunks.push(chunk as Buffer);
  } catch {
    isBroken = true;
  }
  return {
    status: answer.statusCode ?? 0,
    headers: answer.headers,
    body: Buffer.concat(chunks),
    is_broken: isBroken,
  };
}

/** Returns the JSON values of a stream in order, without data that is not an event of the protocol. */
export function getEvents({ body }: RawAnswer): readonly unknown[] {
  return body
    .toString('utf8')
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:') && line.trim() !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice(5)));
}

interface Delta {
  readonly choices?: readonly {
    readonly text?: string;
    readonly delta?: { readonly content?: string | null };
  }[];
  readonly type?: string;
  readonly delta?: string | { readonly text?: string };
  readonly candidates?: readonly {
    readonly content?: { readonly parts?: readonly { readonly text?: string }[] };
  }[];
}

/** Returns the text of a stream, for any of the APIs. */
export function streamedText(answer: RawAnswer): string {
  return (getEvents(answer) as readonly Delta[])
    .map(({ choices, type, delta, candidates }) => {
      if (choices !== undefined) return choices[0]?.text ?? choices[0]?.delta?.content ?? '';
      if (candidates !== undefined)
        return candidates[0]?.content?.parts?.map(({ text = '' }) => text).join('') ?? '';
      if (type === 'response.output_text.delta') return delta as string;
      return typeof delta === 'object' ? (delta.text ?? '') : '';
    })
    .join('');
}

/** One recording of a plain streamed answer for each API that streams. */
export const STREAMS = [
  'openai/chat/plain.stream',
  'openai/responses/plain.stream',
  'openai/completions/plain.stream',
  'anthropic/messages/plain.stream',
  'gemini/plain.stream',
] as const;
