import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { Config } from '../../runtime/config/index.ts';
import { getWriteSources } from './exact-numbers.ts';
import { getReadSources } from './exact-transports.ts';
import { openGuardedFetch } from './guarded-fetch.ts';

/** A transport that is not connected yet, and its resources to close. */
export interface ServerTransport {
  readonly transport: Transport;
  /** True if the transport always delivers unsolicited notifications of earlier protocol revisions. */
  readonly reports_changes: boolean;
  /** Ends the session at the server. Call it before `transport` is closed. Never rejects. */
  readonly endSession: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The handling of a program's standard error: a coding agent shows it; a service ignores it. */
export type StderrMode = 'inherit' | 'ignore';

/** The settings of one configured server: an entry of `mcp.servers`. */
export type McpServerSettings = Config['mcp']['servers'][number];

/** The default message limit of a program, in bytes. */
const ANSWER_BYTES_MAX = 10_485_760;

/** Opens a stdio server that this process starts. */
export function openProgramTransport(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  stderr: StderrMode,
  responseBytesMax = ANSWER_BYTES_MAX,
): ServerTransport {
  const [program, ...args] = command;
  const transport = new StdioClientTransport({
    command: program!,
    args,
    env: { ...env },
    stderr,
  });
  getReadSources(getWriteSources(transport), { bytes_max: responseBytesMax });
  return { transport, reports_changes: true, endSession: async () => {}, close: async () => {} };
}

/** Opens the transport of a configured server, over HTTP or to a program. */
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
    // Applies to the notification stream of earlier revisions. The server's reconnect delay is clamped.
    reconnectionScheduler: (reconnect, delayMs) => {
      const timer = setTimeout(reconnect, Math.min(Math.max(delayMs, RECONNECT_MS_MIN), RECONNECT_MS_MAX));
      return () => clearTimeout(timer);
    },
  });
  getWriteSources(transport);
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

/** Returns the timeout for connecting and for each page of a list, in milliseconds. */
export function computeConnectTimeout({ timeout_ms }: Pick<McpServerSettings, 'timeout_ms'>): number {
  return Math.min(timeout_ms, CONNECT_MS_MAX);
}

function buildHeaders({ bearer_token, headers }: McpServerSettings): Record<string, string> {
  return { ...headers, ...(bearer_token !== undefined && { authorization: `Bearer ${bearer_token}` }) };
}

/**
 * Builds a program's environment: the default variables and the named ones, so that it gets no credentials of this
 * service.
 */
function buildEnvironment(names: readonly string[], env: NodeJS.ProcessEnv): Record<string, string> {
  const named = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  return { ...getDefaultEnvironment(), ...Object.fromEntries(named) };
}
