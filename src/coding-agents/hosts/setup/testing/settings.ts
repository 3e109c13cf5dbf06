import type { SettingsFormat } from '../../host.ts';
import { type Host, hookCommand } from '../../index.ts';
import { hooksPart, type Part, serverPart } from '../parts.ts';
import { type planned, type Receipt, sha256Of } from '../plan.ts';

/** How the program is started in these tests. */
export const PROGRAM = ['/opt/a b/service'];
/** How its MCP server is. */
export const WORDS = [...PROGRAM, 'mcp', '--config', '/etc/service.yaml'];

/** What setup keeps for a host: its hooks, and the server. */
export function partsOf(host: Host, config = '/etc/service.yaml'): readonly Part[] {
  const { name, needs_event, guards_exit } = host;
  const command = (event: string) =>
    hookCommand({ program: PROGRAM, config, dialect: name, event: needs_event ? event : null, guards_exit });
  return [hooksPart(host, command), serverPart(host, WORDS)];
}

/** What would be kept of a plan. */
export function receiptOf({ after, undo, created }: ReturnType<typeof planned>): Receipt {
  return { created, folders: [], after_sha256: sha256Of(after ?? ''), undo };
}

/** How a host's file is written. */
export const formatOf = (host: Host): SettingsFormat =>
  host.targets({ project: '/p', home: '/h', env: {} })[0]!.format;

const FOREIGN = { matcher: 'Bash', hooks: [{ type: 'command', command: 'lint --hook', timeout: 5 }] };
const FLAT_FOREIGN = { command: 'lint --hook', timeout: 5 };
/** A hook of somebody else. */
export const foreignFor = (host: Host) =>
  ['cursor', 'copilot'].includes(host.name) ? FLAT_FOREIGN : FOREIGN;

/** A document as plain records, whatever reads it. */
export const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
