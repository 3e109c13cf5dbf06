import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Fastify, { type FastifyInstance } from 'fastify';
import type { LlmProxy } from '../../gateways/llm/llm-call.ts';
import { type AnyOperation, Refusal } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { ApiKeys } from '../../runtime/access/api-keys.ts';
import type { Authenticator } from '../../runtime/access/index.ts';
import type { Config } from '../../runtime/config/index.ts';
import { operations } from '../../server/operations.ts';
import { addLlmRoutes } from '../llm/index.ts';
import { llmRoutes } from '../llm/routes.ts';
import { answerUnknownRoute } from '../llm/unknown-routes.ts';
import { addMcpRoutes, MCP_ROUTES } from '../mcp/route.ts';
import { addBodyParsers } from '../web/body.ts';
import { limitBodyMemory } from '../web/body-memory.ts';
import type { CheckBrowser } from '../web/browser-context.ts';
import { type ConcurrencyLimit, limitConcurrency } from '../web/concurrency.ts';
import { limitConnections } from '../web/connections.ts';
import {
  answerClientError,
  answerError,
  answerExpectation,
  answerMethod,
  buildUnknownRouteRefusal,
  type ErrorLog,
  setSecurityHeaders,
} from '../web/errors.ts';
import { addRoute } from '../web/routes.ts';
import { addEventRoutes } from './events/index.ts';
import { eventRoutes } from './events/routes.ts';
import { isEventStreamUpgrade } from './events/upgrade.ts';
import { addPages, pagePaths } from './pages.ts';

/** The parts of the configuration that the transport itself needs. */
export interface HttpConfig {
  readonly server: { readonly body_bytes_max: number; readonly cors_origins: readonly string[] };
  readonly metrics: { readonly enabled: boolean; readonly endpoint: string; readonly public: boolean };
  readonly mcp: Config['mcp'];
}

export interface HttpPorts {
  readonly runtime: Runtime;
  readonly config: HttpConfig;
  /** Opens the LLM proxy. */
  readonly llm: () => Promise<LlmProxy>;
  readonly authenticate: Authenticator;
  /** Checks requests of browsers that sign in. */
  readonly checkBrowser: CheckBrowser;
  /** Calls a listener when credentials were added or revoked. */
  readonly onAccessChange?: ApiKeys['onChange'];
  readonly log: ErrorLog;
  readonly patience?: HttpTimeouts;
  /** Maximum bytes of bodies that are held at a time. */
  readonly bodies_bytes_max?: number;
  /** Maximum number of requests that each kind of route answers at a time. */
  readonly requests_max?: number;
  /** Maximum connections of this worker. Defaults to the maximum that the limit of open files allows. */
  readonly connections_max?: number;
  /** Interval in milliseconds of the heartbeats for readers of the event stream. */
  readonly heartbeat_ms?: number;
}

/**
 * Replaces the framework's validator and serializer. Operations check their own input and no route has a schema of the
 * framework, so loading them would cost a hundred unused files at every start.
 */
const unused = () => () => {
  throw new Error('a route has a schema');
};
const NO_SCHEMAS = { compilersFactory: { buildValidator: unused, buildSerializer: unused } };

/** Time limits for clients, in milliseconds. */
export interface HttpTimeouts {
  /** For the headers of a request. */
  readonly headers_ms: number;
  /** For a whole request. */
  readonly request_ms: number;
  /** Until the next request on a connection. */
  readonly idle_ms: number;
  /** Without a byte in either direction, because a client that reads no answer keeps its memory allocated. */
  readonly silent_ms: number;
  /** Interval of the checks for slow clients. */
  readonly look_ms: number;
}

const PATIENCE: HttpTimeouts = {
  headers_ms: 10_000,
  request_ms: 60_000,
  idle_ms: 65_000,
  silent_ms: 120_000,
  look_ms: 2_000,
};
const HEADERS_BYTES_MAX = 16_384;
const HEARTBEAT_MS = 30_000;

/**
 * Builds the HTTP server: one route per operation, the docs pages, and errors in one format for all other paths. It
 * does not listen yet; `drainConnections` stops it.
 */
export async function buildHttp(ports: HttpPorts): Promise<FastifyInstance> {
  const { runtime, config, authenticate, log, patience = PATIENCE } = ports;
  const app = Fastify({
    logger: false,
    bodyLimit: config.server.body_bytes_max,
    requestTimeout: patience.request_ms,
    keepAliveTimeout: patience.idle_ms,
    connectionTimeout: patience.silent_ms,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    genReqId: requestIds(),
    schemaController: NO_SCHEMAS,
    http: {
      headersTimeout: patience.headers_ms,
      connectionsCheckingInterval: patience.look_ms,
      maxHeaderSize: HEADERS_BYTES_MAX,
      shouldUpgradeCallback: isEventStreamUpgrade,
    },
    clientErrorHandler: answerClientError,
    frameworkErrors: (error, request, reply) => {
      void answerError(error, request, reply, null, log);
    },
  });
  limitConnections(app.server, ports.connections_max);
  app.server.on('checkExpectation', answerExpectation);
  app.decorateRequest('caller', null);
  addBodyParsers(app, () => runtime.policy().limits.nodes_max);
  const served = operations
    .map((operation) => publishOperation(operation, config))
    .filter((operation) => operation !== null);
  await addGate(app, [...served, ...llmRoutes, ...eventRoutes, ...MCP_ROUTES], config.server.cors_origins);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, null, log));
  app.setNotFoundHandler(({ url }) => {
    throw buildUnknownRouteRefusal(url);
  });
  const limitBody = limitBodyMemory(config.server.body_bytes_max, ports.bodies_bytes_max);
  const { llm, checkBrowser } = ports;
  const limit = (): ConcurrencyLimit => limitConcurrency(ports.requests_max);
  const checks = { runtime, authenticate, log, limitBody, limit: limit() };
  for (const operation of served) addRoute(app, operation, { ...checks, llm, checkBrowser });
  const { silent_ms } = patience;
  addLlmRoutes(app, { ...checks, llm, limit: limit(), silent_ms });
  const { cors_origins } = config.server;
  addMcpRoutes(app, { ...checks, limit: limit(), cors_origins, mcp: config.mcp });
  const { heartbeat_ms = HEARTBEAT_MS } = ports;
  const { onAccessChange } = ports;
  addEventRoutes(app, { runtime, authenticate, onAccessChange, cors_origins, heartbeat_ms, log });
  addPages(app, served, runtime);
  return app;
}

/** Returns an operation as this configuration offers it; `null` if it does not. */
function publishOperation(operation: AnyOperation, { metrics }: HttpConfig): AnyOperation | null {
  if (operation.name !== 'metrics') return operation;
  if (!metrics.enabled) return null;
  if (
    pagePaths.includes(metrics.endpoint) ||
    operations.some((one) => one !== operation && isServedAt(one, metrics.endpoint))
  ) {
    throw new Error(
      `\`metrics.endpoint\` is the path of something else: choose another than ${metrics.endpoint}.`,
    );
  }
  const http = { ...operation.http, path: metrics.endpoint };
  return { ...operation, http, permission: metrics.public ? null : operation.permission };
}

function isServedAt({ http }: AnyOperation, path: string): boolean {
  return http.method === 'GET' && http.path === path;
}

/** Adds the checks that apply to every request, with or without a route. */
async function addGate(
  app: FastifyInstance,
  served: readonly Pick<AnyOperation, 'http'>[],
  corsOrigins: readonly string[],
): Promise<void> {
  if (corsOrigins.length > 0) {
    const { default: cors } = await import('@fastify/cors');
    await app.register(cors, {
      origin: corsOrigins.includes('*') ? '*' : [...corsOrigins],
      methods: ['GET', 'HEAD', 'POST', 'PUT'],
      exposedHeaders: ['x-request-id', 'x-service-decision', 'x-service-event-id'],
      maxAge: 600,
    });
  }
  const allowedAt = createMethodLookup(served);
  app.addHook('onRequest', (request, reply, done) => {
    if (!app.server.listening) reply.header('connection', 'close');
    if (hasTwoOfOne(request.raw.rawHeaders)) return done(buildDuplicateHeaderRefusal());
    if (!isForHost(request.raw))
      return done(new Refusal('invalid_request', 'The address and `Host` differ.'));
    if (request.method !== 'POST') setSecurityHeaders(reply);
    if (request.headers['x-request-id'] !== undefined) reply.header('x-request-id', request.id);
    if (!request.is404) return done();
    const allowed = allowedAt(request.url);
    if (allowed === null) {
      if (answerUnknownRoute(request, reply) === null) done(buildUnknownRouteRefusal(request.url));
      return;
    }
    if (request.method === 'OPTIONS') reply.code(204).header('allow', allowed).send();
    else answerMethod(request, reply, allowed);
  });
}

/** Returns whether an absolute URL in place of a path, as proxies get it, names the same host as `Host`. */
function isForHost({ url = '', headers }: IncomingMessage): boolean {
  if (url.startsWith('/')) return true;
  const authority = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  return authority === undefined || authority.toLowerCase() === headers.host?.toLowerCase();
}

/** Headers that must not be repeated. Node takes the first of several; a proxy in front may have checked the last. */
const ONCE = new Set(['host', 'authorization', 'content-type']);

/** Returns whether one of these headers is repeated. Names and values alternate. */
function hasTwoOfOne(headers: readonly string[]): boolean {
  const seen: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!.toLowerCase();
    if (!ONCE.has(name)) continue;
    if (seen.includes(name)) return true;
    seen.push(name);
  }
  return false;
}

function buildDuplicateHeaderRefusal(): Refusal {
  return new Refusal(
    'invalid_request',
    'Send each of `Host`, `Authorization` and `Content-Type` once at most.',
  );
}

/** Returns a function that lists the methods of a path: `GET, HEAD, OPTIONS`; `null` if no operation has the path. */
function createMethodLookup(served: readonly Pick<AnyOperation, 'http'>[]): (url: string) => string | null {
  const patterns = served.map(({ http }) => ({
    method: http.method,
    path: new RegExp(`^${http.path.replace(/[.]/g, '\\.').replace(/\{\w+\}/g, '[^/]+')}$`),
  }));
  return (url) => {
    const path = url.split('?', 1)[0] ?? '';
    const methods = patterns.filter((pattern) => pattern.path.test(path)).map((pattern) => pattern.method);
    if (methods.length === 0) return null;
    return [
      ...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))),
      'OPTIONS',
    ].join(', ');
  };
}

/** Returns a generator of request IDs. It accepts a caller's own ID if that is safe for a log line. */
function requestIds(): (request: IncomingMessage) => string {
  const prefix = `req_${randomBytes(6).toString('hex')}`;
  let count = 0;
  return ({ headers }) => {
    const given = headers['x-request-id'];
    if (typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given)) return given;
    count++;
    return `${prefix}_${count.toString(36)}`;
  };
}
