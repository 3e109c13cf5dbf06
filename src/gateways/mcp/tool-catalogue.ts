import { createHmac, randomBytes } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';
import type { PolicyGuard } from './policy-guard.ts';
import type { ToolList } from './tool-list.ts';

/** The tools of one server, as far as agents may see and call them. */
export interface ToolCatalogue {
  /** Those that may be shown now. */
  readonly listShown: () => Promise<readonly Tool[]>;
  /** Those that an agent can mean by a name, as they are at this moment. */
  readonly findTools: (is_meant: (tool: string) => boolean) => Promise<readonly CatalogueEntry[]>;
}

export interface CatalogueEntry {
  readonly tool: Tool;
  /** The definition as agents see it. */
  readonly shown: Tool;
  /** Why it may be neither shown nor called; `null` where it may. */
  readonly held: string | null;
}

export interface ToolCatalogueParts {
  readonly list: ToolList;
  readonly guard: Pick<PolicyGuard, 'checkDefinitions'>;
  /** By which name the server is known here. */
  readonly server: string;
  /** Which of the tools are offered at all. */
  readonly offers: (tool: string) => boolean;
}

/** How long what was said of a list is used again, where the list is the same: what people approve meanwhile waits so long. */
const CHECKED_MS_MAX = 2_000;

/**
 * Asks the service about a list that is another than before, or about which it was not asked lately. The same list costs a
 * keyed hash. A definition that differs from what was let through is neither shown nor called as soon as the list is read.
 */
export function openToolCatalogue(parts: ToolCatalogueParts): ToolCatalogue {
  const key = randomBytes(32);
  let checked: { mac: string; until_ms: number; list: readonly CatalogueEntry[] } | null = null;

  async function standing(is_wanted: boolean, is_fresh: boolean): Promise<readonly CatalogueEntry[]> {
    const tools = (await parts.list.read(is_wanted)).filter(({ name }) => parts.offers(name));
    const mac = createHmac('sha256', key).update(JSON.stringify(tools)).digest('base64');
    const is_known = checked !== null && checked.mac === mac && performance.now() < checked.until_ms;
    if (is_known && !is_fresh) return checked!.list;
    const checks = await parts.guard.checkDefinitions(parts.server, tools);
    const list = tools.map((tool) => {
      const { held, replacement } = checks.get(tool.name) ?? UNKNOWN;
      return { tool, shown: (replacement ?? tool) as Tool, held };
    });
    checked = { mac, until_ms: performance.now() + CHECKED_MS_MAX, list };
    return list;
  }

  return {
    listShown: async () =>
      (await standing(true, true)).filter(({ held }) => held === null).map(({ shown }) => shown),
    findTools: async (is_meant) => {
      const those = async (is_wanted: boolean, is_fresh: boolean) =>
        (await standing(is_wanted, is_fresh)).filter(({ tool }) => is_meant(tool.name));
      const list = await those(false, false);
      // It may have come since the list was read.
      if (list.length === 0) return those(true, true);
      // A person may have agreed a moment ago: a no is asked for again.
      return list.some(({ held }) => held !== null) ? those(false, true) : list;
    },
  };
}

/** A tool about which nothing was said is held as well. */
const UNKNOWN = { held: 'The protocol does not allow its name.', replacement: null };
