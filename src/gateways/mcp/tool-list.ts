import type { Client, Tool } from '@modelcontextprotocol/client';
import { ServerFailure } from './server-failure.ts';
import type { UpstreamClient } from './upstream-client.ts';

/** The tool list of one server, as last received. */
export interface ToolList {
  /**
   * Returns the list. Queries the server only if the list may have changed.
   * @param isWanted - true if a client requests the list: then a cached list is used only within its `ttlMs`
   */
  readonly read: (isWanted: boolean) => Promise<readonly Tool[]>;
  /** Invalidates the list because the server reports a change. */
  readonly invalidate: () => void;
}

const PAGES_MAX = 100;
/** The maximum number of tools of one server. A longer list is refused as a whole. */
const TOOLS_MAX = 1_000;
/** The cache time for calls if the server reports neither changes nor a lifetime of its list. */
const UNTOLD_MS = 30_000;
/** The maximum lifetime, whatever the server declares. */
const TTL_MS_MAX = 3_600_000;

interface CachedList {
  /** The connection that delivered the list. After a reconnect the program may have another version. */
  readonly client: Client;
  readonly tools: readonly Tool[];
  readonly read_ms: number;
  readonly ttl_ms: number;
}

/**
 * Caches the tool list of a server until the server reports a change, the lifetime ends or the connection is
 * replaced.
 */
export function openToolList(
  upstream: Pick<UpstreamClient, 'use'>,
  listMs: number,
  nowMs: () => number = () => performance.now(),
): ToolList {
  let kept: CachedList | null = null;
  let asking: { readonly client: Client; readonly answer: Promise<readonly Tool[]> } | null = null;
  let changes = 0;

  /** Shares a running query with later callers on the same connection. */
  function listTools(client: Client): Promise<readonly Tool[]> {
    if (asking?.client === client) return asking.answer;
    const before = changes;
    const answer = readTools(client, listMs).then(({ tools, ttl_ms }) => {
      // A list is not cached if a change was reported during the query, because it may predate the change.
      if (before === changes) kept = { client, tools, read_ms: nowMs(), ttl_ms };
      return tools;
    });
    const mine = { client, answer };
    asking = mine;
    const end = () => {
      if (asking === mine) asking = null;
    };
    answer.then(end, end);
    return answer;
  }

  return {
    read: (isWanted) =>
      upstream.use((client, { reports_tools }) => {
        if (kept === null || kept.client !== client) return listTools(client);
        const ageMs = nowMs() - kept.read_ms;
        const holds = ageMs < kept.ttl_ms || (!isWanted && (reports_tools || ageMs < UNTOLD_MS));
        return holds ? Promise.resolve(kept.tools) : listTools(client);
      }),
    invalidate: () => {
      changes += 1;
      kept = null;
      asking = null;
    },
  };
}

async function readTools(
  client: Client,
  timeout: number,
): Promise<{ readonly tools: readonly Tool[]; readonly ttl_ms: number }> {
  if (client.getServerCapabilities()?.tools === undefined) return { tools: [], ttl_ms: TTL_MS_MAX };
  const tools: Tool[] = [];
  let shortestMs = TTL_MS_MAX;
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: 'tools/list', params }, { timeout });
    const { ttlMs } = answer as { readonly ttlMs?: unknown };
    shortestMs = Math.min(shortestMs, typeof ttlMs === 'number' && ttlMs > 0 ? ttlMs : 0);
    tools.push(...(answer.tools as Tool[]));
    cursor = answer.nextCursor;
    if (tools.length > TOOLS_MAX) break;
    if (cursor === undefined) return { tools, ttl_ms: shortestMs };
  }
  throw new ServerFailure('endless_list');
}
