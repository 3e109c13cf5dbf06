import { matchesAny } from '../../core/tags.ts';
import type { ChangeListener } from './change-subscription.ts';
import { type ConnectionParts, openConnection, type ServerConnection } from './connection.ts';
import { buildPrefixMapping, type NameMapping, SAME_NAMES } from './name-mapping.ts';
import type { PolicyGuard } from './policy-guard.ts';
import type { RequestStates } from './request-state.ts';
import { openToolCatalogue, type ToolCatalogue } from './tool-catalogue.ts';
import { computeConnectTimeout, type McpServerSettings, openProgramTransport } from './transports.ts';
import type { UpstreamClient } from './upstream-client.ts';

/** An upstream MCP server, for one caller. */
export interface UpstreamServer {
  /** The configured name. */
  readonly name: string;
  readonly naming: NameMapping;
  readonly guard: PolicyGuard;
  readonly states: RequestStates;
  readonly upstream: UpstreamClient;
  readonly catalogue: ToolCatalogue;
  /** The maximum duration of a call without progress, in milliseconds. */
  readonly call_ms: number;
  /** The timeout for one page of a list, in milliseconds. */
  readonly list_ms: number;
}

/** The dependencies of an upstream server. */
export interface UpstreamServerParts {
  readonly guard: PolicyGuard;
  readonly states: RequestStates;
  /** Called when the server reports a change. */
  readonly onChange: (target: UpstreamServer, change: Parameters<ChangeListener>[0]) => void;
}

/** A program that is started for this caller only. Its names are not prefixed. */
export interface WrappedProgram {
  readonly name: string;
  readonly command: readonly string[];
}

const WRAPPED_TIMEOUTS = { call_ms: 600_000, list_ms: 60_000 };
/** The maximum wait of a call for a server in backoff, in milliseconds. */
const WRAPPED_WAIT_MS = 2_000;

/** Opens the wrapped program. It inherits the environment without this service's variables. */
export function openWrappedServer(
  program: WrappedProgram,
  parts: UpstreamServerParts & ConnectionParts,
): UpstreamServer {
  const connect = (onChange: ChangeListener) => openWrappedConnection(program, parts, onChange);
  return openServer(program.name, SAME_NAMES, connect, WRAPPED_TIMEOUTS, () => true, parts);
}

/** Opens the connection to a program, which inherits the environment without this service's variables. */
export function openWrappedConnection(
  { command }: WrappedProgram,
  parts: ConnectionParts,
  onChange: ChangeListener,
): ServerConnection {
  const env = removeServiceVariables(parts.env);
  const { list_ms } = WRAPPED_TIMEOUTS;
  const options = { version: parts.version, connect_ms: list_ms, list_ms, wait_ms: WRAPPED_WAIT_MS };
  const openTransport = () => openProgramTransport(command, env, parts.stderr);
  return openConnection({ ...options, openTransport, onChange });
}

/** Opens a configured server. Its names get a prefix. */
export function openConfiguredServer(
  settings: McpServerSettings,
  connect: (reported: ChangeListener) => ServerConnection,
  parts: UpstreamServerParts,
): UpstreamServer {
  const { name, allow, deny, timeout_ms } = settings;
  const times = { call_ms: timeout_ms, list_ms: computeConnectTimeout(settings) };
  const offers = (tool: string) => matchesAny(allow, tool) && !matchesAny(deny, tool);
  return openServer(name, buildPrefixMapping(name), connect, times, offers, parts);
}

function openServer(
  name: string,
  naming: NameMapping,
  connect: (reported: ChangeListener) => ServerConnection,
  times: Pick<UpstreamServer, 'call_ms' | 'list_ms'>,
  offers: (tool: string) => boolean,
  { guard, states, onChange }: UpstreamServerParts,
): UpstreamServer {
  const { upstream, tools } = connect((change) => onChange(one, change));
  const catalogue = openToolCatalogue({ list: tools, guard, server: name, offers });
  const one: UpstreamServer = { name, naming, guard, states, upstream, catalogue, ...times };
  return one;
}

/** Returns the environment without `SERVICE_*`, because upstream servers must not see this service's credentials. */
function removeServiceVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('SERVICE_') ? [] : [[name, value] as const],
    ),
  );
}
