import { join } from 'node:path';
import type { Host, Machine, SettingsPlace } from '../host.ts';
import { file } from '../places.ts';
import { groupedHooks } from '../shapes.ts';

/** Claude Code: all scopes merge, none replaces another. Facts: code.claude.com/docs hooks, settings, mcp (2026-08-22). */
export const claudeCode: Host = {
  name: 'claude-code',
  label: 'Claude Code',
  programs: ['claude'],
  places: (machine) => [
    ...targets(machine),
    file('managed', '/etc/claude-code/managed-settings.json'),
    { ...file('managed', '/etc/claude-code/managed-settings.d'), is_folder: true },
  ],
  targets,
  shape: groupedHooks(1000),
  wanted: [
    { event: 'PreToolUse', matcher: '*' },
    { event: 'PostToolUse', matcher: '*' },
    { event: 'PermissionRequest', matcher: '*' },
    { event: 'UserPromptSubmit', matcher: null },
  ],
  needs_event: false,
  project_folder: '"$CLAUDE_PROJECT_DIR"',
  guards_exit: true,
  frame: {},
  mcp: {
    key: 'mcpServers',
    places: ({ project }) => [file('project', join(project, '.mcp.json'))],
    entry: ([command = '', ...args]) => ({ type: 'stdio', command, args }),
    otherwise: (scope, command) =>
      `Claude Code keeps this list in a file that it rewrites itself; run: claude mcp add --scope ${scope} agent-safety -- ${command}`,
  },
  transcripts: (machine) => ({ folder: join(folderOf(machine), 'projects'), pattern: '**/*.jsonl' }),
  remarks: () => [],
};

function targets(machine: Machine): readonly SettingsPlace[] {
  return [
    file('project', join(machine.project, '.claude/settings.json')),
    file('local', join(machine.project, '.claude/settings.local.json')),
    file('user', join(folderOf(machine), 'settings.json')),
  ];
}

function folderOf({ home, env }: Machine): string {
  return env.CLAUDE_CONFIG_DIR || join(home, '.claude');
}
