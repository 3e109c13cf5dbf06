import { matchesAny } from '../../core/tags.ts';
import { type Catalogue, openCatalogue } from './catalogue.ts';
import { type ConfiguredParts, openConnection, type ServerConnection } from './connection.ts';
import type { Guard } from './guard.ts';
import type { Told } from './hearing.ts';
import { type Naming, namesOf, sameNames } from './naming.ts';
import { connectMs, type McpServerSettings, programWay } from './transports.ts';
import type { Upstream } from './upstream.ts';

/** A server behind the gateway, for one caller. */
export interface Behind {
  /** By which name it is known here. */
  readonly name: string;
  readonly naming: Naming;
  readonly guard: Guard;
  readonly upstream: Upstream;
  readonly catalogue: Catalogue;
  /** How long a call may be silent. */
  readonly call_ms: number;
  /** For a page of a list. */
  readonly list_ms: number;
}

export interface BehindParts {
  readonly guard: Guard;
  /** Told what a server says has changed. */
  readonly told: (behind: Behind, change: Parameters<Told>[0]) => void;
}

/** A program that is started for this caller alone: everything keeps its name. */
export interface Wrapped {
  readonly name: string;
  readonly command: readonly string[];
}

const WRAPPED_MS = { call_ms: 600_000, list_ms: 60_000 };
/** How long a call waits for a server that is left alone for a moment. */
const WRAPPED_WAIT_MS = 2_000;

/** The server that is wrapped. It gets the environment of the host without what is ours. */
export function wrappedBehind({ name, command }: Wrapped, parts: BehindParts & ConfiguredParts): Behind {
  const env = ownEnvironment(parts.env);
  const { list_ms } = WRAPPED_MS;
  const options = { version: parts.version, connect_ms: list_ms, list_ms, wait_ms: WRAPPED_WAIT_MS };
  const way = () => programWay(command, env, parts.stderr);
  const connect = (told: Told) => openConnection({ ...options, way, told });
  return behind(name, sameNames, connect, WRAPPED_MS, () => true, parts);
}

/** A configured server, whose names are told from those of the others. */
export function configuredBehind(
  settings: McpServerSettings,
  connect: (told: Told) => ServerConnection,
  parts: BehindParts,
): Behind {
  const { name, allow, deny, timeout_ms } = settings;
  const times = { call_ms: timeout_ms, list_ms: connectMs(settings) };
  const offers = (tool: string) => matchesAny(allow, tool) && !matchesAny(deny, tool);
  return behind(name, namesOf(name), connect, times, offers, parts);
}

function behind(
  name: string,
  naming: Naming,
  connect: (told: Told) => ServerConnection,
  times: Pick<Behind, 'call_ms' | 'list_ms'>,
  offers: (tool: string) => boolean,
  { guard, told }: BehindParts,
): Behind {
  const { upstream, tools } = connect((change) => told(one, change));
  const catalogue = openCatalogue({ list: tools, guard, server: name, offers });
  const one: Behind = { name, naming, guard, upstream, catalogue, ...times };
  return one;
}

/** The environment of the host without what is ours: credentials of this service are no business of another's server. */
function ownEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('SERVICE_') ? [] : [[name, value] as const],
    ),
  );
}
