import type { AgentTraces } from '../record/traces.ts';

export const codexTraces: AgentTraces = {
  programs: ['codex', 'codex-*'],
  packages: ['@openai/codex'],
  app_folders: [],
  variables: ['CODEX_SANDBOX*', 'CODEX_CI', 'CODEX_THREAD_ID'],
  home_variables: ['CODEX_HOME'],
  guarded_files: [
    '.codex/hooks.json',
    '.codex/config.toml',
    '.codex/requirements.toml',
    '.codex/hooks/**',
    '/etc/codex/**',
  ],
  guarded_folders: ['.codex', '.codex/hooks', '/etc/codex'],
  credential_files: ['.codex/auth.json'],
};
