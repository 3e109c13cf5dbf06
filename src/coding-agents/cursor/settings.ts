import { join } from 'node:path';
import { formatFlatHooks } from '../record/hook-format.ts';
import {
  type AgentSettings,
  defineSettingsFile,
  type Machine,
  type SettingsLocation,
} from '../record/settings.ts';

/**
 * The settings of Cursor: the hooks of every source run. Source: cursor.com/docs/hooks and /docs/context/mcp (2026-08).
 */
export const cursorSettings: AgentSettings = {
  programs: ['cursor', 'cursor-agent'],
  locations: (machine) => [...listTargets(machine), defineSettingsFile('managed', '/etc/cursor/hooks.json')],
  targets: listTargets,
  hook_format: formatFlatHooks('command', 'timeout', { failClosed: true }),
  wanted_hooks: [
    'beforeShellExecution',
    'beforeMCPExecution',
    'beforeReadFile',
    'beforeTabFileRead',
    'beforeSubmitPrompt',
    'preToolUse',
    'postToolUse',
    'subagentStart',
  ].map((event) => ({ event, matcher: null })),
  needs_event: false,
  project_folder: '"$CURSOR_PROJECT_DIR"',
  project_variables: ['CURSOR_PROJECT_DIR', 'CLAUDE_PROJECT_DIR'],
  // `failClosed` has the same effect, and the shell that runs the command is not documented.
  guards_exit: false,
  required_keys: { version: 1 },
  mcp_servers: {
    key: 'mcpServers',
    locations: ({ project, home }) => [
      defineSettingsFile('project', join(project, '.cursor/mcp.json')),
      defineSettingsFile('user', join(home, '.cursor/mcp.json')),
    ],
    entry: ([command = '', ...args]) => ({ command, args }),
    adviseByHand: (_scope, command) => `Add a server with this command in Cursor's settings: ${command}`,
  },
  transcripts: () => null,
  leaves_open: 'all faults without `failClosed`; results of tools other than MCP cannot be replaced',
  remarks: () => ['Cursor’s cloud agents do not run hooks of a user, nor those of MCP calls.'],
};

function listTargets({ project, home }: Machine): readonly SettingsLocation[] {
  return [
    defineSettingsFile('project', join(project, '.cursor/hooks.json')),
    defineSettingsFile('user', join(home, '.cursor/hooks.json')),
  ];
}
