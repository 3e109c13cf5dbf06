import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import {
  rememberNestedSources,
  rememberText,
  SOURCE_LIMITS,
  writeExactJson,
} from '../core/json/value-source.ts';
import type { Json } from '../core/types/index.ts';
import { REFUSAL_STATUS, Refusal } from '../operations/operation.ts';
import { describeFault, type Log } from '../platform/log.ts';
import { getNodeHttp } from '../platform/net/node-http.ts';
import { openSlots, type Slots } from '../platform/queue/slots.ts';
import { BODY_BYTES_MAX, CONTENT_LEVELS } from './socket-exchange.ts';
import { OTHER_SERVICE } from './socket-failure.ts';
import { openSocketPath } from './socket-path.ts';

/** A request to a local socket whose headers and body were read. */
export interface LocalRequest {
  readonly headers: IncomingHttpHeaders;
  /** The parsed JSON of the body; `undefined` if there is none. Numbers keep their digits. */
  readonly body: Json | undefined;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** One route of a local socket. The path alone selects it. */
export interface LocalRoute {
  readonly method: 'GET' | 'POST';
  /**
   * Returns the answer: JSON, or an iterable whose items are sent one per line as they come. Rejects with a refusal, which
   * has `code`, `message` and `details`.
   */
  readonly answer: (request: LocalRequest) => unknown;
}

export interface SocketServer {
  readonly close: () => Promise<void>;
}

interface SocketOptions {
  /** The socket. One that a killed service left behind is replaced. */
  readonly path: string;
  readonly findRoute: (path: string) => LocalRoute | undefined;
  /** Returns whether a request may be answered. It is called before anything else is read. */
  readonly isAuthorized: (headers: IncomingHttpHeaders) => boolean;
  readonly log: Log;
}

/** The open connections of a socket. Each carries one request. */
const CONNECTIONS_MAX = 1_024;
/** The requests that run at once. The body of a waiting request is not read. */
const REQUESTS_MAX = 64;
/** Enough for the longest signed token and the path of a configuration. */
const HEADER_BYTES_MAX = 65_536;
/** The time for the headers, and for the whole request with its body, in milliseconds. */
const HEADERS_MS = 5_000;
const REQUEST_MS = 30_000;
/** The interval at which both times are checked, in milliseconds. */
const CHECK_MS = 1_000;

/**
 * Opens an HTTP server on a Unix socket that only the user of this process can open. A connection carries one request:
 * bytes after its body are never read as a request.
 */
export async function openSocketHttp(options: SocketOptions): Promise<SocketServer> {
  const server = getNodeHttp().createServer({
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: CHECK_MS,
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.maxRequestsPerSocket = 1;
  const slots = openSlots(REQUESTS_MAX);
  server.on('request', (request, response) => void handleRequest(request, response, slots, options));
  rmSync(options.path, { force: true });
  const short = openSocketPath(options.path);
  server.listen(short.path);
  await once(server, 'listening').catch((fault: unknown) => {
    short.close();
    throw fault;
  });
  chmodSync(options.path, 0o600);
  return {
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      short.close();
      rmSync(options.path, { force: true });
    },
  };
}

async function handleRequest(
  request: IncomingMessage,
  response: ServerResponse,
  slots: Slots,
  { findRoute, isAuthorized, log }: SocketOptions,
): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const endTask = await slots.take();
  try {
    if (gone.signal.aborted) return;
    const { headers, method, url = '' } = request;
    if (!isAuthorized(headers)) return refuse(response, 401, UNAUTHORIZED, { 'www-authenticate': 'Bearer' });
    const route = findRoute(url);
    if (route === undefined) return refuse(response, 404, NO_ROUTE);
    if (route.method !== method) return refuse(response, 405, WRONG_METHOD, { allow: route.method });
    const bytes = await readBody(request);
    if (bytes === null) return refuse(response, 413, TOO_LARGE);
    const answer = await route.answer({ headers, body: parseBody(bytes), signal: gone.signal });
    // A list that is followed lasts as long as its client.
    endTask();
    if (isIterable(answer)) await sendLines(response, answer, gone.signal);
    else sendJson(response, 200, answer ?? null);
  } catch (error) {
    if (gone.signal.aborted) return;
    // The client of a broken list asks again after the last item that it has.
    if (response.headersSent) response.destroy();
    else refuseWith(response, error, log);
  } finally {
    endTask();
  }
}

/** The HTTP status of each code. Codes of single features are 400. */
const STATUS: Readonly<Record<string, number>> = { ...REFUSAL_STATUS, [OTHER_SERVICE]: 421 };

const UNAUTHORIZED = {
  code: 'unauthenticated',
  error: 'This socket is for operators: send the operator token as `Authorization: Bearer`.',
};
const NO_ROUTE = { code: 'not_found', error: 'This socket has no such route.' };
const WRONG_METHOD = { code: 'method_not_allowed', error: 'This route takes another method.' };
const TOO_LARGE = { code: 'too_large', error: `The body has more than ${BODY_BYTES_MAX} bytes.` };

/**
 * Reads the body; `null` if it is too long. The rest of a long body is discarded, because a client that is still sending
 * would not read why it is refused.
 */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes <= BODY_BYTES_MAX) pieces.push(piece);
    else pieces.length = 0;
    if (bytes > 2 * BODY_BYTES_MAX) request.destroy();
  }
  return bytes > BODY_BYTES_MAX ? null : Buffer.concat(pieces);
}

function parseBody(bytes: Buffer): Json | undefined {
  if (bytes.length === 0) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const value = JSON.parse(text) as Json;
    rememberText(value, text);
    rememberNestedSources(value, SOURCE_LIMITS, CONTENT_LEVELS);
    return value;
  } catch {
    throw new Refusal('invalid_request', 'The body is not JSON in UTF-8.');
  }
}

function isIterable(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}

/** Sends one item per line, and waits for a slow client before the next one. */
async function sendLines(
  response: ServerResponse,
  items: AsyncIterable<unknown>,
  signal: AbortSignal,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/x-ndjson', connection: 'close' });
  response.flushHeaders();
  for await (const item of items)
    if (!response.write(`${JSON.stringify(item)}\n`)) await once(response, 'drain', { signal });
  response.end();
}

function refuseWith(response: ServerResponse, error: unknown, log: Log): void {
  const { code, message, details } = error as { code?: unknown; message?: unknown; details?: unknown };
  if (typeof code === 'string' && Array.isArray(details)) {
    const status = STATUS[code] ?? 400;
    refuse(response, status, { code, error: String(message), details });
  } else {
    log.error('a request on a local socket met a fault', describeFault(error));
    refuse(response, 500, { code: 'internal', error: 'The service has a fault; its log says where.' });
  }
}

function refuse(
  response: ServerResponse,
  status: number,
  refusal: { readonly code: string; readonly error: string; readonly details?: readonly unknown[] },
  headers: Readonly<Record<string, string>> = {},
): void {
  sendJson(response, status, refusal, headers);
}

function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = Buffer.from(writeExactJson(value, CONTENT_LEVELS), 'utf8');
  const own = { 'content-type': 'application/json', 'content-length': body.length, connection: 'close' };
  response.writeHead(status, { ...own, ...headers }).end(body);
}
