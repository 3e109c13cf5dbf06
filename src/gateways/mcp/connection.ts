import type { ChangeListener, ServerChange } from './change-subscription.ts';
import { openToolList, type ToolList } from './tool-list.ts';
import {
  computeConnectTimeout,
  type McpServerSettings,
  openConfiguredTransport,
  type StderrMode,
} from './transports.ts';
import { openUpstreamClient, type UpstreamClient, type UpstreamClientOptions } from './upstream-client.ts';

/** The client and the cached tool list of one server. */
export interface ServerConnection {
  readonly upstream: UpstreamClient;
  readonly tools: ToolList;
}

/** Opens a client whose tool list is cached until it changes. */
export function openConnection(
  options: UpstreamClientOptions & { readonly list_ms: number },
): ServerConnection {
  const upstream = openUpstreamClient({
    ...options,
    onChange: (change) => {
      if ('list' in change && change.list === 'tools') tools.invalidate();
      options.onChange(change);
    },
  });
  const tools = openToolList(upstream, options.list_ms);
  return { upstream, tools };
}

/** The maximum wait for a server in backoff, in milliseconds. It is short because other servers can answer. */
const WAIT_MS = 500;

/** The dependencies of connections to upstream servers. `env` is the environment that programs are started from. */
export interface ConnectionParts {
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly stderr: StderrMode;
}

/** Opens the connection of a configured server. */
export function openConfiguredConnection(
  settings: McpServerSettings,
  { version, env, stderr }: ConnectionParts,
  onChange: ChangeListener,
): ServerConnection {
  const listMs = computeConnectTimeout(settings);
  const openTransport = () => openConfiguredTransport(settings, env, stderr);
  return openConnection({
    openTransport,
    version,
    connect_ms: listMs,
    list_ms: listMs,
    wait_ms: WAIT_MS,
    onChange,
  });
}

/** The connections that several sessions of one credential share. */
export interface ConnectionPool {
  /**
   * Returns a session's view of the connection that all sessions of this owner share. Its `close` leaves the shared
   * connection, which closes with its last member.
   */
  readonly join: (settings: McpServerSettings, owner: string, reported: ChangeListener) => ServerConnection;
}

interface SharedConnection extends ServerConnection {
  readonly members: Set<ConnectionMember>;
}

interface ConnectionMember {
  readonly onChange: ChangeListener;
  readonly watched: Set<string>;
  is_attending: boolean;
}

/** Opens a pool with one connection, and so at most one process, for each server and owner. */
export function openConnectionPool(parts: ConnectionParts): ConnectionPool {
  const all = new Map<string, SharedConnection>();

  function open(settings: McpServerSettings): SharedConnection {
    const members = new Set<ConnectionMember>();
    const notify = (change: ServerChange) => {
      for (const { onChange, watched } of members)
        if ('list' in change || watched.has(change.resource)) onChange(change);
    };
    return { members, ...openConfiguredConnection(settings, parts, notify) };
  }

  return {
    join: (settings, owner, onChange) => {
      const key = JSON.stringify([settings.name, owner]);
      const shared = all.get(key) ?? open(settings);
      all.set(key, shared);
      const member: ConnectionMember = { onChange, watched: new Set(), is_attending: false };
      shared.members.add(member);
      const close = async () => {
        if (!shared.members.delete(member)) return;
        if (shared.members.size === 0) {
          all.delete(key);
          return shared.upstream.close();
        }
        updateAttention(shared);
        await Promise.allSettled([...member.watched].map((uri) => unwatchIfUnused(shared, uri)));
      };
      return {
        tools: shared.tools,
        upstream: { ...shared.upstream, ...createMemberUpstream(shared, member), close },
      };
    },
  };
}

function createMemberUpstream(
  shared: SharedConnection,
  member: ConnectionMember,
): Pick<UpstreamClient, 'watch' | 'attend'> {
  return {
    watch: async (uri, isWanted) => {
      if (isWanted) {
        member.watched.add(uri);
        return shared.upstream.watch(uri, true);
      }
      member.watched.delete(uri);
      await unwatchIfUnused(shared, uri);
    },
    attend: (isWanted) => {
      member.is_attending = isWanted;
      updateAttention(shared);
    },
  };
}

function updateAttention({ upstream, members }: SharedConnection): void {
  upstream.attend([...members].some(({ is_attending }) => is_attending));
}

async function unwatchIfUnused({ upstream, members }: SharedConnection, uri: string): Promise<void> {
  const isWanted = [...members].some(({ watched }) => watched.has(uri));
  if (!isWanted) await upstream.watch(uri, false);
}
