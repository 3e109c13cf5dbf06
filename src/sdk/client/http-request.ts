import { ServiceRefusedError, ServiceUnavailableError } from '../errors.ts';

/** The part of the platform's `fetch` that the client uses. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** Address of the service, and the means to call it. */
export interface ServiceAddress {
  /** Without a slash at the end. */
  readonly url: string;
  readonly key: string | undefined;
  readonly timeout_ms: number;
  readonly fetch: FetchFunction;
}

/** One call of the service. A body makes it a POST. */
export interface ServiceCall {
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
  /** Time for which the service itself may wait before it answers, in addition to the timeout. */
  readonly wait_ms?: number;
}

const ANSWER_BYTES_MAX = 67_108_864;
const MESSAGE_UNITS_MAX = 500;
/** Pauses before a read is tried again, in milliseconds. A check is never tried again. */
const RETRY_PAUSES_MS = [50, 250];
const PASSING: ReadonlySet<number> = new Set([502, 503, 504]);

/**
 * Calls the service and returns the JSON of its answer. Only a call without a body is tried again.
 *
 * @throws ServiceUnavailableError, ServiceRefusedError
 */
export async function callService(address: ServiceAddress, call: ServiceCall): Promise<unknown> {
  if (call.body !== undefined) return callOnce(address, call);
  for (const pauseMs of RETRY_PAUSES_MS) {
    try {
      return await callOnce(address, call);
    } catch (error) {
      if (!isPassing(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  return callOnce(address, call);
}

function isPassing(error: unknown): boolean {
  if (error instanceof ServiceUnavailableError) return true;
  return error instanceof ServiceRefusedError && PASSING.has(error.status) && error.code !== 'not_configured';
}

async function callOnce(address: ServiceAddress, { path, body, wait_ms = 0 }: ServiceCall): Promise<unknown> {
  const timeout = startTimeout(address.timeout_ms + wait_ms);
  try {
    const response = await address.fetch(address.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: buildHeaders(address, body !== undefined),
      // Content goes to the service alone, and not to an address that an answer names. Workers do not support `error`.
      redirect: 'manual',
      signal: timeout.signal,
      ...(body !== undefined && { body }),
    });
    if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400))
      throw new ServiceUnavailableError(
        'The service answered with a redirect. Check the address of the service.',
      );
    const answer = parseAnswer(await readBounded(response));
    if (!response.ok) throw buildRefusal(response.status, answer);
    return answer;
  } catch (error) {
    if (error instanceof ServiceRefusedError || error instanceof ServiceUnavailableError) throw error;
    if (timeout.signal.aborted)
      throw new ServiceUnavailableError(
        `The service did not answer within ${address.timeout_ms + wait_ms} ms.`,
      );
    throw new ServiceUnavailableError(`The service at ${getHost(address.url)} could not be reached.`);
  } finally {
    timeout.stop();
  }
}

/** One timer, which is cheaper than `AbortSignal.timeout` and does not keep a process alive. */
function startTimeout(timeoutMs: number): { readonly signal: AbortSignal; readonly stop: () => void } {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), timeoutMs);
  return { signal: controller.signal, stop: () => clearTimeout(timer) };
}

function buildHeaders({ key }: ServiceAddress, hasBody: boolean): Record<string, string> {
  return {
    accept: 'application/json',
    ...(hasBody && { 'content-type': 'application/json' }),
    ...(key !== undefined && { 'x-service-key': key }),
  };
}

async function readBounded(response: Response): Promise<string> {
  const length = Number(response.headers.get('content-length') ?? Number.NaN);
  if (length > ANSWER_BYTES_MAX) throw new ServiceUnavailableError(TOO_LONG);
  if (Number.isInteger(length) || response.body === null) return response.text();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) throw new ServiceUnavailableError(TOO_LONG);
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

const TOO_LONG = `The service sent an answer of more than ${ANSWER_BYTES_MAX} bytes.`;

function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceUnavailableError(
      'The service did not answer with JSON. Check the address of the service.',
    );
  }
}

function buildRefusal(status: number, answer: unknown): ServiceRefusedError {
  const { error, reason, code } = (answer ?? {}) as { error?: unknown; reason?: unknown; code?: unknown };
  const said = [reason, error].find((each) => typeof each === 'string') as string | undefined;
  const message = said === undefined ? `The service answered with status ${status}.` : said;
  return new ServiceRefusedError(
    message.slice(0, MESSAGE_UNITS_MAX),
    status,
    typeof code === 'string' ? code.slice(0, 64) : 'unknown',
  );
}

/** Returns the host of an address for messages, without credentials. */
function getHost(url: string): string {
  return /^https?:\/\/(?:[^/@]*@)?([^/?#]+)/.exec(url)?.[1] ?? 'the configured address';
}
