import type { AgentTraces } from '../record/traces.ts';

export const cursorTraces: AgentTraces = {
  programs: ['cursor', 'cursor-agent'],
  packages: [],
  app_folders: ['cursor'],
  variables: ['CURSOR_AGENT', 'CURSOR_TRACE_ID'],
  home_variables: [],
  guarded_files: [
    '.cursor/hooks.json',
    '.cursor/hooks/**',
    '.cursor/cli.json',
    '.cursor/cli-config.json',
    '.cursor/permissions.json',
    '/etc/cursor/**',
  ],
  guarded_folders: ['.cursor', '.cursor/hooks', '/etc/cursor'],
  credential_files: [],
};
