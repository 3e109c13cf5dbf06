import { join } from 'node:path';
import type { Host, Machine, SettingsPlace } from '../host.ts';
import { file } from '../places.ts';
import { groupedHooks } from '../shapes.ts';

/** Gemini CLI: one file for all settings, with comments. Facts: docs/hooks and packages/core/src/hooks of gemini-cli (2026-08-21). */
export const gemini: Host = {
  name: 'gemini',
  label: 'Gemini CLI',
  programs: ['gemini'],
  places: (machine) => [
    ...targets(machine),
    file('managed', machine.env.GEMINI_CLI_SYSTEM_SETTINGS_PATH || '/etc/gemini-cli/settings.json', 'jsonc'),
  ],
  targets,
  shape: groupedHooks(1),
  wanted: [
    { event: 'BeforeTool', matcher: '*' },
    { event: 'AfterTool', matcher: '*' },
    { event: 'BeforeAgent', matcher: null },
  ],
  needs_event: false,
  // Gemini CLI puts a quoted path in its place before the shell reads the command.
  project_folder: '$GEMINI_PROJECT_DIR',
  guards_exit: true,
  frame: {},
  mcp: {
    key: 'mcpServers',
    places: targets,
    entry: ([command = '', ...args]) => ({ command, args }),
    otherwise: (_scope, command) => `Run: gemini mcp add agent-safety ${command}`,
  },
  transcripts: (machine) => ({
    folder: join(folderOf(machine), 'tmp'),
    pattern: '*/chats/session-*.{json,jsonl}',
  }),
  remarks: (scope) =>
    scope === 'project'
      ? ['Gemini CLI runs hooks of a project in trusted folders only, and asks about them when they are new.']
      : [],
};

function targets(machine: Machine): readonly SettingsPlace[] {
  return [
    file('project', join(machine.project, '.gemini/settings.json'), 'jsonc'),
    file('user', join(folderOf(machine), 'settings.json'), 'jsonc'),
  ];
}

function folderOf({ home, env }: Machine): string {
  return join(env.GEMINI_CLI_HOME || home, '.gemini');
}
