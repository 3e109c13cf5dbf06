import type { CodingAgent } from '../../record/coding-agent.ts';
import { formatHookCommand } from '../../record/hook-command.ts';
import type { SettingsFormat } from '../../record/settings.ts';
import { hooksPart, type SettingsPart, serverPart } from '../parts.ts';
import { hashText, type planInstall, type UndoReceipt } from '../plan.ts';

/** How the program is started in these tests. */
export const PROGRAM = ['/opt/a b/service'];
/** How its MCP server is. */
export const WORDS = [...PROGRAM, 'mcp', '--config', '/etc/service.yaml'];

/** What setup keeps for a host: its hooks, and the server. */
export function partsOf(host: CodingAgent, config = '/etc/service.yaml'): readonly SettingsPart[] {
  const { name, settings } = host;
  const { needs_event, guards_exit } = settings;
  const command = (event: string) =>
    formatHookCommand({
      program: PROGRAM,
      config,
      dialect: name,
      event: needs_event ? event : null,
      guards_exit,
    });
  return [hooksPart(host.settings, command), serverPart(host.settings, WORDS)];
}

/** What would be kept of a plan. */
export function receiptOf({ after, undo, created }: ReturnType<typeof planInstall>): UndoReceipt {
  return { created, folders: [], after_sha256: hashText(after ?? ''), undo };
}

/** How a host's file is written. */
export const formatOf = (host: CodingAgent): SettingsFormat =>
  host.settings.targets({ project: '/p', home: '/h', env: {} })[0]!.format;

const FOREIGN = { matcher: 'Bash', hooks: [{ type: 'command', command: 'lint --hook', timeout: 5 }] };
const FLAT_FOREIGN = { command: 'lint --hook', timeout: 5 };
/** A hook of somebody else. */
export const foreignFor = (host: CodingAgent) =>
  ['cursor', 'copilot'].includes(host.name) ? FLAT_FOREIGN : FOREIGN;

/** A document as plain records, whatever reads it. */
export const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
