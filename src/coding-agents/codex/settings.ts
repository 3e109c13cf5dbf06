import { join } from 'node:path';
import { GIT_PROJECT_FOLDER } from '../record/hook-command.ts';
import { formatGroupedHooks } from '../record/hook-format.ts';
import {
  type AgentSettings,
  defineSettingsFile,
  type Machine,
  type SettingsLocation,
} from '../record/settings.ts';

/**
 * The settings of Codex CLI: layers are merged, and each may have hooks in `hooks.json` or in `config.toml`. Source:
 * learn.chatgpt.com/docs/hooks and codex-rs/hooks/src/engine of openai/codex (2026-08).
 */
export const codexSettings: AgentSettings = {
  programs: ['codex'],
  locations: (machine) => [...listTargets(machine), ...listConfigFiles(machine)],
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
  // Codex has no variable for the folder.
  project_folder: GIT_PROJECT_FOLDER,
  project_variables: [],
  guards_exit: true,
  required_keys: {},
  mcp_servers: {
    key: 'mcp_servers',
    locations: listConfigFiles,
    entry: ([command = '', ...args]) => ({ command, args }),
    adviseByHand: (_scope, command) => `Run: codex mcp add customshouse -- ${command}`,
  },
  transcripts: (machine) => ({
    folder: join(resolveUserFolder(machine), 'sessions'),
    pattern: '**/rollout-*.jsonl',
  }),
  leaves_open:
    'untrusted hooks (`/hooks`) are skipped silently; a late hook; hosted tools; `write_stdin`; no `ask`',
  remarks: (scope) => [
    'Codex silently skips hooks that are not trusted: open it, type /hooks and trust these, now and after every change.',
    ...(scope === 'project' ? ['Codex reads them only in trusted projects.'] : []),
  ],
};

function listTargets(machine: Machine): readonly SettingsLocation[] {
  return [
    defineSettingsFile('project', join(machine.project, '.codex/hooks.json')),
    defineSettingsFile('user', join(resolveUserFolder(machine), 'hooks.json')),
  ];
}

function listConfigFiles(machine: Machine): readonly SettingsLocation[] {
  return [
    defineSettingsFile('project', join(machine.project, '.codex/config.toml'), 'toml'),
    defineSettingsFile('user', join(resolveUserFolder(machine), 'config.toml'), 'toml'),
  ];
}

function resolveUserFolder({ home, env }: Machine): string {
  return env.CODEX_HOME || join(home, '.codex');
}
