import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server';
import { matchesAny } from '../../core/tags.ts';
import { call } from '../../operations/call.ts';
import { Refusal } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import type { Caller } from '../../runtime/access/types.ts';
import { configuredBehind } from './behind.ts';
import { type ConnectionPool, openConnectionPool } from './connection.ts';
import { gatewayServer } from './gateway.ts';
import { openGuard } from './guard.ts';
import { instructionsOf } from './instructions.ts';
import type { GatewayParts } from './parts.ts';
import type { McpServerSettings } from './transports.ts';
import { type Notice, openTelling, openWatching, type Watching } from './watching.ts';

/** Whom a room is for: nobody else is answered over its connections. */
export interface Guest {
  readonly tenant_id: string;
  /** `null` where nobody says which agent calls. */
  readonly agent_id: string | null;
  readonly user_id: string | null;
  readonly session_id: string | null;
  readonly caller: Caller;
}

/** One caller's connections to servers. */
export interface Room {
  readonly handler: McpHttpHandler;
  readonly watching: Watching;
  /** What clients are told of the servers' use when they connect. */
  readonly instructions: () => Promise<string | undefined>;
}

export interface Rooms {
  /** Gives a room to use until `leave` is called. */
  readonly enter: (guest: Guest) => { readonly room: Room; readonly leave: () => void };
  readonly close: () => Promise<void>;
}

export interface RoomsParts {
  readonly runtime: Runtime;
  readonly servers: readonly McpServerSettings[];
  readonly sessions_max: number;
  readonly env: NodeJS.ProcessEnv;
  readonly failed: (server: string, what: string, error: unknown) => void;
}

interface Kept {
  readonly room: Room;
  used: number;
  empty_since_ms: number;
  readonly close: () => Promise<void>;
}

/** A room that nobody is in is kept so long, for the next call of the same caller. */
const IDLE_MS = 300_000;
const LOOK_MS = 30_000;

/** Keeps a room for each caller that asked lately, at most so many in this process. */
export function openRooms(parts: RoomsParts): Rooms {
  const kept = new Map<string, Kept>();
  const { version } = parts.runtime;
  const pool = openConnectionPool({ version, env: parts.env, stderr: 'ignore' });
  const closeOne = (key: string, one: Kept): Promise<void> => {
    kept.delete(key);
    return one.close().catch((error: unknown) => parts.failed('', 'a session could not be closed', error));
  };
  const timer = setInterval(() => {
    const before_ms = performance.now() - IDLE_MS;
    for (const [key, one] of kept)
      if (one.used === 0 && one.empty_since_ms < before_ms) void closeOne(key, one);
  }, LOOK_MS).unref();

  function makeRoom(): void {
    if (kept.size < parts.sessions_max) return;
    const free = [...kept].filter(([, { used }]) => used === 0);
    const [longest] = free.sort(([, one], [, other]) => one.empty_since_ms - other.empty_since_ms);
    if (longest === undefined)
      throw new Refusal(
        'unavailable',
        'Too many callers use the gateway (`mcp.sessions_max`): try again later.',
      );
    void closeOne(...longest);
  }

  return {
    enter: (guest) => {
      const key = keyOf(guest);
      let one = kept.get(key);
      if (one === undefined) {
        makeRoom();
        one = openRoom(guest, parts, pool);
        kept.set(key, one);
      }
      const entered = one;
      entered.used += 1;
      let is_in = true;
      const leave = () => {
        if (!is_in) return;
        is_in = false;
        entered.used -= 1;
        entered.empty_since_ms = performance.now();
      };
      return { room: entered.room, leave };
    },
    close: async () => {
      clearInterval(timer);
      await Promise.all([...kept].map(([key, one]) => closeOne(key, one)));
    },
  };
}

/** Two credentials of one subject may have other rights, so that all of the caller tells rooms apart. */
function keyOf({ tenant_id, agent_id, user_id, session_id, caller }: Guest): string {
  return JSON.stringify([tenant_id, agent_id, user_id, session_id, caller]);
}

/** Sessions of one credential share connections to servers, and so the programs that run for it. */
function ownerOf({ tenant_id, caller }: Guest): string {
  return JSON.stringify([tenant_id, caller]);
}

const SUBSCRIPTIONS_MAX = 8;

function openRoom(guest: Guest, { runtime, servers, failed }: RoomsParts, pool: ConnectionPool): Kept {
  const { version } = runtime;
  const { tenant_id, agent_id, session_id, caller } = guest;
  const guard = openGuard(
    (operation, input) => call(operation, input, { runtime, caller, tenant_id, request_id: 'mcp-gateway' }),
    // All users come with the configured credential: they are shown one list, and it has one set of pins.
    { agent_id, session_id, user_id: '' },
  );
  const telling = openTelling((notice) => publish(handler, notice), failed);
  const behinds = servers
    .filter(
      ({ agents, tenants }) => matchesAny(agents, agent_id ?? 'unknown') && matchesAny(tenants, tenant_id),
    )
    .map((settings) =>
      configuredBehind(settings, (told) => pool.enter(settings, ownerOf(guest), told), {
        guard,
        told: telling.told,
      }),
    );
  const watching = openWatching(behinds);
  const title = 'service gateway';
  const arrived: GatewayParts['arrived'] = (one, list) => telling.told(one, { list });
  // Of earlier revisions each request stands for itself here: there is nobody who could be told of a change.
  const handler = createMcpHandler(
    ({ era, authInfo }) =>
      gatewayServer({
        behinds,
        watching: era === 'modern' ? watching : null,
        version,
        title,
        instructions: authInfo?.extra?.instructions as string | undefined,
        arrived,
        failed,
      }),
    { maxSubscriptions: SUBSCRIPTIONS_MAX },
  );
  const kept: Kept = {
    room: { handler, watching, instructions: () => instructionsOf({ behinds, failed, arrived }) },
    used: 0,
    empty_since_ms: performance.now(),
    close: async () => {
      telling.close();
      await handler.close();
      await Promise.all(behinds.map(({ upstream }) => upstream.close()));
    },
  };
  return kept;
}

function publish({ notify }: McpHttpHandler, { method, params }: Notice): void {
  if (method === 'notifications/tools/list_changed') notify.toolsChanged();
  else if (method === 'notifications/resources/list_changed') notify.resourcesChanged();
  else if (method === 'notifications/prompts/list_changed') notify.promptsChanged();
  else if (params !== undefined) notify.resourceUpdated(params.uri);
}
