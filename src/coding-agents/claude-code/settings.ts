import { join } from 'node:path';
import { formatGroupedHooks } from '../record/hook-format.ts';
import {
  type AgentSettings,
  defineSettingsFile,
  type Machine,
  type SettingsLocation,
} from '../record/settings.ts';

/**
 * The settings of Claude Code: all scopes merge, none replaces another. Source: code.claude.com/docs hooks, settings,
 * mcp (2026-08-22).
 */
export const claudeCodeSettings: AgentSettings = {
  programs: ['claude'],
  locations: (machine) => [
    ...listTargets(machine),
    defineSettingsFile('managed', '/etc/claude-code/managed-settings.json'),
    { ...defineSettingsFile('managed', '/etc/claude-code/managed-settings.d'), is_folder: true },
  ],
  targets: listTargets,
  hook_format: formatGroupedHooks(1000),
  wanted_hooks: [
    { event: 'PreToolUse', matcher: '*' },
    { event: 'PostToolUse', matcher: '*' },
    { event: 'PermissionRequest', matcher: '*' },
    { event: 'UserPromptSubmit', matcher: null },
  ],
  opening_event: 'SessionStart',
  needs_event: false,
  project_folder: '"$CLAUDE_PROJECT_DIR"',
  project_variables: ['CLAUDE_PROJECT_DIR'],
  guards_exit: true,
  required_keys: {},
  mcp_servers: {
    key: 'mcpServers',
    locations: ({ project }) => [defineSettingsFile('project', join(project, '.mcp.json'))],
    entry: ([command = '', ...args]) => ({ type: 'stdio', command, args }),
    adviseByHand: (scope, command) =>
      `Claude Code keeps this list in a file that it rewrites itself; run: claude mcp add --scope ${scope} customshouse -- ${command}`,
  },
  transcripts: (machine) => ({ folder: join(resolveUserFolder(machine), 'projects'), pattern: '**/*.jsonl' }),
  leaves_open:
    "a late hook lets the call continue; files named with `@`; a redacted result stays in the agent's own telemetry",
  remarks: () => [],
};

function listTargets(machine: Machine): readonly SettingsLocation[] {
  return [
    defineSettingsFile('project', join(machine.project, '.claude/settings.json')),
    defineSettingsFile('local', join(machine.project, '.claude/settings.local.json')),
    defineSettingsFile('user', join(resolveUserFolder(machine), 'settings.json')),
  ];
}

function resolveUserFolder({ home, env }: Machine): string {
  return env.CLAUDE_CONFIG_DIR || join(home, '.claude');
}
