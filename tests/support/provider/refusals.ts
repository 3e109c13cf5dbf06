/** Errors of the real providers before they call a model, in their own format. */
import { randomUUID } from 'node:crypto';

export type Family = 'openai' | 'anthropic' | 'gemini';

export interface RefusalRequest {
  readonly method: string;
  /** The path without the query. */
  readonly path: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  /** The key in the URL, which Gemini accepts too. */
  readonly query_key: string | null;
  /** Gemini's streams are server-sent events only on request. */
  readonly is_sse: boolean;
  readonly body: Buffer;
  /** The parsed body; `undefined` if it is not JSON. */
  readonly json: unknown;
}

export interface RefusalReply {
  readonly status: number;
  readonly headers: readonly string[];
  readonly body: string;
}

/** Returns the provider whose API a request uses. */
export function getFamily({ path, headers }: Pick<RefusalRequest, 'path' | 'headers'>): Family {
  if (/^\/v1(beta|alpha)?\/models\/[^/]+:/.test(path)) return 'gemini';
  const isAnthropic =
    path.startsWith('/v1/messages') ||
    (path.startsWith('/v1/models') && headers['anthropic-version'] !== undefined);
  return isAnthropic ? 'anthropic' : 'openai';
}

/** @param keys the keys that are known; `null`: all are */
export function getRefusal(asked: RefusalRequest, keys: readonly string[] | null): RefusalReply | null {
  const family = getFamily(asked);
  const key = getKey(asked, family);
  if (key === null) return refuse[family](401, MESSAGES[family].no_key);
  if (keys !== null && !keys.includes(key))
    return refuse[family](family === 'gemini' ? 400 : 401, MESSAGES[family].wrong_key);
  if (family === 'anthropic' && asked.headers['anthropic-version'] === undefined)
    return refuse.anthropic(400, 'anthropic-version: header is required');
  if (asked.method === 'GET') return null;
  if (asked.json === undefined) return refuse[family](400, MESSAGES[family].no_json);
  const lacking = missingIn(asked.json as Readonly<Record<string, unknown>>, asked.path, family);
  return lacking === null ? null : refuse[family](400, lacking);
}

/** Returns the error of each provider for an unknown path. */
export function unknownPath({ method, path, headers }: RefusalRequest): RefusalReply {
  const family = getFamily({ path, headers });
  if (family === 'openai') return refuse.openai(404, `Invalid URL (${method} ${path})`);
  return refuse[family](404, 'Not Found');
}

const MESSAGES = {
  openai: {
    no_key:
      "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY).",
    wrong_key:
      'Incorrect API key provided: wrong***-key. You can find your API key at https://platform.openai.com/account/api-keys.',
    no_json:
      "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)",
  },
  anthropic: {
    no_key: 'x-api-key header is required',
    wrong_key: 'invalid x-api-key',
    no_json: 'The request body is not valid JSON: unexpected character: line 1 column 2 (char 1)',
  },
  gemini: {
    no_key:
      "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.",
    wrong_key: 'API key not valid. Please pass a valid API key.',
    no_json: 'Invalid JSON payload received. Unexpected end of string.',
  },
} as const;

function getKey({ headers, query_key }: RefusalRequest, family: Family): string | null {
  const bearer = /^Bearer (.+)$/.exec(String(headers.authorization ?? ''))?.[1] ?? null;
  if (family === 'openai') return bearer;
  const own = headers[family === 'anthropic' ? 'x-api-key' : 'x-goog-api-key'];
  return (typeof own === 'string' ? own : null) ?? (family === 'gemini' ? query_key : bearer);
}

function missingIn(body: Readonly<Record<string, unknown>>, path: string, family: Family): string | null {
  if (family === 'gemini')
    return Array.isArray(body.contents)
      ? null
      : '* GenerateContentRequest.contents: contents is not specified';
  if (typeof body.model !== 'string')
    return family === 'openai' ? 'you must provide a model parameter' : 'model: Field required';
  if (path === '/v1/messages' && typeof body.max_tokens !== 'number') return 'max_tokens: Field required';
  if (path === '/v1/chat/completions') return orphanInChat(body.messages);
  if (path === '/v1/responses') return orphanInResponses(body.input);
  return family === 'anthropic' ? orphanInMessages(body.messages) : null;
}

type Loose = Readonly<Record<string, unknown>>;

/**
 * Returns the error for a call without a result directly after it, or for a result without its call; `null` if there is
 * none.
 */
function orphanInChat(messages: unknown): string | null {
  const open = new Set<string>();
  for (const message of getList(messages)) {
    if (message.role === 'tool') {
      if (!open.delete(String(message.tool_call_id)))
        return "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
      continue;
    }
    if (open.size > 0) break;
    for (const call of getList(message.tool_calls)) open.add(String(call.id));
  }
  return open.size === 0
    ? null
    : `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`;
}

function orphanInResponses(input: unknown): string | null {
  const [calls, results] = ['function_call', 'function_call_output'].map(
    (type) => new Set(getList(input).flatMap((item) => (item.type === type ? [String(item.call_id)] : []))),
  ) as [Set<string>, Set<string>];
  const unanswered = missing(calls, results);
  if (unanswered !== undefined) return `No tool output found for function call ${unanswered}.`;
  const unasked = missing(results, calls);
  return unasked === undefined
    ? null
    : `No tool call found for function call output with call_id ${unasked}.`;
}

function orphanInMessages(messages: unknown): string | null {
  let open = new Set<string>();
  for (const [at, message] of getList(messages).entries()) {
    const blocks = getList(message.content);
    const results = new Set(
      blocks.filter(({ type }) => type === 'tool_result').map((each) => String(each.tool_use_id)),
    );
    const unanswered = missing(open, results);
    if (unanswered !== undefined)
      return `messages.${at - 1}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${unanswered}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    const unasked = missing(results, open);
    if (unasked !== undefined)
      return `messages.${at}.content.0: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${unasked}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
    open = new Set(blocks.filter(({ type }) => type === 'tool_use').map((each) => String(each.id)));
  }
  return null;
}

/** Returns the first member of `all` that is not in `others`. */
function missing(all: ReadonlySet<string>, others: ReadonlySet<string>): string | undefined {
  return [...all].find((each) => !others.has(each));
}

function getList(value: unknown): readonly Loose[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'object' && each !== null) : [];
}

const refuse: Readonly<Record<Family, (status: number, message: string) => RefusalReply>> = {
  openai: (status, message) => {
    const code = status === 401 && message.startsWith('Incorrect') ? 'invalid_api_key' : null;
    const error = { message, type: 'invalid_request_error', param: null, code };
    const headers = [
      'content-type',
      'application/json; charset=utf-8',
      'x-request-id',
      `req_${randomUUID().replaceAll('-', '')}`,
    ];
    return { status, headers, body: JSON.stringify({ error }, null, 4) };
  },
  anthropic: (status, message) => {
    const requestId = `req_011C${randomUUID().replaceAll('-', '').slice(0, 20)}`;
    const type = { 401: 'authentication_error', 404: 'not_found_error' }[status] ?? 'invalid_request_error';
    const headers = ['content-type', 'application/json', 'request-id', requestId, 'x-should-retry', 'false'];
    return {
      status,
      headers,
      body: JSON.stringify({ type: 'error', error: { type, message }, request_id: requestId }),
    };
  },
  gemini: (given, message) => {
    const code = given === 401 ? 403 : given;
    const status = { 403: 'PERMISSION_DENIED', 404: 'NOT_FOUND' }[code] ?? 'INVALID_ARGUMENT';
    const headers = [
      'content-type',
      'application/json; charset=UTF-8',
      'server',
      'scaffolding on HTTPServer2',
    ];
    return {
      status: code,
      headers,
      body: `${JSON.stringify({ error: { code, message, status } }, null, 2)}\n`,
    };
  },
};
