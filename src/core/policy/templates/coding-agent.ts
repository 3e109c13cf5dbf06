import type { PolicyPack } from './policy-pack.ts';

const SHELLS = [
  'Bash',
  'bash',
  'Shell',
  'shell',
  'PowerShell',
  'powershell',
  'run_shell_command',
  'run_command',
  'execute_command',
  'terminal',
];
/** Shells are not included, because a command that reads such a file is already a dangerous command. */
const READERS = [
  'Read',
  'read',
  'NotebookRead',
  'Grep',
  'grep',
  'view',
  'read_file',
  'read_many_files',
  'search_file_content',
  'grep_search',
  'mcp__*__read*',
];
/** The tags of destructive commands. */
const DESTRUCTION = [
  'dangerous.cloud',
  'dangerous.container',
  'dangerous.database',
  'dangerous.filesystem',
  'dangerous.git',
  'dangerous.infrastructure',
  'dangerous.kubernetes',
];

/**
 * A policy pack for coding agents. It has no rule about personal data: the built-in rules mask it in prompts and
 * answers and only flag it in tool calls and results, where a mask would break the file that is read or edited.
 */
export const codingAgent: PolicyPack = {
  name: 'coding-agent',
  description:
    'Keeps secrets out of prompts and commands and files of keys unread, stops dangerous commands, asks before destruction.',
  document: {
    version: 'v1alpha1',
    policies: [
      {
        name: 'coding-block-secrets',
        boundary: ['input', 'action'],
        data_tags: ['secret'],
        action: 'block',
        priority: 10,
        reason: 'Do not put a secret into a prompt, a command or a file edit; use an environment variable.',
        condition: { severity_min: 'high' },
      },
      {
        name: 'coding-redact-secrets-in-results',
        description: 'Tool results may contain secrets; the model sees them masked.',
        boundary: ['output', 'action'],
        data_tags: ['secret'],
        action: 'redact',
        priority: 210,
        reason: 'A secret in a result or an answer is masked.',
        condition: { phase: 'response', severity_min: 'high' },
      },
      {
        name: 'coding-block-credential-files',
        description: 'The name is enough, because the content of the file is not known before it is read.',
        boundary: 'action',
        data_tags: ['path.credential_file'],
        action: 'block',
        priority: 10,
        reason: 'This file holds credentials. Read them from environment variables.',
        condition: { tools: READERS, phase: 'request' },
      },
      {
        name: 'coding-approve-secret-stores',
        description:
          'A program can get its secrets without showing them: `op run`, `vault agent`, `sops exec-env`.',
        boundary: 'action',
        data_tags: ['path.secret_store'],
        action: 'require_approval',
        priority: 10,
        reason: 'The command shows a secret to the agent, so an operator approves it first.',
        approval: { ttl: '15m', min_approvals: 1 },
        condition: { phase: 'request' },
      },
      {
        name: 'coding-block-critical-commands',
        boundary: 'action',
        data_tags: ['dangerous'],
        action: 'block',
        priority: 5,
        reason: 'The pack coding-agent stops this command.',
        condition: { severity_min: 'critical' },
      },
      {
        name: 'coding-approve-destruction',
        description:
          'Deleting, overwriting or resetting what is not made again by itself. Below `medium` it is.',
        boundary: 'action',
        data_tags: DESTRUCTION,
        action: 'require_approval',
        priority: 7,
        reason: 'The command destroys something, so an operator approves it first.',
        approval: { ttl: '15m', min_approvals: 1 },
        condition: { severity_min: 'medium' },
      },
      {
        name: 'coding-approve-startup-files',
        description: 'Files that run later or decide who may log in, also if a tool for files writes them.',
        boundary: 'action',
        data_tags: ['dangerous.persistence'],
        action: 'require_approval',
        priority: 9,
        reason: 'The call changes what runs later or who may log in, so an operator approves it first.',
        approval: { ttl: '15m', min_approvals: 1 },
        condition: { severity_min: 'high', phase: 'request' },
      },
      {
        name: 'coding-approve-dangerous-commands',
        description: 'Installers from the network, rights of containers, accounts and services.',
        boundary: 'action',
        data_tags: ['dangerous'],
        action: 'require_approval',
        priority: 10,
        reason: 'An operator approves this command first.',
        approval: { ttl: '15m', min_approvals: 1 },
        condition: { tools: SHELLS, severity_min: 'medium' },
      },
    ],
  },
};
