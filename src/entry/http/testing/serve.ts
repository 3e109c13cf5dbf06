import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { createTestRuntime, type TestOptions } from '../../../operations/testing/runtime.ts';
import { buildBrowserCheck } from '../../../runtime/access/browser.ts';
import { type AuthenticatorSettings, openAuthenticator } from '../../../runtime/access/index.ts';
import type { AuthSettings } from '../../../runtime/access/settings.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import { drainConnections } from '../drain.ts';
import { buildHttp, type HttpConfig, type HttpPorts, type HttpTimeouts } from '../server.ts';

export interface ServeOptions extends TestOptions {
  readonly state_dir: string;
  readonly auth?: Partial<AuthSettings>;
  readonly host?: string;
  readonly cors_origins?: readonly string[];
  readonly proxy_identity?: boolean;
  readonly public_url?: string;
  readonly metrics?: Partial<HttpConfig['metrics']>;
  readonly patience?: HttpTimeouts;
  readonly bodies_bytes_max?: number;
  readonly connections_max?: number;
  readonly requests_max?: number;
  readonly grace_ms?: number;
  readonly llm?: HttpPorts['llm'];
  readonly heartbeat_ms?: number;
}

export interface TestServer {
  readonly port: number;
  readonly events: AuditEvent[];
  /** The `endpoint` labels of all checks so far. */
  readonly endpoints: ReadonlySet<string>;
  /** Everything that was logged, as JSON. */
  readonly logged: string[];
  readonly ask: (requested: TestRequest) => Promise<Answer>;
  /** Returns the number of open connections. */
  readonly connections: () => Promise<number>;
  readonly close: () => Promise<void>;
}

export interface TestRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Strings and bytes are sent unchanged, any other value as JSON with its content type. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The parsed body, or `null` if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  readonly json: any;
}

/** Runs the HTTP server on a free port, with a runtime in memory. */
export async function serve(options: ServeOptions): Promise<TestServer> {
  const { runtime, events, endpoints } = createTestRuntime(options);
  const corsOrigins = options.cors_origins ?? [];
  const checkBrowser = buildBrowserCheck({
    ...{
      public_url: options.public_url ?? null,
      host: options.host ?? '127.0.0.1',
      cors_origins: corsOrigins,
    },
    trusted_proxies: options.auth?.trusted_proxies ?? [],
  });
  const access: AuthenticatorSettings = {
    auth: { required: false, trusted_proxies: [], api_keys: [], jwt: null, ...options.auth },
    host: options.host ?? '127.0.0.1',
    cors_origins: corsOrigins,
    proxy_identity: options.proxy_identity ?? false,
    state_dir: options.state_dir,
    now_ms: runtime.now_ms,
    sessions: { check: checkBrowser, find: runtime.identifyUser },
  };
  const logged: string[] = [];
  const app = await buildHttp({
    runtime,
    config: {
      server: { body_bytes_max: runtime.limits.body_bytes_max, cors_origins: corsOrigins },
      metrics: { enabled: true, endpoint: '/v1/metrics', public: false, ...options.metrics },
      mcp: { servers: [], sessions_max: 1 },
    },
    llm: options.llm ?? (() => Promise.reject(new Error('This test calls no models.'))),
    authenticate: openAuthenticator(access),
    checkBrowser,
    ...(options.patience && { patience: options.patience }),
    ...(options.heartbeat_ms && { heartbeat_ms: options.heartbeat_ms }),
    ...(options.connections_max && { connections_max: options.connections_max }),
    ...(options.requests_max !== undefined && { requests_max: options.requests_max }),
    ...(options.bodies_bytes_max && { bodies_bytes_max: options.bodies_bytes_max }),
    log: { error: (message, fields) => void logged.push(JSON.stringify({ message, ...fields })) },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const connections = promisify(app.server.getConnections.bind(app.server));
  return {
    port,
    events,
    endpoints,
    logged,
    ask: (requested) => ask(port, requested),
    connections,
    close: () => drainConnections(app, options.grace_ms),
  };
}

/** Sends one request on a connection of its own. Headers are sent unchanged, including `Host`. */
function ask(port: number, { method, path, headers = {}, body }: TestRequest): Promise<Answer> {
  const plain = typeof body === 'string' || Buffer.isBuffer(body) || body === undefined;
  const bytes = plain ? (body as string | Buffer | undefined) : JSON.stringify(body);
  return new Promise((done, fail) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        agent: false,
        headers: {
          ...(!plain && { 'content-type': 'application/json' }),
          ...(bytes !== undefined &&
            !('transfer-encoding' in headers) && { 'content-length': String(Buffer.byteLength(bytes)) }),
          ...headers,
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', fail);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          done({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: tryParseJson(text),
          });
        });
      },
    );
    sent.on('error', fail);
    sent.end(bytes);
  });
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
