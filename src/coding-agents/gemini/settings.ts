import { join } from 'node:path';
import { formatGroupedHooks } from '../record/hook-format.ts';
import {
  type AgentSettings,
  defineSettingsFile,
  type Machine,
  type SettingsLocation,
} from '../record/settings.ts';

/**
 * The settings of Gemini CLI: one file for all settings, with comments. Source: docs/hooks and packages/core/src/hooks
 * of gemini-cli (2026-08-21).
 */
export const geminiSettings: AgentSettings = {
  programs: ['gemini'],
  locations: (machine) => [
    ...listTargets(machine),
    defineSettingsFile(
      'managed',
      machine.env.GEMINI_CLI_SYSTEM_SETTINGS_PATH || '/etc/gemini-cli/settings.json',
      'jsonc',
    ),
  ],
  targets: listTargets,
  hook_format: formatGroupedHooks(1),
  wanted_hooks: [
    { event: 'BeforeTool', matcher: '*' },
    { event: 'AfterTool', matcher: '*' },
    { event: 'BeforeAgent', matcher: null },
  ],
  opening_event: 'SessionStart',
  needs_event: false,
  // Gemini CLI inserts a quoted path before the shell reads the command.
  project_folder: '$GEMINI_PROJECT_DIR',
  project_variables: ['GEMINI_PROJECT_DIR', 'CLAUDE_PROJECT_DIR'],
  guards_exit: true,
  required_keys: {},
  mcp_servers: {
    key: 'mcpServers',
    locations: listTargets,
    entry: ([command = '', ...args]) => ({ command, args }),
    adviseByHand: (_scope, command) => `Run: gemini mcp add customshouse ${command}`,
  },
  transcripts: (machine) => ({
    folder: join(resolveUserFolder(machine), 'tmp'),
    pattern: '*/chats/session-*.{json,jsonl}',
  }),
  leaves_open: 'a late hook; no `ask`; requests of the model itself (`BeforeModel`)',
  remarks: (scope) =>
    scope === 'project'
      ? ['Gemini CLI runs hooks of a project in trusted folders only, and asks about them when they are new.']
      : [],
};

function listTargets(machine: Machine): readonly SettingsLocation[] {
  return [
    defineSettingsFile('project', join(machine.project, '.gemini/settings.json'), 'jsonc'),
    defineSettingsFile('user', join(resolveUserFolder(machine), 'settings.json'), 'jsonc'),
  ];
}

function resolveUserFolder({ home, env }: Machine): string {
  return join(env.GEMINI_CLI_HOME || home, '.gemini');
}
