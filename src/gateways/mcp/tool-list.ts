import type { Client, Tool } from '@modelcontextprotocol/client';
import { ServerFailure } from './server-failure.ts';
import type { UpstreamClient } from './upstream-client.ts';

/** The list of tools of one server, as it was last told. */
export interface ToolList {
  /**
   * Gives the list, and asks the server for it only if it may have changed.
   * @param is_wanted - a client asks for it: then it may be older than a server says only if that tells of changes in time
   */
  readonly read: (is_wanted: boolean) => Promise<readonly Tool[]>;
  /** The server says that it has changed. */
  readonly invalidate: () => void;
}

const PAGES_MAX = 100;
/** What is taken of one server; more is none of its list. */
const TOOLS_MAX = 1_000;
/** How long a list is used for calls if the server tells neither changes nor how long its list holds. */
const UNTOLD_MS = 30_000;
/** However long a server says that its list holds. */
const TTL_MS_MAX = 3_600_000;

interface CachedList {
  /** The connection over which it came: behind another one may be another version of the program. */
  readonly client: Client;
  readonly tools: readonly Tool[];
  readonly read_ms: number;
  readonly ttl_ms: number;
}

/** Keeps the list of a server until it says that it changed, or its time is over, or it is connected to anew. */
export function openToolList(
  upstream: Pick<UpstreamClient, 'use'>,
  list_ms: number,
  now_ms: () => number = () => performance.now(),
): ToolList {
  let kept: CachedList | null = null;
  let asking: { readonly client: Client; readonly answer: Promise<readonly Tool[]> } | null = null;
  let changes = 0;

  /** Whoever asks while a list is on its way gets that one. */
  function ask(client: Client): Promise<readonly Tool[]> {
    if (asking?.client === client) return asking.answer;
    const before = changes;
    const answer = readTools(client, list_ms).then(({ tools, ttl_ms }) => {
      // What changed meanwhile may be in the list, or not.
      if (before === changes) kept = { client, tools, read_ms: now_ms(), ttl_ms };
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
    read: (is_wanted) =>
      upstream.use((client, { reports_tools }) => {
        if (kept === null || kept.client !== client) return ask(client);
        const age_ms = now_ms() - kept.read_ms;
        const holds = age_ms < kept.ttl_ms || (!is_wanted && (reports_tools || age_ms < UNTOLD_MS));
        return holds ? Promise.resolve(kept.tools) : ask(client);
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
  let ttl_ms = TTL_MS_MAX;
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: 'tools/list', params }, { timeout });
    const { ttlMs } = answer as { readonly ttlMs?: unknown };
    ttl_ms = Math.min(ttl_ms, typeof ttlMs === 'number' && ttlMs > 0 ? ttlMs : 0);
    tools.push(...(answer.tools as Tool[]));
    cursor = answer.nextCursor;
    if (tools.length > TOOLS_MAX) break;
    if (cursor === undefined) return { tools, ttl_ms };
  }
  throw new ServerFailure('endless');
}
