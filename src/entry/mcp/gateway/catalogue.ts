import { createHmac, randomBytes } from 'node:crypto';
import type { Client, Tool } from '@modelcontextprotocol/client';
import { BehindFailure } from './failure.ts';
import type { Guard } from './guard.ts';
import type { Upstream } from './upstream.ts';

/** The tools of one server, as far as agents may see and call them. */
export interface Catalogue {
  /** Those that may be shown now. */
  readonly shown: () => Promise<readonly Tool[]>;
  /** Those that an agent can mean by a name, as they are at this moment. */
  readonly meant: (is_meant: (tool: string) => boolean) => Promise<readonly Standing[]>;
}

export interface Standing {
  readonly tool: Tool;
  /** The definition as agents see it. */
  readonly shown: Tool;
  /** Why it may be neither shown nor called; `null` where it may. */
  readonly held: string | null;
}

export interface CatalogueParts {
  readonly upstream: Upstream;
  readonly guard: Pick<Guard, 'definitions'>;
  /** By which name the server is known here. */
  readonly server: string;
  /** For a page of the list. */
  readonly list_ms: number;
  /** Which of the tools are offered at all. */
  readonly offers: (tool: string) => boolean;
}

const PAGES_MAX = 100;
/** What is taken of one server; more is none of its list. */
const TOOLS_MAX = 1_000;
/** How long what was said of a list is used again, where the list is the same: what people approve meanwhile waits so long. */
const CHECKED_MS_MAX = 2_000;

/**
 * Asks the server for its list each time, and the service about it where the list is another than before or what was
 * said is old. So a definition that differs from what was let through is seen before any call, while the same one
 * costs a keyed hash.
 */
export function openCatalogue(parts: CatalogueParts): Catalogue {
  const key = randomBytes(32);
  let checked: { mac: string; until_ms: number; list: readonly Standing[] } | null = null;
  let fetching: Promise<readonly Tool[]> | null = null;

  /** Whoever asks while a list is on its way gets that one. */
  function fetched(): Promise<readonly Tool[]> {
    fetching ??= parts.upstream
      .use((client) => toolsOf(client, parts.list_ms))
      .finally(() => {
        fetching = null;
      });
    return fetching;
  }

  async function standing(is_fresh: boolean): Promise<readonly Standing[]> {
    const tools = (await fetched()).filter(({ name }) => parts.offers(name));
    const mac = createHmac('sha256', key).update(JSON.stringify(tools)).digest('base64');
    const is_known = checked !== null && checked.mac === mac && performance.now() < checked.until_ms;
    if (is_known && !is_fresh) return checked!.list;
    const checks = await parts.guard.definitions(parts.server, tools);
    const list = tools.map((tool) => {
      const { held, instead } = checks.get(tool.name) ?? UNKNOWN;
      return { tool, shown: (instead ?? tool) as Tool, held };
    });
    checked = { mac, until_ms: performance.now() + CHECKED_MS_MAX, list };
    return list;
  }

  return {
    shown: async () => (await standing(true)).filter(({ held }) => held === null).map(({ shown }) => shown),
    meant: async (is_meant) => {
      const those = async (is_fresh: boolean) =>
        (await standing(is_fresh)).filter(({ tool }) => is_meant(tool.name));
      const list = await those(false);
      // A person may have agreed a moment ago: a no is asked for anew.
      return list.some(({ held }) => held !== null) ? those(true) : list;
    },
  };
}

/** A tool about which nothing was said is held as well. */
const UNKNOWN = { held: 'Its name is none that the protocol allows.', instead: null };

async function toolsOf(client: Client, timeout: number): Promise<readonly Tool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return [];
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page++) {
    const params = cursor === undefined ? {} : { cursor };
    const answer = await client.request({ method: 'tools/list', params }, { timeout });
    tools.push(...(answer.tools as Tool[]));
    cursor = answer.nextCursor;
    if (tools.length > TOOLS_MAX) break;
    if (cursor === undefined) return tools;
  }
  throw new BehindFailure('endless');
}
