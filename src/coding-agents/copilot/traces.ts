import type { AgentTraces } from '../record/traces.ts';

export const copilotTraces: AgentTraces = {
  programs: ['copilot'],
  packages: ['@github/copilot'],
  app_folders: [],
  variables: ['COPILOT_CLI*', 'COPILOT_AGENT*', 'COPILOT_MODEL', 'COPILOT_ALLOW_ALL'],
  home_variables: ['COPILOT_HOME'],
  guarded_files: [
    '.github/hooks/**',
    '.github/copilot/settings.json',
    '.github/copilot/settings.local.json',
    '.copilot/hooks/**',
    '.copilot/settings.json',
    '.copilot/config.json',
    '/etc/github-copilot/**',
  ],
  guarded_folders: ['.copilot', '.copilot/hooks', '.github/hooks', '/etc/github-copilot'],
  credential_files: ['.copilot/config.json'],
};
