import type { Change, Told } from './hearing.ts';
import { openToolList, type ToolList } from './tool-list.ts';
import { configuredWay, connectMs, type McpServerSettings, type Stderr } from './transports.ts';
import { openUpstream, type Upstream, type UpstreamOptions } from './upstream.ts';

/** A server, and what is kept of it while it is connected to. */
export interface ServerConnection {
  readonly upstream: Upstream;
  readonly tools: ToolList;
}

/** Opens the way to a server whose list of tools is kept until it changes. */
export function openConnection(options: UpstreamOptions & { readonly list_ms: number }): ServerConnection {
  const upstream = openUpstream({
    ...options,
    told: (change) => {
      if ('list' in change && change.list === 'tools') tools.changed();
      options.told(change);
    },
  });
  const tools = openToolList(upstream, options.list_ms);
  return { upstream, tools };
}

/** If there are other servers, no caller waits long for one. */
const WAIT_MS = 500;

export interface ConfiguredParts {
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stderr: Stderr;
}

/** The same for a server of the configuration. */
export function configuredConnection(
  settings: McpServerSettings,
  { version, env, stderr }: ConfiguredParts,
  told: Told,
): ServerConnection {
  const list_ms = connectMs(settings);
  const way = () => configuredWay(settings, env, stderr);
  return openConnection({ way, version, connect_ms: list_ms, list_ms, wait_ms: WAIT_MS, told });
}

/** Connections that several sessions of one credential use together. */
export interface ConnectionPool {
  /**
   * Gives a connection of its own to a session, over the one that all sessions of this owner share; `close` on it
   * leaves that, which ends with the last of them.
   */
  readonly enter: (settings: McpServerSettings, owner: string, told: Told) => ServerConnection;
}

interface Shared extends ServerConnection {
  readonly members: Set<Member>;
}

interface Member {
  readonly told: Told;
  readonly watched: Set<string>;
  is_attending: boolean;
}

/** Keeps one connection, and so one process, for each server and owner. */
export function openConnectionPool(parts: ConfiguredParts): ConnectionPool {
  const all = new Map<string, Shared>();

  function open(settings: McpServerSettings): Shared {
    const members = new Set<Member>();
    const tell = (change: Change) => {
      for (const { told, watched } of members)
        if ('list' in change || watched.has(change.resource)) told(change);
    };
    return { members, ...configuredConnection(settings, parts, tell) };
  }

  return {
    enter: (settings, owner, told) => {
      const key = JSON.stringify([settings.name, owner]);
      const shared = all.get(key) ?? open(settings);
      all.set(key, shared);
      const member: Member = { told, watched: new Set(), is_attending: false };
      shared.members.add(member);
      const close = async () => {
        if (!shared.members.delete(member)) return;
        if (shared.members.size === 0) {
          all.delete(key);
          return shared.upstream.close();
        }
        attend(shared);
        await Promise.allSettled([...member.watched].map((uri) => unwatch(shared, uri)));
      };
      return {
        tools: shared.tools,
        upstream: { ...shared.upstream, ...memberUpstream(shared, member), close },
      };
    },
  };
}

function memberUpstream(shared: Shared, member: Member): Pick<Upstream, 'watch' | 'attend'> {
  return {
    watch: async (uri, is_wanted) => {
      if (is_wanted) {
        member.watched.add(uri);
        return shared.upstream.watch(uri, true);
      }
      member.watched.delete(uri);
      await unwatch(shared, uri);
    },
    attend: (is_wanted) => {
      member.is_attending = is_wanted;
      attend(shared);
    },
  };
}

function attend({ upstream, members }: Shared): void {
  upstream.attend([...members].some(({ is_attending }) => is_attending));
}

async function unwatch({ upstream, members }: Shared, uri: string): Promise<void> {
  const is_wanted = [...members].some(({ watched }) => watched.has(uri));
  if (!is_wanted) await upstream.watch(uri, false);
}
