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
import { type ConcurrencyLimit, limitConcurrency } from '../web/concurrency.ts';
import { limitConnections } from '../web/connections.ts';
import {
  answerClientError,
  answerError,
  answerExpectation,
  answerMethod,
  type ErrorLog,
  notFound,
  setSecurityHeaders,
} from '../web/errors.ts';
import { addRoute } from '../web/routes.ts';
import { addEventRoutes } from './events/index.ts';
import { eventRoutes } from './events/routes.ts';
import { mayUpgrade } from './events/upgrade.ts';
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
  /** Calls of models. */
  readonly llm: () => Promise<LlmProxy>;
  readonly authenticate: Authenticator;
  /** Calls a listener when credentials were added or revoked. */
  readonly onAccessChange?: ApiKeys['onChange'];
  readonly log: ErrorLog;
  readonly patience?: HttpTimeouts;
  /** Bytes of bodies that are held at a time. */
  readonly bodies_bytes_max?: number;
  /** Requests that each kind of route answers at a time. */
  readonly requests_max?: number;
  /** Connections of this worker; without it, as many as the process may have. */
  readonly connections_max?: number;
  /** How often readers of the event stream are asked whether they are there. */
  readonly heartbeat_ms?: number;
}

/**
 * Operations check their own input: no route has a schema of the framework's. Without this it would load a
 * validator and a serializer at every start, a hundred files that nothing uses.
 */
const unused = () => () => {
  throw new Error('a route has a schema');
};
const NO_SCHEMAS = { compilersFactory: { buildValidator: unused, buildSerializer: unused } };

/** How long a client may take. */
export interface HttpTimeouts {
  /** For the headers of a request. */
  readonly headers_ms: number;
  /** For a whole request. */
  readonly request_ms: number;
  /** Until the next request on a connection. */
  readonly idle_ms: number;
  /** Without a byte in either direction: who takes no answer holds its memory. */
  readonly silent_ms: number;
  /** How often it is looked who is too slow. */
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
 * Builds the HTTP server: one route per operation, the docs pages, and an answer in one shape for everything
 * else. It is not listening yet; `drain` stops it.
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
      shouldUpgradeCallback: mayUpgrade,
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
    .map((operation) => publish(operation, config))
    .filter((operation) => operation !== null);
  await addGate(app, [...served, ...llmRoutes, ...eventRoutes, ...MCP_ROUTES], config.server.cors_origins);
  app.setErrorHandler((error, request, reply) => answerError(error, request, reply, null, log));
  app.setNotFoundHandler(({ url }) => {
    throw notFound(url);
  });
  const room = limitBodyMemory(config.server.body_bytes_max, ports.bodies_bytes_max);
  const { llm } = ports;
  const limit = (): ConcurrencyLimit => limitConcurrency(ports.requests_max);
  const checks = { runtime, authenticate, log, room, limit: limit() };
  for (const operation of served) addRoute(app, operation, { ...checks, llm });
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

/** An operation as this configuration offers it; `null` where it does not. */
function publish(operation: AnyOperation, { metrics }: HttpConfig): AnyOperation | null {
  if (operation.name !== 'metrics') return operation;
  if (!metrics.enabled) return null;
  if (
    pagePaths.includes(metrics.endpoint) ||
    operations.some((one) => one !== operation && isAt(one, metrics.endpoint))
  ) {
    throw new Error(
      `\`metrics.endpoint\` is the path of something else: choose another than ${metrics.endpoint}.`,
    );
  }
  const http = { ...operation.http, path: metrics.endpoint };
  return { ...operation, http, permission: metrics.public ? null : operation.permission };
}

function isAt({ http }: AnyOperation, path: string): boolean {
  return http.method === 'GET' && http.path === path;
}

/** What holds for every request, whether its route exists or not. */
async function addGate(
  app: FastifyInstance,
  served: readonly Pick<AnyOperation, 'http'>[],
  cors_origins: readonly string[],
): Promise<void> {
  if (cors_origins.length > 0) {
    const { default: cors } = await import('@fastify/cors');
    await app.register(cors, {
      origin: cors_origins.includes('*') ? '*' : [...cors_origins],
      methods: ['GET', 'HEAD', 'POST'],
      exposedHeaders: ['x-request-id', 'x-service-decision', 'x-service-event-id'],
      maxAge: 600,
    });
  }
  const allowedAt = methodsByPath(served);
  app.addHook('onRequest', (request, reply, done) => {
    if (!app.server.listening) reply.header('connection', 'close');
    if (hasTwoOfOne(request.raw.rawHeaders)) return done(twoOfOne());
    if (!isForHost(request.raw))
      return done(new Refusal('invalid_request', 'The address and `Host` differ.'));
    if (request.method !== 'POST') setSecurityHeaders(reply);
    if (request.headers['x-request-id'] !== undefined) reply.header('x-request-id', request.id);
    if (!request.is404) return done();
    const allowed = allowedAt(request.url);
    if (allowed === null) {
      if (answerUnknownRoute(request, reply) === null) done(notFound(request.url));
      return;
    }
    if (request.method === 'OPTIONS') reply.code(204).header('allow', allowed).send();
    else answerMethod(request, reply, allowed);
  });
}

/** Whether a whole address in place of a path, as proxies are asked, names the host that `Host` names. */
function isForHost({ url = '', headers }: IncomingMessage): boolean {
  if (url.startsWith('/')) return true;
  const authority = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1];
  return authority === undefined || authority.toLowerCase() === headers.host?.toLowerCase();
}

/** Node takes the first of several; a proxy before us may have looked at the last. */
const ONCE = new Set(['host', 'authorization', 'content-type']);

/** Whether a header that says who asks, or what, came more than once. Names and values alternate. */
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

function twoOfOne(): Refusal {
  return new Refusal(
    'invalid_request',
    'Send each of `Host`, `Authorization` and `Content-Type` once at most.',
  );
}

/** Which methods a path takes, `GET, HEAD, OPTIONS`; `null` where no operation has it. */
function methodsByPath(served: readonly Pick<AnyOperation, 'http'>[]): (url: string) => string | null {
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

/** Takes a caller's own id where it is fit for a log line, else makes one. */
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
