import type { Command } from 'commander';
import type { Terminal } from '../terminal.ts';

/** Adds the options and the action of a command. */
export type DefineCommand = (command: Command, terminal: Terminal) => void;

/** A command in the list of all commands. Its file is imported when the command is used. */
export interface CommandEntry {
  readonly name: string;
  /** One line, without a full stop. */
  readonly summary: string;
  /** Absent if all subcommands are derived from operation records. */
  readonly load?: () => Promise<DefineCommand>;
}

/** All commands, in alphabetical order. */
export const commands: readonly CommandEntry[] = [
  {
    name: 'agents',
    summary: 'block an agent everywhere, and unblock it',
  },
  {
    name: 'alerts',
    summary: 'say that this version has no alerts',
    load: async () => (await import('./alerts.ts')).alerts,
  },
  {
    name: 'approvals',
    summary: 'list and decide approval requests',
    load: async () => (await import('./approvals.ts')).approvals,
  },
  {
    name: 'audit',
    summary: 'prove that the audit journal is whole',
    load: async () => (await import('./audit.ts')).audit,
  },
  {
    name: 'bench',
    summary: 'measure detection on labelled texts of your own',
    load: async () => (await import('./bench.ts')).bench,
  },
  {
    name: 'capabilities',
    summary: 'issue, list and revoke capability tokens of agents',
    load: async () => (await import('./capabilities.ts')).capabilities,
  },
  {
    name: 'completion',
    summary: 'print a completion script for a shell',
    load: async () => (await import('./completion.ts')).completion,
  },
  {
    name: 'config',
    summary: 'show the active settings and where each comes from',
    load: async () => (await import('./config.ts')).config,
  },
  {
    name: 'cost',
    summary: 'show what model calls cost and what is left of budgets',
    load: async () => (await import('./cost.ts')).cost,
  },
  {
    name: 'detectors',
    summary: 'list the built-in detectors, and describe one',
    load: async () => (await import('./detectors.ts')).detectors,
  },
  {
    name: 'doctor',
    summary: 'test the installed hooks of coding agents',
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'fingerprint',
    summary: 'add exceptions (allowlist entries) for single values',
    load: async () => (await import('./fingerprint.ts')).fingerprint,
  },
  {
    name: 'hook',
    summary: 'decide on one action of a coding agent (read from standard input)',
    load: async () => (await import('./hook.ts')).hook,
  },
  {
    name: 'init',
    summary: 'write a configuration and a first policy',
    load: async () => (await import('./init.ts')).init,
  },
  {
    name: 'intelligence',
    summary: 'ask the advisory layer (off unless configured)',
    load: async () => (await import('./intelligence.ts')).intelligence,
  },
  {
    name: 'logs',
    summary: 'search the audit log',
    load: async () => (await import('./logs.ts')).logs,
  },
  {
    name: 'mcp',
    summary: 'run the MCP server or the MCP proxy',
    load: async () => (await import('./mcp.ts')).mcp,
  },
  {
    name: 'observe',
    summary: 'show what agents and sessions did',
    load: async () => (await import('./observe.ts')).observe,
  },
  {
    name: 'plugins',
    summary: 'list and check plug-ins',
    load: async () => (await import('./plugins.ts')).plugins,
  },
  {
    name: 'policy',
    summary: 'evaluate, test, lint, replay, explain and reload policies',
    load: async () => (await import('./policy.ts')).policy,
  },
  {
    name: 'scan',
    summary: 'decide on a text, a file or standard input',
    load: async () => (await import('./scan.ts')).scan,
  },
  {
    name: 'secrets',
    summary: 'check whether the secret backend answers',
    load: async () => (await import('./secrets.ts')).secrets,
  },
  {
    name: 'serve',
    summary: 'start the HTTP service',
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'sessions',
    summary: 'clear the taint tags of a session',
    load: async () => (await import('./sessions.ts')).sessions,
  },
  {
    name: 'setup',
    summary: 'guard the coding agents on this machine, or a framework',
    load: async () => (await import('./setup.ts')).setup,
  },
  {
    name: 'skills',
    summary: 'add, remove, list and search policy packs',
    load: async () => (await import('./skills.ts')).skills,
  },
  {
    name: 'status',
    summary: 'show whether a service runs, and with which policy',
    load: async () => (await import('./status.ts')).status,
  },
  {
    name: 'templates',
    summary: 'list, show, search and install policy templates',
    load: async () => (await import('./templates.ts')).templates,
  },
  {
    name: 'token',
    summary: 'show, rotate and create credentials',
    load: async () => (await import('./token.ts')).token,
  },
  {
    name: 'validate',
    summary: 'check the configuration and every document it names',
    load: async () => (await import('./validate.ts')).validate,
  },
];
