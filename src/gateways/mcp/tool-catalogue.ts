import { createHmac, randomBytes } from 'node:crypto';
import type { Tool } from '@modelcontextprotocol/client';
import type { PolicyGuard } from './policy-guard.ts';
import type { ToolList } from './tool-list.ts';

/** The tools of one server that agents may list and call. */
export interface ToolCatalogue {
  /** Returns the definitions that may be listed now. */
  readonly listShown: () => Promise<readonly Tool[]>;
  /** Returns the tools with a matching name, with their current pin status. */
  readonly findTools: (isWanted: (tool: string) => boolean) => Promise<readonly ToolCatalogueEntry[]>;
}

/** A tool of the server and its pin status. */
export interface ToolCatalogueEntry {
  readonly tool: Tool;
  /** The definition as agents see it. */
  readonly shown: Tool;
  /** The reason why the tool may be neither listed nor called; `null` if it may. */
  readonly held: string | null;
}

/** The dependencies of a catalogue. */
export interface ToolCatalogueParts {
  readonly list: ToolList;
  readonly guard: Pick<PolicyGuard, 'checkDefinitions'>;
  /** The server's name in this proxy. */
  readonly server: string;
  /** Returns whether the configuration offers a tool. */
  readonly offers: (tool: string) => boolean;
}

/**
 * The time for which checks of an unchanged list are reused, in milliseconds. Approvals take effect after it at the
 * latest.
 */
const CHECKED_MS_MAX = 2_000;

/**
 * Opens the catalogue of one server. It checks a list if it changed or the last check is too old; an unchanged list
 * costs a keyed hash. A definition that differs from the approved one is held as soon as the list is read.
 */
export function openToolCatalogue(parts: ToolCatalogueParts): ToolCatalogue {
  const key = randomBytes(32);
  let checked: { mac: string; until_ms: number; list: readonly ToolCatalogueEntry[] } | null = null;

  async function readEntries(isRequested: boolean, isFresh: boolean): Promise<readonly ToolCatalogueEntry[]> {
    const tools = (await parts.list.read(isRequested)).filter(({ name }) => parts.offers(name));
    const mac = createHmac('sha256', key).update(JSON.stringify(tools)).digest('base64');
    const isKnown = checked !== null && checked.mac === mac && performance.now() < checked.until_ms;
    if (isKnown && !isFresh) return checked!.list;
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
      (await readEntries(true, true)).filter(({ held }) => held === null).map(({ shown }) => shown),
    findTools: async (isWanted) => {
      const those = async (isRequested: boolean, isFresh: boolean) =>
        (await readEntries(isRequested, isFresh)).filter(({ tool }) => isWanted(tool.name));
      const list = await those(false, false);
      // The tool may be newer than the list.
      if (list.length === 0) return those(true, true);
      // An operator may have approved the tool meanwhile, so a hold is checked again.
      return list.some(({ held }) => held !== null) ? those(false, true) : list;
    },
  };
}

/** The status of a tool that the check omitted: it is held too. */
const UNKNOWN = { held: 'The protocol does not allow its name.', replacement: null };
