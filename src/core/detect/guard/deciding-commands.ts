import { type Command, getProgramName } from '../shell/syntax.ts';

/**
 * Commands of this program that decide, hand out credentials, or loosen the guard. Only operators may run
 * them, never an agent. If `verbs` is empty, every form of the command counts.
 */
export interface DecidingCommand {
  readonly command: string;
  readonly verbs: readonly string[];
  /** Flags, one of which must be present; empty if none is needed. */
  readonly flags?: readonly string[];
  /** True if the command line refuses the command inside a coding agent. */
  readonly needs_operator: boolean;
}

export const DECIDING_COMMANDS: readonly DecidingCommand[] = [
  { command: 'allow', verbs: [], needs_operator: true },
  { command: 'approvals', verbs: ['approve', 'deny', 'proposal', 'revoke'], needs_operator: true },
  { command: 'token', verbs: ['show', 'rotate', 'create'], needs_operator: true },
  { command: 'fingerprint', verbs: ['add'], needs_operator: true },
  { command: 'skills', verbs: ['remove'], needs_operator: true },
  { command: 'skills', verbs: ['add'], needs_operator: false },
  { command: 'templates', verbs: ['install'], needs_operator: false },
  { command: 'setup', verbs: [], flags: ['--uninstall'], needs_operator: true },
  { command: 'setup', verbs: [], needs_operator: false },
  { command: 'sessions', verbs: ['reset'], needs_operator: true },
  { command: 'capabilities', verbs: ['issue', 'revoke'], needs_operator: true },
  { command: 'agents', verbs: ['block', 'unblock'], needs_operator: true },
  { command: 'mcp', verbs: ['approve', 'reject'], needs_operator: true },
  {
    command: 'users',
    verbs: ['list', 'add', 'role', 'enable', 'disable', 'reset', 'sign-out', 'unlock'],
    needs_operator: true,
  },
  { command: 'plugins', verbs: ['trust'], needs_operator: true },
  // A hook that is run by hand could state a person's words.
  { command: 'hook', verbs: [], needs_operator: false },
  { command: 'init', verbs: [], flags: ['--force'], needs_operator: false },
  { command: 'policy', verbs: ['reload'], needs_operator: false },
  { command: 'policy', verbs: ['rollback'], needs_operator: true },
  // Its file is a document of the policy.
  { command: 'policy', verbs: ['draft'], flags: ['--out'], needs_operator: false },
  {
    command: 'intelligence',
    verbs: ['auto-config', 'recommend', 'compliance', 'integrate'],
    flags: ['--apply'],
    needs_operator: true,
  },
  { command: 'intelligence', verbs: ['undo'], needs_operator: true },
  { command: 'keys', verbs: ['list', 'create', 'rotate', 'revoke'], needs_operator: true },
  { command: 'tenants', verbs: ['create', 'rollback'], needs_operator: true },
  {
    command: 'alerts',
    verbs: ['add', 'remove', 'test', 'silence', 'unsilence', 'ack', 'resolve', 'resend'],
    needs_operator: true,
  },
  { command: 'audit', verbs: ['hold', 'erase-actions'], needs_operator: true },
  // A copy has the operator token, and a restored state is what the service trusts.
  { command: 'backup', verbs: [], needs_operator: true },
  { command: 'restore', verbs: [], needs_operator: true },
];

/** The names of this program. */
const PROGRAM = /^(?:service|customshouse|agent-safety)$/;
/** The file of the program, as an argument of an interpreter. */
const PROGRAM_FILE =
  /(?:^|[/\\])(?:entry[/\\]cli[/\\](?:bin|main)\.[cm]?[jt]s|(?:customshouse|agent-safety)(?:(?:[/\\].*)?\.[cm]?js)?|bin[/\\]service)$/i;
const INTERPRETER = /^(?:node|nodejs|bun|deno|tsx|ts-node|run|sh|bash|zsh|dash)$/;
const RUNNER = /^(?:npx|bunx|pnpx|npm|pnpm|yarn|bun|corepack)$/;

/** Returns the words after this program's name; `null` if a command does not run it. */
export function findOwnArguments({ name, words, program }: Command): readonly string[] | null {
  const texts = words.map(({ text }) => text);
  if (PROGRAM.test(name.replace(/@[\w.^~-]+$/, '')) || PROGRAM_FILE.test(program)) return texts;
  const isRunner = RUNNER.test(name);
  if (!isRunner && !INTERPRETER.test(name)) return null;
  const at = texts.findIndex((text) =>
    isRunner ? PROGRAM.test(text.replace(/@[\w.^~-]+$/, '')) || PROGRAM_FILE.test(text) : isOwnFile(text),
  );
  return at < 0 ? null : texts.slice(at + 1);
}

function isOwnFile(text: string): boolean {
  return PROGRAM_FILE.test(text) || (/[/\\]/.test(text) && PROGRAM.test(getProgramName(text)));
}

/**
 * Returns whether a command line of this program, without the program's name, is a deciding command. Help and
 * dry runs are not.
 */
export function isDecidingCommand(words: readonly string[]): boolean {
  if (isHarmless(words)) return false;
  const command = words.find((word) => !word.startsWith('-'));
  return DECIDING_COMMANDS.some((each) => each.command === command && matchesCommand(each, words));
}

/** Returns whether the command line itself refuses this command inside a coding agent. */
export function requiresOperator(words: readonly string[]): boolean {
  const command = words.find((word) => !word.startsWith('-'));
  return DECIDING_COMMANDS.some(
    (each) => each.needs_operator && each.command === command && matchesCommand(each, words),
  );
}

function matchesCommand({ verbs, flags, command }: DecidingCommand, words: readonly string[]): boolean {
  const rest = words.slice(words.indexOf(command) + 1);
  if (flags !== undefined && !rest.some((word) => flags.includes(word.split('=', 1)[0]!))) return false;
  if (verbs.length === 0) return true;
  // `token` without a verb only prints its help.
  return rest.some((word) => verbs.includes(word));
}

/**
 * Returns whether the command only prints help or is a dry run. A flag that can be the value of another flag
 * does not count.
 */
function isHarmless(words: readonly string[]): boolean {
  return words.some(
    (word, at) =>
      /^(?:--help|-h|--dry-run)$/.test(word) &&
      (at === 0 || !/^-/.test(words[at - 1]!) || words[at - 1] === '--yes'),
  );
}

/** The one-time link of a user. It signs in the first caller who opens it. */
export const SIGN_IN_LINK = /svc_link/i;

/** Routes that decide or loosen protection, or with which people sign in. */
export const DECIDING_ROUTE =
  /\/v1\/(?:approvals\/(?:[^\s/?#"']{1,200}\/(?:approve|deny)|grants\/[^\s/?#"']{1,200}\/revoke)|dashboard\/approvals\/(?:[^\s/?#"']{1,200}\/approve|(?:[^\s/?#"']{1,200}\/)?deny)|policies\/reload|dashboard\/(?:tenants|policies|allowlist|keys|(?:skills|templates)\/(?:install|remove)|audit\/(?:holds|erase-actions)|(?:action|detection)\/try|alerts\/(?:rules|silences|test|history|deliveries))(?=$|[\s/?#"'])|mcp\/pins\/(?:approve|reject)|memory\/purge-expired|capabilities(?:\/[^\s/?#"']{1,200}\/revoke)?(?=$|[\s?#"'])|sessions\/[^\s/?#"']{1,200}\/reset|users(?:\/[^\s/?#"']{1,200}\/(?:role|enable|disable|reset|sign-out|unlock))?(?=$|[\s?#"'])|session\/(?:sign-(?:in|out)|second-factor|set-up|password|revoke|totp|passkeys?)(?=$|[\s/?#"'])|auth\/oidc\/(?:start|callback)|agents\/(?:un)?block(?=$|[\s?#"'])|agents\/[^\s/?#"']{1,200}\/(?:reset-session|block|unblock))(?![\w-])/i;
