import type { AgentTraces } from '../record/traces.ts';

export const geminiTraces: AgentTraces = {
  programs: ['gemini', 'gemini-cli'],
  packages: ['@google/gemini-cli'],
  app_folders: [],
  variables: ['GEMINI_CLI'],
  home_variables: ['GEMINI_CLI_HOME', 'GEMINI_CLI_SYSTEM_SETTINGS_PATH'],
  guarded_files: [
    '.gemini/settings.json',
    '.gemini/hooks/**',
    '.gemini/trustedfolders.json',
    '/etc/gemini-cli/**',
  ],
  guarded_folders: ['.gemini', '.gemini/hooks', '/etc/gemini-cli'],
  credential_files: ['.gemini/oauth_creds.json'],
};
