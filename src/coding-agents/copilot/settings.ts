import { join } from 'node:path';
import { GIT_PROJECT_FOLDER } from '../record/hook-command.ts';
import { formatFlatHooks } from '../record/hook-format.ts';
import { type AgentSettings, defineSettingsFile, type Machine } from '../record/settings.ts';

/**
 * The settings of GitHub Copilot CLI and of its cloud agent, which reads the files of the repository. All files of a
 * folder are merged. Source: content/copilot/reference of github/docs (2026-08): hooks-reference,
 * cli-config-dir-reference.
 */
export const copilotSettings: AgentSettings = {
  programs: ['copilot'],
  locations: (machine) => [
    { ...defineSettingsFile('project', join(machine.project, '.github/hooks')), is_folder: true },
    defineSettingsFile('project', join(machine.project, '.github/copilot/settings.json'), 'jsonc'),
    defineSettingsFile('local', join(machine.project, '.github/copilot/settings.local.json'), 'jsonc'),
    { ...defineSettingsFile('user', join(resolveUserFolder(machine), 'hooks')), is_folder: true },
    defineSettingsFile('user', join(resolveUserFolder(machine), 'settings.json'), 'jsonc'),
    { ...defineSettingsFile('managed', '/etc/github-copilot/policy.d'), is_folder: true },
  ],
  targets: (machine) => [
    defineSettingsFile('project', join(machine.project, '.github/hooks/customshouse.json')),
    defineSettingsFile('user', join(resolveUserFolder(machine), 'hooks/customshouse.json')),
  ],
  hook_format: formatFlatHooks('bash', 'timeoutSec', { type: 'command' }),
  wanted_hooks: ['preToolUse', 'permissionRequest', 'postToolUse', 'userPromptSubmitted'].map((event) => ({
    event,
    matcher: null,
  })),
  needs_event: true,
  // Copilot has no variable for the folder.
  project_folder: GIT_PROJECT_FOLDER,
  project_variables: [],
  guards_exit: true,
  required_keys: { version: 1 },
  mcp_servers: {
    key: 'mcpServers',
    locations: (machine) => [
      defineSettingsFile('project', join(machine.project, '.github/mcp.json')),
      defineSettingsFile('user', join(resolveUserFolder(machine), 'mcp-config.json')),
    ],
    entry: ([command = '', ...args]) => ({ type: 'local', command, args, tools: ['*'] }),
    adviseByHand: (_scope, command) => `Run: copilot mcp add customshouse -- ${command}`,
  },
  transcripts: (machine) => ({
    folder: join(resolveUserFolder(machine), 'session-state'),
    pattern: '**/*.jsonl',
  }),
  leaves_open: 'a late hook; prompts, which are recorded and continue; the cloud agent takes `ask` for a no',
  remarks: (scope) =>
    scope === 'project'
      ? [
          'Copilot’s cloud agent reads this file as soon as it is pushed, and is refused every tool where the program is not.',
        ]
      : [],
};

function resolveUserFolder({ home, env }: Machine): string {
  return env.COPILOT_HOME || join(home, '.copilot');
}
