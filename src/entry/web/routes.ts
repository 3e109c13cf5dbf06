import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { rememberNestedSources, SOURCE_LIMITS, writeExactJson } from '../../core/json/value-source.ts';
import type { Json } from '../../core/types/index.ts';
import type { LlmProxy } from '../../gateways/llm/llm-call.ts';
import { callOperation, refuseDuplicateMembers } from '../../operations/call.ts';
import { type AnyOperation, isDecisionOperation, Refusal } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import { ANONYMOUS_CALLER } from '../../runtime/access/callers.ts';
import type { AuthenticationFailure, Authenticator } from '../../runtime/access/index.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { refuseEncoded } from './body.ts';
import type { BodyMemoryLimit } from './body-memory.ts';

import { type CheckBrowser, openBrowserContext } from './browser-context.ts';
import { type ConcurrencyLimit, UNLIMITED_CONCURRENCY } from './concurrency.ts';

import { runWithoutSilenceLimit } from './connections.ts';
import { answerError, type ErrorLog, type FaultVerdict, isFaultVerdict } from './errors.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The caller, identified before the body is read. */
    caller: Caller | null;
  }
}

export interface RoutePorts {
  readonly runtime: Runtime;
  readonly authenticate: Authenticator;
  readonly log: ErrorLog;
  readonly limitBody: BodyMemoryLimit;
  readonly limit: ConcurrencyLimit;
}

export interface OperationPorts extends RoutePorts {
  readonly checkBrowser: CheckBrowser;
  readonly llm: () => Promise<LlmProxy>;
}

const SEE_OTHER = 303;
const JSON_TYPE = 'application/json; charset=utf-8';

/** Adds an operation's route: authenticate, read the body, call the operation, write the answer. */
export function addRoute(app: FastifyInstance, operation: AnyOperation, ports: OperationPorts): void {
  const { path, below } = operation.http;
  const url = path.replace(/\{(\w+)\}/g, ':$1');
  for (const each of below === true ? [url, `${url}/*`] : [url]) addRouteAt(each, app, operation, ports);
}

function addRouteAt(url: string, app: FastifyInstance, operation: AnyOperation, ports: OperationPorts): void {
  const { method, produces = JSON_TYPE } = operation.http;
  const read = getReader(operation);
  const limit = operation.permission === null ? UNLIMITED_CONCURRENCY : ports.limit;
  const is_navigation = operation.http.redirects === true;
  const browserOf = (request: FastifyRequest, reply: FastifyReply) =>
    openBrowserContext(request, reply, ports.checkBrowser, is_navigation);
  const named_user = operation.for_users !== undefined || operation.calls_models === true;
  app.route({
    method,
    url,
    onRequest: (request, _reply, done) => {
      const outcome = admitRequest(request, operation, ports);
      if (outcome instanceof Promise) outcome.then((refusal) => done(refusal ?? undefined), done);
      else done(outcome ?? undefined);
    },
    preParsing: (request, reply, payload, done) => {
      const admitted =
        limit.refusal() ?? ports.limitBody(payload as Readable, request.raw.headers, reply.raw);
      if (admitted instanceof Refusal) done(admitted);
      else done(null, admitted);
    },
    errorHandler: (error, request, reply) => answerError(error, request, reply, operation, ports.log),
    handler: async (request, reply) => {
      const context = {
        runtime: ports.runtime,
        caller: request.caller ?? ANONYMOUS_CALLER,
        request_id: request.id,
        tenant_id: readNameHeader(request, 'x-service-tenant'),
        ...(named_user && { user_id: readNameHeader(request, 'x-service-user') }),
        ...(operation.calls_models === true && { llm: ports.llm }),
        ...(operation.browser === true && { browser: browserOf(request, reply) }),
        signal: () => createDisconnectSignal(reply),
      };
      const { telemetry } = ports.runtime;
      const run = () => callOperation(operation, read(request), context);
      const traced = telemetry === null ? run : () => telemetry.within(request.headers, run);
      const output =
        operation.calls_models === true
          ? await runWithoutSilenceLimit(request.raw.socket, () => limit.run(traced))
          : await limit.run(traced);
      if (is_navigation) return reply.redirect((output as { location: string }).location, SEE_OTHER);
      reply.header('content-type', produces);
      if (produces !== JSON_TYPE) return output;
      if (isFaultVerdict(output)) return answerFaultVerdict(output, request, reply);
      return writeExactJson(output);
    },
  });
}

/**
 * Returns a reader for an operation's input: the query of a GET, or the body of a POST or PUT. Path parameters override both.
 */
function getReader(operation: AnyOperation): (request: FastifyRequest) => unknown {
  const { http, input } = operation;
  const isCheck = isDecisionOperation(operation);
  const isGet = http.method === 'GET';
  const hasNames = http.path.includes('{');
  if (isGet) {
    const whole = createNumberParser(input);
    return ({ query, params }) => ({ ...whole(query as Query), ...(params as object) });
  }
  if (!hasNames) return ({ body }) => body;
  return ({ body, params }) => {
    const isRecord = typeof body === 'object' && body !== null && !Array.isArray(body);
    // A program appends the part below the path; it is not input.
    const { '*': _, ...names } = params as Readonly<Record<string, string>>;
    if (!isRecord && body !== undefined) return body;
    if (isCheck && body !== undefined) {
      refuseDuplicateMembers(body as Json);
      rememberNestedSources(body as Json, SOURCE_LIMITS, CONTENT_LEVELS);
    }
    return { ...body, ...names };
  };
}

/** Maximum nesting of a call or a result within the body of another program. */
const CONTENT_LEVELS = 6;

type Query = Readonly<Record<string, unknown>>;

/** Converts query values to whole numbers if the schema requires one and the text is one. */
function createNumberParser(input: AnyOperation['input']): (query: Query) => Query {
  const properties = (input as { properties?: Record<string, { type?: unknown }> }).properties ?? {};
  const wanted = Object.keys(properties).filter((name) => properties[name]?.type === 'integer');
  return (query) => {
    const numbers = wanted.flatMap((name) => {
      const written = query[name];
      return typeof written === 'string' && /^\d{1,15}$/.test(written) ? [[name, Number(written)]] : [];
    });
    return { ...query, ...Object.fromEntries(numbers) };
  };
}

/** Returns a signal that aborts if the connection closes before the whole answer was written. */
export function createDisconnectSignal({ raw }: FastifyReply): AbortSignal {
  const gone = new AbortController();
  if (raw.destroyed) gone.abort(GONE);
  raw.once('close', () => {
    if (!raw.writableFinished) gone.abort(GONE);
  });
  return gone.signal;
}

/** Created once, because each signal without a reason creates an exception with its own stack. */
const GONE = new Error('the client is gone');

/** Authenticates the caller and refuses whatever can be refused without the body. */
function admitRequest(
  request: FastifyRequest,
  operation: AnyOperation,
  { runtime, authenticate }: RoutePorts,
): Refusal | null | Promise<Refusal | null> {
  const refusal = operation.unavailable?.(runtime) ?? refuseEncoded(request);
  const is_open = operation.permission === null;
  if (refusal !== null || (is_open && operation.identifies_caller !== true)) return refusal;
  const settle = (outcome: Caller | AuthenticationFailure): Refusal | null => {
    if ('denied' in outcome) return is_open ? null : new Refusal(outcome.denied, outcome.reason);
    request.caller = outcome;
    return null;
  };
  const { headers, method = '', socket } = request.raw;
  const outcome = authenticate({ address: socket.remoteAddress, headers, method });
  if (!(outcome instanceof Promise)) return settle(outcome);
  // An open route answers while the store of the sessions does not.
  return outcome.then(settle, (fault: unknown) => {
    if (!is_open) throw fault;
    return null;
  });
}

const NAME_CHARS_MAX = 256;

/** Returns the name in one of our headers, unchanged; `null` if the header is absent. */
export function readNameHeader(
  { headers }: FastifyRequest,
  header: string,
  chars_max = NAME_CHARS_MAX,
): string | null {
  const name = headers[header];
  if (name === undefined) return null;
  if (typeof name === 'string' && name.length <= chars_max && !/[^\x20-\x7e]/.test(name)) return name;
  throw new Refusal(
    'invalid_request',
    `\`${header}\` must be at most ${chars_max} printable ASCII characters.`,
  );
}

/** Formats a verdict that blocks because of an internal error, with the status of an internal error. */
function answerFaultVerdict(verdict: FaultVerdict, request: FastifyRequest, reply: FastifyReply): string {
  reply.code(500);
  const error = { error: verdict.reason, code: 'internal_error', request_id: request.id };
  return JSON.stringify({ ...error, ...verdict });
}
