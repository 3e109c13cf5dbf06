import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { rememberNestedSources, SOURCE_LIMITS, writeExactJson } from '../../core/json/value-source.ts';
import { readTraceId } from '../../core/text/trace-parent.ts';
import type { Json } from '../../core/types/index.ts';
import type { LlmProxy } from '../../gateways/llm/llm-call.ts';
import { callOperation, refuseDuplicateMembers } from '../../operations/call.ts';
import { type AnyOperation, type Context, isDecisionOperation, Refusal } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import { ANONYMOUS_CALLER } from '../../runtime/access/callers.ts';
import { type CheckBrowser, openBrowserContext } from './browser-context.ts';
import { UNLIMITED_CONCURRENCY } from './concurrency.ts';
import { runWithoutSilenceLimit } from './connections.ts';
import { type FaultVerdict, isFaultVerdict, writeError } from './errors.ts';
import { buildGuardedRoute, type GuardedRoute, type RoutePorts } from './guarded-route.ts';

export interface OperationPorts extends RoutePorts {
  readonly runtime: Runtime;
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
  const isNavigation = operation.http.redirects === true;
  const browserOf = (request: FastifyRequest, reply: FastifyReply) =>
    openBrowserContext(request, reply, ports.checkBrowser, isNavigation);
  const namedUser =
    operation.for_users !== undefined || operation.calls_models === true || isDecisionOperation(operation);
  const refuse = () => operation.unavailable?.(ports.runtime) ?? null;
  const route: GuardedRoute = {
    method,
    url,
    credential: getCredentialUse(operation),
    takes_cookies: true,
    refuse,
    subject: 'a request',
    fault_fields: { operation: operation.name },
    writeError: (refusal, request, reply) => writeError(refusal, request, reply, operation),
    handle: async (request, reply, run) => {
      const context = {
        runtime: ports.runtime,
        caller: request.caller ?? ANONYMOUS_CALLER,
        request_id: request.id,
        tenant_id: readNameHeader(request, 'x-service-tenant'),
        ...(namedUser && { user_id: readNameHeader(request, 'x-service-user') }),
        ...readWorkContext(request),
        ...(operation.calls_models === true && { llm: ports.llm }),
        ...(operation.browser === true && { browser: browserOf(request, reply) }),
        signal: () => createDisconnectSignal(reply),
      };
      const call = () => run(() => callOperation(operation, read(request), context));
      const output =
        operation.calls_models === true
          ? await runWithoutSilenceLimit(request.raw.socket, call)
          : await call();
      if (isNavigation) return reply.redirect((output as { location: string }).location, SEE_OTHER);
      reply.header('content-type', produces);
      if (produces !== JSON_TYPE) return output;
      if (isFaultVerdict(output)) return answerFaultVerdict(output, request, reply);
      return writeExactJson(output);
    },
  };
  app.route(buildGuardedRoute(route, { ...ports, limit }));
}

/** An open operation reads a credential only if it shows more to a known caller. */
function getCredentialUse({ permission, identifies_caller }: AnyOperation): GuardedRoute['credential'] {
  if (permission !== null) return 'required';
  return identifies_caller === true ? 'optional' : 'none';
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

const NAME_CHARS_MAX = 256;

/** Returns the name in one of our headers, unchanged; `null` if the header is absent. */
export function readNameHeader(
  { headers }: FastifyRequest,
  header: string,
  charsMax = NAME_CHARS_MAX,
): string | null {
  const name = headers[header];
  if (name === undefined) return null;
  if (typeof name === 'string' && name.length <= charsMax && !/[^\x20-\x7e]/.test(name)) return name;
  throw new Refusal(
    'invalid_request',
    `\`${header}\` must be at most ${charsMax} printable ASCII characters.`,
  );
}

/** Returns the task (`x-service-task`) and the trace (W3C Trace Context) that a request's headers name. */
export function readWorkContext(request: FastifyRequest): Pick<Context, 'task_id' | 'trace_id'> {
  const { traceparent } = request.headers;
  const traceId = typeof traceparent === 'string' ? readTraceId(traceparent) : null;
  const taskId = readNameHeader(request, 'x-service-task');
  return { ...(traceId !== null && { trace_id: traceId }), ...(taskId !== null && { task_id: taskId }) };
}

/** Formats a verdict that blocks because of an internal error, with the status of an internal error. */
function answerFaultVerdict(verdict: FaultVerdict, request: FastifyRequest, reply: FastifyReply): string {
  reply.code(500);
  const error = { error: verdict.reason, code: 'internal_error', request_id: request.id };
  return JSON.stringify({ ...error, ...verdict });
}
