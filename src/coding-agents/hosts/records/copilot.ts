import { join } from 'node:path';
import { GIT_FOLDER } from '../command.ts';
import type { Host, Machine } from '../host.ts';
import { file } from '../places.ts';
import { flatHooks } from '../shapes.ts';

/**
 * GitHub Copilot CLI, and its cloud agent, which reads the files of the repository: every file of a folder adds. Facts:
 * content/copilot/reference of github/docs (2026-08): hooks-reference, cli-config-dir-reference.
 */
export const copilot: Host = {
  name: 'copilot',
  label: 'GitHub Copilot CLI',
  programs: ['copilot'],
  places: (machine) => [
    { ...file('project', join(machine.project, '.github/hooks')), is_folder: true },
    file('project', join(machine.project, '.github/copilot/settings.json'), 'jsonc'),
    file('local', join(machine.project, '.github/copilot/settings.local.json'), 'jsonc'),
    { ...file('user', join(folderOf(machine), 'hooks')), is_folder: true },
    file('user', join(folderOf(machine), 'settings.json'), 'jsonc'),
    { ...file('managed', '/etc/github-copilot/policy.d'), is_folder: true },
  ],
  targets: (machine) => [
    file('project', join(machine.project, '.github/hooks/agent-safety.json')),
    file('user', join(folderOf(machine), 'hooks/agent-safety.json')),
  ],
  shape: flatHooks('bash', 'timeoutSec', { type: 'command' }),
  wanted: ['preToolUse', 'permissionRequest', 'postToolUse', 'userPromptSubmitted'].map((event) => ({
    event,
    matcher: null,
  })),
  needs_event: true,
  // It has no variable for the folder.
  project_folder: GIT_FOLDER,
  guards_exit: true,
  frame: { version: 1 },
  mcp: {
    key: 'mcpServers',
    places: (machine) => [
      file('project', join(machine.project, '.github/mcp.json')),
      file('user', join(folderOf(machine), 'mcp-config.json')),
    ],
    entry: ([command = '', ...args]) => ({ type: 'local', command, args, tools: ['*'] }),
    otherwise: (_scope, command) => `Run: copilot mcp add agent-safety -- ${command}`,
  },
  transcripts: (machine) => ({ folder: join(folderOf(machine), 'session-state'), pattern: '**/*.jsonl' }),
  remarks: (scope) =>
    scope === 'project'
      ? [
          'Copilot’s cloud agent reads this file as soon as it is pushed, and is refused every tool where the program is not.',
        ]
      : [],
};

function folderOf({ home, env }: Machine): string {
  return env.COPILOT_HOME || join(home, '.copilot');
}
