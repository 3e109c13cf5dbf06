import {
  type ModelAnswer,
  type ModelBackend,
  ModelFailure,
  type ModelSettings,
} from '../../operations/model-backend.ts';
import { buildGuardedLookup } from '../../platform/net/guarded-lookup.ts';
import { isRefusedHost } from '../../platform/net/http-client.ts';
import { rejectRedirect } from '../upstream/attempt.ts';
import { openUpstreamConnections, type UpstreamConnections } from '../upstream/connections.ts';
import { decodeAnswer } from '../upstream/decode.ts';
import { exchangeHttp } from '../upstream/exchange.ts';
import { UpstreamFailure } from '../upstream/failure.ts';
import { systemPorts, type UpstreamPorts } from '../upstream/ports.ts';
import { computeRetryDelay, isRetryable } from '../upstream/retry.ts';
import { parseBaseUrl } from '../upstream/settings.ts';
import { type ChatQuestion, chatFormats } from './chat-formats.ts';

/** The settings of a backend, without `undefined`. */
type BackendSettings = NonNullable<ModelSettings['backend']>;

/** The longest answer of a backend, in bytes. */
const ANSWER_BYTES_MAX = 1_024 * 1_024;
const CONNECT_MS = 10_000;
const BACKOFF_FACTOR = 1;

/**
 * Opens the configured model. It connects on the first call, follows no redirects, refuses link-local and metadata
 * addresses, and sends the key to the configured address only.
 *
 * @param env the environment that holds the key
 * @throws ModelFailure `no_backend` if the variable of the key is not set
 */
export function openModelBackend(
  { backend, budget }: ModelSettings,
  env: NodeJS.ProcessEnv,
  ports: UpstreamPorts = systemPorts,
): ModelBackend {
  if (backend === undefined)
    throw new ModelFailure('no_backend', 'There is no model: set `intelligence.backend` in service.yaml.');
  if (isRefusedHost(backend.base_url))
    throw new ModelFailure(
      'no_backend',
      '`intelligence.backend.base_url` leads to a link-local or metadata address, which is never called. Name the address of a model server.',
    );
  const key = readKey(backend, env);
  const lookup = buildGuardedLookup(() => new UpstreamFailure('upstream_unreachable', 'link-local'));
  const connections = openUpstreamConnections({ connect_ms: CONNECT_MS, connections_max: 4, lookup });
  const call: ModelCall = { backend, key, connections, ports };
  return {
    ask: async (messages, signal) => {
      const question = {
        model: backend.model,
        messages,
        answer_tokens_max: budget.answer_tokens_max,
        uses_completion_tokens: false,
      };
      return queryModel(question, signal, call);
    },
    close: connections.close,
  };
}

interface ModelCall {
  readonly backend: BackendSettings;
  /** `null` for a backend without a key. */
  readonly key: string | null;
  readonly connections: UpstreamConnections;
  readonly ports: UpstreamPorts;
}

function readKey({ api_key_env }: BackendSettings, env: NodeJS.ProcessEnv): string | null {
  if (api_key_env === undefined) return null;
  const key = env[api_key_env]?.trim() ?? '';
  if (/^[\x21-\x7e]{1,4096}$/.test(key)) return key;
  const what = key === '' ? 'is not set' : 'holds no valid key';
  throw new ModelFailure(
    'no_backend',
    `The variable \`${api_key_env}\` (\`intelligence.backend.api_key_env\`) ${what}. Set it where the service starts, or remove the setting for a server without a key.`,
  );
}

interface HttpAnswer {
  readonly status: number;
  readonly headers: readonly string[];
  readonly text: string;
}

/** Asks until there is an answer, a failure that a retry would not change, or no attempt left. */
async function queryModel(
  question: ChatQuestion,
  signal: AbortSignal,
  call: ModelCall,
): Promise<ModelAnswer> {
  const { backend, ports } = call;
  const format = chatFormats[backend.provider];
  let attempted = question;
  for (let attempt = 0; ; attempt += 1) {
    const answer = await exchangeMessages(attempted, signal, call).catch(requireUpstreamFailure);
    if (!(answer instanceof UpstreamFailure) && answer.status === 200)
      return format.readAnswer(parseJson(answer.text), attempted);
    if (needsCompletionTokens(answer, attempted)) {
      attempted = { ...attempted, uses_completion_tokens: true };
      continue;
    }
    const outcome = answer instanceof UpstreamFailure ? { failure: answer.code } : answer;
    const failure = describeOutcome(answer, call);
    // A timeout is not tried again: the next attempt would take as long.
    if (attempt >= backend.retries || failure.code === 'timeout' || !isRetryable(outcome, null))
      throw failure;
    const waitMs = computeRetryDelay(attempt, outcome, BACKOFF_FACTOR, ports.random);
    if (waitMs === null) throw failure;
    await ports.sleep(waitMs, signal);
    if (signal.aborted) throw new ModelFailure('aborted', 'Stopped.');
  }
}

/** Some models refuse `max_tokens`, and name the member that they want. */
function needsCompletionTokens(answer: HttpAnswer | UpstreamFailure, attempted: ChatQuestion): boolean {
  return (
    !(answer instanceof UpstreamFailure) &&
    answer.status === 400 &&
    !attempted.uses_completion_tokens &&
    answer.text.includes('max_completion_tokens')
  );
}

async function exchangeMessages(
  question: ChatQuestion,
  signal: AbortSignal,
  { backend, key, connections, ports }: ModelCall,
): Promise<HttpAnswer> {
  const format = chatFormats[backend.provider];
  const base = parseBaseUrl(backend.base_url);
  const limitMs = backend.timeout_seconds * 1_000;
  const endsMs = ports.now_ms() + limitMs;
  const outgoing = {
    method: 'POST',
    path: `${base.path}${format.path}`,
    headers: [
      ...['content-type', 'application/json', 'accept', 'application/json', 'accept-encoding', 'identity'],
      ...(key === null ? [] : ['authorization', `Bearer ${key}`]),
    ],
    body: Buffer.from(JSON.stringify(format.buildBody(question))),
  };
  const patience = { first_byte_ms: limitMs, idle_ms: limitMs };
  const dispatcher = await connections.to(base.origin);
  const incoming = decodeAnswer(
    rejectRedirect(await exchangeHttp(dispatcher, outgoing, patience, signal, ports.alarm)),
  );
  const quiet = ports.alarm(Math.max(1, endsMs - ports.now_ms()), () =>
    incoming.cut(new UpstreamFailure('upstream_timeout', 'The answer was not whole in time.')),
  );
  try {
    return { status: incoming.status, headers: incoming.headers, text: await readBody(incoming.body) };
  } finally {
    quiet();
  }
}

async function readBody(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new UpstreamFailure('answer_too_large', 'The answer is too large.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ModelFailure(
      'answer_invalid',
      'The model server did not answer with JSON. Check `intelligence.backend.provider` and `base_url`.',
    );
  }
}

function requireUpstreamFailure(fault: unknown): UpstreamFailure {
  if (fault instanceof UpstreamFailure) return fault;
  throw fault;
}

/** Describes an answer without success for people. The text of the backend is not repeated: it may echo the prompt. */
function describeOutcome(answer: HttpAnswer | UpstreamFailure, { backend, key }: ModelCall): ModelFailure {
  const at = `\`${new URL(backend.base_url).origin}\``;
  if (answer instanceof UpstreamFailure) return describeFailure(answer, backend, at);
  const { status } = answer;
  if (status === 401 || status === 403)
    return new ModelFailure(
      'key_refused',
      key === null
        ? `The model server at ${at} wants a key (HTTP ${status}). Set \`intelligence.backend.api_key_env\` to the variable that holds it.`
        : `The model server at ${at} refused the key (HTTP ${status}). Check the value of \`${backend.api_key_env}\`.`,
    );
  if (status === 404)
    return new ModelFailure(
      'model_unknown',
      `The model server at ${at} has no model \`${backend.model}\`, or no chat API at this address (HTTP 404). Check \`intelligence.backend.model\` and \`base_url\`; a local server must have pulled the model.`,
    );
  if (status === 429)
    return new ModelFailure(
      'rate_limited',
      `The model server at ${at} limits the rate of calls, or a quota is used up (HTTP 429). Try again later.`,
    );
  const hint = status >= 500 ? 'Try again later, and check its log.' : 'Check `intelligence.backend`.';
  return new ModelFailure(
    status >= 500 ? 'unreachable' : 'request_refused',
    `The model server at ${at} answered HTTP ${status}. ${hint}`,
  );
}

function describeFailure({ code }: UpstreamFailure, backend: BackendSettings, at: string): ModelFailure {
  switch (code) {
    case 'aborted':
      return new ModelFailure('aborted', 'Stopped.');
    case 'upstream_timeout':
      return new ModelFailure(
        'timeout',
        `The model at ${at} did not answer within ${backend.timeout_seconds} seconds. Raise \`intelligence.backend.timeout_seconds\`, or take a smaller model.`,
      );
    case 'answer_too_large':
      return new ModelFailure(
        'answer_invalid',
        `The answer of ${at} is larger than ${ANSWER_BYTES_MAX} bytes.`,
      );
    case 'upstream_broken':
      return new ModelFailure(
        'answer_invalid',
        `The model server at ${at} broke off, redirected the call, or did not answer with HTTP. Check \`intelligence.backend.base_url\`.`,
      );
    default:
      return new ModelFailure(
        'unreachable',
        `No model server answers at ${at}. Start it, or check \`intelligence.backend.base_url\`.`,
      );
  }
}
