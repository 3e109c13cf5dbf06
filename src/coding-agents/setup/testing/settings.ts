import { hashText } from '../../../platform/hash-text.ts';
import type { CodingAgent } from '../../record/coding-agent.ts';
import { formatHookCommand } from '../../record/hook-command.ts';
import type { SettingsFormat } from '../../record/settings.ts';
import { planHooksPart, planServerPart, type SettingsPart } from '../parts.ts';
import type { planInstall, UndoReceipt } from '../plan.ts';

/** The words that start the program in these tests. */
export const PROGRAM = ['/opt/a b/service'];
/** The words that start its MCP server. */
export const WORDS = [...PROGRAM, 'mcp', '--config', '/etc/service.yaml'];

/** Returns the parts that setup installs for an agent: its hooks and the MCP server. */
export function getParts(agent: CodingAgent, config = '/etc/service.yaml'): readonly SettingsPart[] {
  const { name, settings } = agent;
  const { needs_event, guards_exit } = settings;
  const command = (event: string) =>
    formatHookCommand({
      program: PROGRAM,
      config,
      dialect: name,
      event: needs_event ? event : null,
      guards_exit,
    });
  return [planHooksPart(agent.settings, command), planServerPart(agent.settings, WORDS)];
}

/** Returns the receipt that would be saved for a plan. */
export function getReceipt({ after, undo, created }: ReturnType<typeof planInstall>): UndoReceipt {
  return { created, folders: [], after_sha256: hashText(after ?? ''), undo };
}

/** Returns the format of an agent's settings file. */
export const getFormat = (agent: CodingAgent): SettingsFormat =>
  agent.settings.targets({ project: '/p', home: '/h', env: {} })[0]!.format;

const FOREIGN = { matcher: 'Bash', hooks: [{ type: 'command', command: 'lint --hook', timeout: 5 }] };
const FLAT_FOREIGN = { command: 'lint --hook', timeout: 5 };
/** Returns a hook of another program. */
export const foreignFor = (agent: CodingAgent) =>
  ['cursor', 'copilot'].includes(agent.name) ? FLAT_FOREIGN : FOREIGN;

/** Returns a document as plain records, whichever parser read it. */
export const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
