import { matchesAny } from '../../core/tags.ts';
import type { ChangeListener } from './change-subscription.ts';
import { type ConnectionParts, openConnection, type ServerConnection } from './connection.ts';
import { buildPrefixMapping, type NameMapping, SAME_NAMES } from './name-mapping.ts';
import type { PolicyGuard } from './policy-guard.ts';
import { openToolCatalogue, type ToolCatalogue } from './tool-catalogue.ts';
import { computeConnectTimeout, type McpServerSettings, openProgramTransport } from './transports.ts';
import type { UpstreamClient } from './upstream-client.ts';

/** A server behind the gateway, for one caller. */
export interface UpstreamServer {
  /** By which name it is known here. */
  readonly name: string;
  readonly naming: NameMapping;
  readonly guard: PolicyGuard;
  readonly upstream: UpstreamClient;
  readonly catalogue: ToolCatalogue;
  /** How long a call may be silent. */
  readonly call_ms: number;
  /** For a page of a list. */
  readonly list_ms: number;
}

export interface UpstreamServerParts {
  readonly guard: PolicyGuard;
  /** Told what a server says has changed. */
  readonly onChange: (behind: UpstreamServer, change: Parameters<ChangeListener>[0]) => void;
}

/** A program that is started for this caller alone: everything keeps its name. */
export interface WrappedProgram {
  readonly name: string;
  readonly command: readonly string[];
}

const WRAPPED_TIMEOUTS = { call_ms: 600_000, list_ms: 60_000 };
/** How long a call waits for a server that is left alone for a moment. */
const WRAPPED_WAIT_MS = 2_000;

/** The server that is wrapped. It gets the environment of the host without what is ours. */
export function openWrappedServer(
  { name, command }: WrappedProgram,
  parts: UpstreamServerParts & ConnectionParts,
): UpstreamServer {
  const env = removeServiceVariables(parts.env);
  const { list_ms } = WRAPPED_TIMEOUTS;
  const options = { version: parts.version, connect_ms: list_ms, list_ms, wait_ms: WRAPPED_WAIT_MS };
  const openTransport = () => openProgramTransport(command, env, parts.stderr);
  const connect = (onChange: ChangeListener) => openConnection({ ...options, openTransport, onChange });
  return openServer(name, SAME_NAMES, connect, WRAPPED_TIMEOUTS, () => true, parts);
}

/** A configured server, whose names are told from those of the others. */
export function openConfiguredServer(
  settings: McpServerSettings,
  connect: (told: ChangeListener) => ServerConnection,
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
  connect: (told: ChangeListener) => ServerConnection,
  times: Pick<UpstreamServer, 'call_ms' | 'list_ms'>,
  offers: (tool: string) => boolean,
  { guard, onChange }: UpstreamServerParts,
): UpstreamServer {
  const { upstream, tools } = connect((change) => onChange(one, change));
  const catalogue = openToolCatalogue({ list: tools, guard, server: name, offers });
  const one: UpstreamServer = { name, naming, guard, upstream, catalogue, ...times };
  return one;
}

/** The environment of the host without what is ours: credentials of this service are no business of another's server. */
function removeServiceVariables(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('SERVICE_') ? [] : [[name, value] as const],
    ),
  );
}
