import { join } from 'node:path';
import type { Host, Machine, SettingsPlace } from '../host.ts';
import { file } from '../places.ts';
import { flatHooks } from '../shapes.ts';

/** Cursor: every source runs. Facts: cursor.com/docs/hooks and /docs/context/mcp (2026-08). */
export const cursor: Host = {
  name: 'cursor',
  label: 'Cursor',
  programs: ['cursor', 'cursor-agent'],
  places: (machine) => [...targets(machine), file('managed', '/etc/cursor/hooks.json')],
  targets,
  shape: flatHooks('command', 'timeout', { failClosed: true }),
  wanted: [
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
  // `failClosed` does it, and it is not published which shell reads the command.
  guards_exit: false,
  frame: { version: 1 },
  mcp: {
    key: 'mcpServers',
    places: ({ project, home }) => [
      file('project', join(project, '.cursor/mcp.json')),
      file('user', join(home, '.cursor/mcp.json')),
    ],
    entry: ([command = '', ...args]) => ({ command, args }),
    otherwise: (_scope, command) => `Add a server with this command in Cursor's settings: ${command}`,
  },
  transcripts: () => null,
  remarks: () => ['Cursor’s cloud agents do not run hooks of a user, nor those of MCP calls.'],
};

function targets({ project, home }: Machine): readonly SettingsPlace[] {
  return [
    file('project', join(project, '.cursor/hooks.json')),
    file('user', join(home, '.cursor/hooks.json')),
  ];
}
