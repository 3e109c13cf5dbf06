import type { AgentTraces } from '../record/traces.ts';

export const claudeCodeTraces: AgentTraces = {
  programs: ['claude', 'claude-code'],
  packages: ['@anthropic-ai/claude-code'],
  app_folders: [],
  variables: ['CLAUDECODE', 'CLAUDE_CODE', 'CLAUDE_CODE_ENTRYPOINT'],
  home_variables: ['CLAUDE_CONFIG_DIR'],
  guarded_files: [
    '.claude/settings.json',
    '.claude/settings.local.json',
    '.claude/managed-settings.json',
    '.claude/hooks/**',
    '.claude/plugins/**',
    '/etc/claude-code/**',
  ],
  guarded_folders: ['.claude', '.claude/hooks', '/etc/claude-code'],
  credential_files: ['.claude/.credentials.json', '.claude.json'],
};
