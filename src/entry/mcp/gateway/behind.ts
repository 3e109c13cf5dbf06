import { matchesAny } from '../../../core/tags.ts';
import { type Catalogue, openCatalogue } from './catalogue.ts';
import type { Guard } from './guard.ts';
import type { Told } from './hearing.ts';
import { type Naming, namesOf, sameNames } from './naming.ts';
import { configuredWay, connectMs, type McpServerSettings, programWay, type Stderr } from './transports.ts';
import { openUpstream, type Upstream } from './upstream.ts';

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
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stderr: Stderr;
  /** Told what a server says has changed. */
  readonly told: (behind: Behind, change: Parameters<Told>[0]) => void;
}

/** A program that is started for this caller alone: everything keeps its name. */
export interface Wrapped {
  readonly name: string;
  readonly command: readonly string[];
}

interface Times {
  readonly call_ms: number;
  readonly list_ms: number;
  /** How long it is waited for a server that is left alone for a moment. */
  readonly wait_ms: number;
}

const WRAPPED_MS: Times = { call_ms: 600_000, list_ms: 60_000, wait_ms: 2_000 };
/** Where there are others, nobody waits long for one. */
const CONFIGURED_WAIT_MS = 500;

/** The server that is wrapped. It gets the environment of the host without what is ours. */
export function wrappedBehind({ name, command }: Wrapped, parts: BehindParts): Behind {
  const env = ownEnvironment(parts.env);
  const way = () => programWay(command, env, parts.stderr);
  return behind(name, sameNames, way, WRAPPED_MS, () => true, parts);
}

/** A configured server, whose names are told from those of the others. */
export function configuredBehind(settings: McpServerSettings, parts: BehindParts): Behind {
  const { name, allow, deny, timeout_ms } = settings;
  const list_ms = connectMs(settings);
  const offers = (tool: string) => matchesAny(allow, tool) && !matchesAny(deny, tool);
  const way = () => configuredWay(settings, parts.env, parts.stderr);
  return behind(
    name,
    namesOf(name),
    way,
    { call_ms: timeout_ms, list_ms, wait_ms: CONFIGURED_WAIT_MS },
    offers,
    parts,
  );
}

function behind(
  name: string,
  naming: Naming,
  way: Parameters<typeof openUpstream>[0]['way'],
  { wait_ms, ...times }: Times,
  offers: (tool: string) => boolean,
  { guard, version, told }: BehindParts,
): Behind {
  const upstream = openUpstream({
    way,
    version,
    connect_ms: times.list_ms,
    wait_ms,
    told: (change) => told(one, change),
  });
  const catalogue = openCatalogue({ upstream, guard, server: name, list_ms: times.list_ms, offers });
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
