import { readFile, stat } from 'node:fs/promises';
import { PACKAGE_NAME } from '../../core/names.ts';
import type { CodingAgent } from '../record/coding-agent.ts';
import { isObject } from '../record/doctor.ts';
import type { AgentSettings, Machine, SettingsLocation } from '../record/settings.ts';
import { readDocument } from './settings-document.ts';

/** The largest settings file that is read, in bytes. */
const FILE_BYTES_MAX = 4_194_304;

/** Returns the names of the MCP servers that agents start, without this program. Files that cannot be read count as empty. */
export async function findMcpServers(
  agents: readonly CodingAgent[],
  machine: Machine,
): Promise<readonly string[]> {
  const lists = agents.map(({ settings: { mcp_servers } }) => mcp_servers);
  const found = await Promise.all(
    lists.flatMap((list) =>
      list.locations(machine).map((location) => readServerNames(list, location).catch(() => [])),
    ),
  );
  return [...new Set(found.flat())].filter((name) => name !== PACKAGE_NAME).sort();
}

async function readServerNames(
  { key }: AgentSettings['mcp_servers'],
  { path, format }: SettingsLocation,
): Promise<readonly string[]> {
  if ((await stat(path)).size > FILE_BYTES_MAX) return [];
  const document = readDocument(await readFile(path, 'utf8'), format);
  const servers = isObject(document) ? document[key] : null;
  return isObject(servers) ? Object.keys(servers) : [];
}
