import { join } from 'node:path';
import { GIT_FOLDER } from '../command.ts';
import type { Host, Machine, SettingsPlace } from '../host.ts';
import { file } from '../places.ts';
import { groupedHooks } from '../shapes.ts';

/**
 * Codex CLI: layers add, and each may have its hooks in `hooks.json` or in `config.toml`. Facts: learn.chatgpt.com/docs/hooks and
 * codex-rs/hooks/src/engine of openai/codex (2026-08).
 */
export const codex: Host = {
  name: 'codex',
  label: 'Codex CLI',
  programs: ['codex'],
  places: (machine) => [...targets(machine), ...configs(machine)],
  targets,
  shape: groupedHooks(1000),
  wanted: [
    { event: 'PreToolUse', matcher: '*' },
    { event: 'PostToolUse', matcher: '*' },
    { event: 'PermissionRequest', matcher: '*' },
    { event: 'UserPromptSubmit', matcher: null },
  ],
  needs_event: false,
  // It has no variable for the folder.
  project_folder: GIT_FOLDER,
  guards_exit: true,
  frame: {},
  mcp: {
    key: 'mcp_servers',
    places: configs,
    entry: ([command = '', ...args]) => ({ command, args }),
    otherwise: (_scope, command) => `Run: codex mcp add agent-safety -- ${command}`,
  },
  transcripts: (machine) => ({ folder: join(folderOf(machine), 'sessions'), pattern: '**/rollout-*.jsonl' }),
  remarks: (scope) => [
    'Codex silently skips hooks that are not trusted: open it, type /hooks and trust these, now and after every change.',
    ...(scope === 'project' ? ['Codex reads them only in trusted projects.'] : []),
  ],
};

function targets(machine: Machine): readonly SettingsPlace[] {
  return [
    file('project', join(machine.project, '.codex/hooks.json')),
    file('user', join(folderOf(machine), 'hooks.json')),
  ];
}

function configs(machine: Machine): readonly SettingsPlace[] {
  return [
    file('project', join(machine.project, '.codex/config.toml'), 'toml'),
    file('user', join(folderOf(machine), 'config.toml'), 'toml'),
  ];
}

function folderOf({ home, env }: Machine): string {
  return env.CODEX_HOME || join(home, '.codex');
}
