import type { CommandEntry } from '../../../operations/cli-kit/command.ts';

/** All commands that no feature adds, in alphabetical order. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'agents',
    summary: 'block agents everywhere, unblock and list them',
  },
  {
    name: 'audit',
    summary: 'verify, export and hold the audit log',
    load: async () => (await import('./audit.ts')).defineAudit,
  },
  {
    name: 'backup',
    summary: 'copy the state of a running service',
    load: async () => (await import('./backup.ts')).defineBackup,
  },
  {
    name: 'completion',
    summary: 'print a completion script for a shell',
    load: async () => (await import('./completion.ts')).defineCompletion,
  },
  {
    name: 'config',
    summary: 'show the active settings and where each comes from',
    load: async () => (await import('./config.ts')).defineConfig,
  },
  {
    name: 'detectors',
    summary: 'list the built-in detectors, and describe one',
    load: async () => (await import('./detectors.ts')).defineDetectors,
  },
  {
    name: 'doctor',
    summary: 'test the installed hooks of coding agents',
    load: async () => (await import('./doctor.ts')).defineDoctor,
  },
  {
    name: 'fingerprint',
    summary: 'add exceptions (allowlist entries) for single values',
    load: async () => (await import('./fingerprint.ts')).defineFingerprint,
  },
  {
    name: 'hook',
    summary: 'decide on one action of a coding agent (read from standard input)',
    load: async () => (await import('./hook.ts')).defineHook,
  },
  {
    name: 'init',
    summary: 'write a configuration and a first policy',
    load: async () => (await import('./init.ts')).defineInit,
  },
  {
    name: 'keys',
    summary: 'create, list, rotate and revoke API keys',
  },
  {
    name: 'logs',
    summary: 'search the audit log',
    load: async () => (await import('./logs.ts')).defineLogs,
  },
  {
    name: 'mcp',
    summary: 'run the MCP server or the MCP proxy',
    load: async () => (await import('./mcp.ts')).defineMcp,
  },
  {
    name: 'plugins',
    summary: 'list and check plug-ins',
    load: async () => (await import('./plugins.ts')).definePlugins,
  },
  {
    name: 'policy',
    summary: 'evaluate, test, lint, replay, explain and reload policies',
    load: async () => (await import('./policy.ts')).definePolicy,
  },
  {
    name: 'replay',
    summary: 'judge the past calls in the transcripts of coding agents',
    load: async () => (await import('./replay.ts')).defineReplay,
  },
  {
    name: 'restore',
    summary: 'restore a backup as the state of a service',
    load: async () => (await import('./backup.ts')).defineRestore,
  },
  {
    name: 'scan',
    summary: 'decide on a text, a file or standard input',
    load: async () => (await import('./scan.ts')).defineScan,
  },
  {
    name: 'serve',
    summary: 'start the HTTP service',
    load: async () => (await import('./serve.ts')).defineServe,
  },
  {
    name: 'sessions',
    summary: 'clear the taint tags of a session',
    load: async () => (await import('./sessions.ts')).defineSessions,
  },
  {
    name: 'setup',
    summary: 'guard the coding agents on this machine, or a framework',
    load: async () => (await import('./setup.ts')).defineSetup,
  },
  {
    name: 'skills',
    summary: 'add, remove, list and search policy packs',
    load: async () => (await import('./skills.ts')).defineSkills,
  },
  {
    name: 'status',
    summary: 'show whether a service runs, and with which policy',
    load: async () => (await import('./status.ts')).defineStatus,
  },
  {
    name: 'templates',
    summary: 'list, show, search and install policy templates',
    load: async () => (await import('./templates.ts')).defineTemplates,
  },
  {
    name: 'tenants',
    summary: 'create tenants, and restore earlier versions of their policies',
  },
  {
    name: 'token',
    summary: 'show, rotate and create credentials',
    load: async () => (await import('./token.ts')).defineToken,
  },
  {
    name: 'users',
    summary: 'manage the users who sign in to the console',
  },
  {
    name: 'validate',
    summary: 'check the configuration and every document it names',
    load: async () => (await import('./validate.ts')).defineValidate,
  },
];
