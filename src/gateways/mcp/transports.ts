import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Config } from '../../runtime/config/index.ts';
import { writeSourcesOf } from './exact-numbers.ts';
import { readSourcesOf } from './exact-transports.ts';
import { openGuardedFetch } from './guarded-fetch.ts';

/** A way to a server that is not connected yet, and what is to be closed after it. */
export interface ServerTransport {
  readonly transport: Transport;
  /** Whether it always carries what a server of an earlier revision tells unasked. */
  readonly reports_changes: boolean;
  /** Tells the server that nobody comes back; before `transport` is closed. Never rejects. */
  readonly endSession: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What becomes of a program's standard error: a host shows it, the log of a service has no room for it. */
export type StderrMode = 'inherit' | 'ignore';

export type McpServerSettings = Config['mcp']['servers'][number];

/** Of a program whose configuration says nothing else. */
const ANSWER_BYTES_MAX = 10_485_760;

/** A server on standard input and output that this process starts. */
export function openProgramTransport(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  stderr: StderrMode,
  response_bytes_max = ANSWER_BYTES_MAX,
): ServerTransport {
  const [program, ...args] = command;
  const transport = new StdioClientTransport({
    command: program!,
    args,
    env: { ...env },
    stderr,
  });
  readSourcesOf(writeSourcesOf(transport), response_bytes_max);
  return { transport, reports_changes: true, endSession: async () => {}, close: async () => {} };
}

/** The way to a configured server, over HTTP or to a program. */
export function openConfiguredTransport(
  settings: McpServerSettings,
  env: NodeJS.ProcessEnv,
  stderr: StderrMode,
): ServerTransport {
  const { url, command, response_bytes_max } = settings;
  if (url === undefined)
    return openProgramTransport(command!, buildEnvironment(settings.env, env), stderr, response_bytes_max);
  const guarded = openGuardedFetch(url, {
    connect_ms: computeConnectTimeout(settings),
    response_bytes_max,
    exceeded: () => void transport.close().catch(() => {}),
  });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    fetch: guarded.fetch,
    redirectPolicy: 'follow',
    requestInit: { headers: buildHeaders(settings) },
    onInsufficientScope: 'throw',
    // Of the stream on which earlier revisions tell of changes; how soon, is not for the server alone to say.
    reconnectionScheduler: (reconnect, delay_ms) => {
      const timer = setTimeout(reconnect, Math.min(Math.max(delay_ms, RECONNECT_MS_MIN), RECONNECT_MS_MAX));
      return () => clearTimeout(timer);
    },
  });
  writeSourcesOf(transport);
  return {
    transport,
    reports_changes: false,
    endSession: () => transport.terminateSession().catch(() => {}),
    close: guarded.close,
  };
}

const RECONNECT_MS_MIN = 1_000;
const RECONNECT_MS_MAX = 30_000;
const CONNECT_MS_MAX = 10_000;

/** How long connecting may take, and each page of a list, in milliseconds. */
export function computeConnectTimeout({ timeout_ms }: Pick<McpServerSettings, 'timeout_ms'>): number {
  return Math.min(timeout_ms, CONNECT_MS_MAX);
}

function buildHeaders({ bearer_token, headers }: McpServerSettings): Record<string, string> {
  return { ...headers, ...(bearer_token !== undefined && { authorization: `Bearer ${bearer_token}` }) };
}

/** Of the environment, what programs need to run and what is named: the credentials of this service are not theirs. */
function buildEnvironment(names: readonly string[], env: NodeJS.ProcessEnv): Record<string, string> {
  const named = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { ...getDefaultEnvironment(), ...Object.fromEntries(named) };
}
