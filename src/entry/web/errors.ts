import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import {
  type AnyOperation,
  isDecisionOperation,
  REFUSAL_STATUS,
  Refusal,
  type RefusalCode,
} from '../../operations/operation.ts';
import { describeFault, type Log } from '../../platform/log.ts';
import { endConnection } from './connections.ts';

/** The part of the service log that errors need. */
export type ErrorLog = Pick<Log, 'error'>;

/** The possible values of `code` in an error. */
export type ErrorCode = RefusalCode | 'method_not_allowed' | 'upgrade_required' | 'internal_error';

/** The HTTP status of each code. */
export const STATUS: Readonly<Record<ErrorCode, number>> = {
  ...REFUSAL_STATUS,
  method_not_allowed: 405,
  upgrade_required: 426,
  internal_error: 500,
};

/** Maps the framework's error codes to refusals. Its own messages are not used, because some repeat the input. */
const FRAMEWORK: Readonly<Record<string, readonly [RefusalCode, string]>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: ['too_large', 'The body is larger than `server.body_bytes_max`.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported_media_type',
    'Send the body as `Content-Type: application/json`.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'invalid_request',
    'The body is not as long as `Content-Length` says.',
  ],
  FST_ERR_BAD_URL: ['invalid_request', 'The path is not a valid URL path.'],
  FST_ERR_INVALID_URL: ['invalid_request', 'The path is not a valid URL path.'],
  FST_ERR_MAX_PARAM_LENGTH: ['not_found', 'There is no such route.'],
  FST_ERR_NOT_FOUND: ['not_found', 'There is no such route.'],
};

/** The message of every internal error. */
export const FAULT =
  'The service could not answer because of a fault of its own. Treat it as a block; its log says more.';

/** Builds the body of an error: a message for people, a code for programs, and the request ID. */
export function buildErrorBody(refusal: Refusal, requestId: string): object {
  const { message, code, details, extra } = refusal;
  return { ...extra, error: message, code, ...(details.length > 0 && { details }), request_id: requestId };
}

/** Answers an error, expected or not. On a check route an internal error answers `block` as well. */
export async function answerError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: AnyOperation | null,
  log: ErrorLog,
): Promise<FastifyReply> {
  const refusal = readRefusal(error);
  await prepareError(refusal ?? error, request, reply, log, 'a request', { operation: operation?.name });
  return writeError(refusal, request, reply, operation);
}

/** Logs a fault, or sets the headers of a refusal, before the transport writes the error in its form. */
export async function prepareError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  log: ErrorLog,
  subject: string,
  fields: object = {},
): Promise<void> {
  if (error instanceof Refusal) await prepareRefusal(error, request, reply);
  else log.error(`${subject} met a fault`, { request_id: request.id, ...fields, ...describeFault(error) });
}

/** Writes a refusal or a fault (`null`) as JSON. On a check route a fault answers `block` as well. */
export function writeError(
  refusal: Refusal | null,
  request: FastifyRequest,
  reply: FastifyReply,
  operation: AnyOperation | null,
): FastifyReply {
  if (refusal !== null)
    return sendBody(request, reply, STATUS[refusal.code], buildErrorBody(refusal, request.id));
  const blocked = operation !== null && isDecisionOperation(operation) ? { decision: 'block' } : {};
  const body = { error: FAULT, code: 'internal_error', ...blocked, request_id: request.id };
  return sendBody(request, reply, STATUS.internal_error, body);
}

/** The `Retry-After` of temporary refusals, in seconds. */
const RETRY_AFTER_SECONDS = '1';

/** Sets the headers of a refusal. Drains the body if the client could not read the refusal otherwise. */
async function prepareRefusal(
  { code, extra }: Refusal,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  if (code === 'unavailable' || code === 'too_many_requests')
    reply.header('retry-after', String(extra.retry_after_seconds ?? RETRY_AFTER_SECONDS));
  if (code === 'unauthenticated') reply.header('www-authenticate', 'Bearer realm="service"');
  if (code === 'too_large' || code === 'unavailable') await drainBody(request.raw);
}

/** Answers 405 with the allowed methods. */
export function answerMethod(request: FastifyRequest, reply: FastifyReply, allowed: string): FastifyReply {
  const error = `This route takes ${allowed} only.`;
  reply.header('allow', allowed);
  return sendBody(request, reply, STATUS.method_not_allowed, {
    error,
    code: 'method_not_allowed',
    request_id: request.id,
  });
}

/** Answers 426 on a path that only serves WebSockets. */
export function answerUpgrade(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const error = 'This is a WebSocket. The same events come as server-sent events from `/v1/events`.';
  reply.header('upgrade', 'websocket').header('connection', 'upgrade');
  return sendBody(request, reply, STATUS.upgrade_required, {
    error,
    code: 'upgrade_required',
    request_id: request.id,
  });
}

/** Returns the refusal for a path without an operation. */
export function buildUnknownRouteRefusal(url = ''): Refusal {
  const path = url.split('?', 1)[0] as string;
  const lacking = LACKING.find(({ at }) => at.test(path));
  return lacking === undefined
    ? new Refusal('not_found', 'There is no such route.')
    : new Refusal('not_configured', lacking.sentence);
}

/** Documented paths that this version lacks, so that a client can distinguish them from unknown paths. */
const LACKING = [
  { at: /^\/v1\/dashboard(?:\/|$)/, sentence: 'This version lacks this route of the dashboard.' },
];

/** Returns the refusal for an expected error; `null` for an internal error. */
export function readRefusal(error: unknown): Refusal | null {
  if (error instanceof Refusal) return error;
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown };
  const known = typeof code === 'string' ? FRAMEWORK[code] : undefined;
  if (known !== undefined) return new Refusal(...known);
  // An aborted request, or another client error that the framework reported.
  const ours = typeof statusCode !== 'number' || statusCode < 400 || statusCode > 499;
  return ours ? null : new Refusal('invalid_request', 'The request could not be read.');
}

function sendBody(request: FastifyRequest, reply: FastifyReply, status: number, body: object): FastifyReply {
  setSecurityHeaders(reply).code(status).header('x-request-id', request.id);
  return reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
}

/**
 * Sets headers that keep an answer out of caches and prevent content sniffing. Browsers neither cache nor render the
 * answer to a POST, so it goes without them: each header costs some percent of the time of a decision.
 */
export function setSecurityHeaders(reply: FastifyReply): FastifyReply {
  return reply.header('x-content-type-options', 'nosniff').header('cache-control', 'no-store');
}

const DRAIN_MS = 2_000;

/** Reads the body for a moment, because a client that is still sending when the socket closes never sees the reason. */
function drainBody(request: IncomingMessage): Promise<void> {
  return new Promise((done) => {
    if (request.readableEnded || request.destroyed) return done();
    const timer = setTimeout(done, DRAIN_MS);
    const finish = () => {
      clearTimeout(timer);
      done();
    };
    request.once('end', finish).once('close', finish).resume();
  });
}

/** Answers input that is not HTTP, or that arrived too slowly, when there is no request yet. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, sentence] = getClientError(error.code);
  const body = JSON.stringify({ error: sentence, code: 'invalid_request', request_id: null });
  endConnection(
    socket,
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** Answers an `Expect` header with an expectation other than `100-continue`. */
export function answerExpectation(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify({
    error: 'Remove the `Expect` header.',
    code: 'invalid_request',
    request_id: null,
  });
  response.writeHead(417, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    connection: 'close',
  });
  response.end(body);
}

function getClientError(code: string | undefined): readonly [string, string] {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return ['408 Request Timeout', 'The request came too slowly.'];
  if (code === 'HPE_HEADER_OVERFLOW')
    return ['431 Request Header Fields Too Large', 'The headers are too large.'];
  return ['400 Bad Request', 'This is not a valid HTTP request.'];
}

/** An answer that blocks because of an internal error. */
export interface FaultVerdict {
  readonly fault: true;
  readonly reason: string;
}

/** Returns whether an answer blocks because of an internal error. */
export function isFaultVerdict(output: unknown): output is FaultVerdict {
  return typeof output === 'object' && output !== null && 'fault' in output && output.fault === true;
}
