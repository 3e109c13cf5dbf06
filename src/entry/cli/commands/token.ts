import { Argument, type Command, InvalidArgumentError } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import {
  addExamples,
  buildConfigOption,
  buildJsonOption,
  collectValues,
} from '../../../operations/cli-kit/options.ts';
import { printJson, printLine, printNotice, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import type { TokenKind } from '../../../runtime/access/tokens.ts';
import { OPERATOR_PERMISSIONS, PERMISSIONS } from '../../../runtime/config/permissions.ts';
import { loadCliConfig } from '../load-cli-config.ts';

interface TokenOptions {
  readonly config?: string;
  readonly json?: true;
}

export function defineToken(command: Command, terminal: Terminal): void {
  command.description(
    'Show, rotate and create credentials. The agent token lets programs on other machines send checks; the operator token allows decisions and changes. Both are in the state folder, readable by its owner only.',
  );
  const show = command
    .command('show')
    .summary('print a token')
    .description('Print a token.')
    .addArgument(createKindArgument())
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((kind: TokenKind, options: TokenOptions) => showToken(kind, options, terminal));
  addExamples(show, [
    ['curl -H "authorization: Bearer $(customshouse token show)" ...', 'from another machine'],
  ]);
  const rotate = command
    .command('rotate')
    .summary('replace a token')
    .description('Replace a token. The service refuses the old one after a second.')
    .addArgument(createKindArgument())
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((kind: TokenKind, options: TokenOptions) => rotateOne(kind, options, terminal));
  addExamples(rotate, [['customshouse token rotate operator', '']]);
  defineCreate(command, terminal);
  addExamples(command, [
    ['customshouse token show', 'the agent token'],
    ['customshouse token create ci --tenant acme --expires-in 90d', 'a separate key for one program'],
  ]);
}

function createKindArgument(): Argument {
  return new Argument('[kind]', 'which token').choices(['agent', 'operator']).default('agent');
}

async function showToken(kind: TokenKind, options: TokenOptions, terminal: Terminal): Promise<void> {
  const { readToken } = await import('../../../runtime/access/tokens.ts');
  const found = readToken((await loadCliConfig(terminal, options.config, 'leave')).state_dir, kind);
  if (found === null) {
    throw new CommandFailure(EXIT.no, 'not_found', `There is no ${kind} token yet.`, {
      hint: MADE_WHEN[kind],
    });
  }
  printToken(kind, found, options, terminal);
}

const MADE_WHEN: Readonly<Record<TokenKind, string>> = {
  agent:
    'The service creates one when it starts on an address that other machines can reach; `customshouse token rotate` creates one now.',
  operator: 'The service makes one at its first start; `customshouse token rotate operator` makes one now.',
};

async function rotateOne(kind: TokenKind, options: TokenOptions, terminal: Terminal): Promise<void> {
  const { rotateToken } = await import('../../../runtime/access/tokens.ts');
  const made = rotateToken((await loadCliConfig(terminal, options.config, 'leave')).state_dir, kind);
  printToken(kind, made, options, terminal);
}

function printToken(kind: TokenKind, found: string, options: TokenOptions, terminal: Terminal): void {
  if (options.json) printJson(terminal, { kind, token: found });
  else printLine(terminal, found);
}

interface CreateOptions extends TokenOptions {
  readonly tenant?: readonly string[];
  readonly agent?: readonly string[];
  readonly permission?: readonly string[];
  readonly expiresIn?: number;
}

function defineCreate(command: Command, terminal: Terminal): void {
  const create = command
    .command('create')
    .summary('create a key for one program')
    .description(
      'Create a key for one program. The key is printed once and stored nowhere; the configuration holds its hash.',
    )
    .argument('<id>', 'the ID of the key; the audit log shows it as `key:<id>`', parseKeyId)
    .option('--tenant <id>', 'a tenant that it may name (default: any)', collectValues)
    .option('--agent <id>', 'an agent that it may act for (default: any)', collectValues)
    .option('--permission <name>', `one of ${AGENT_PERMISSIONS.join(', ')}`, parsePermission)
    .option('--expires-in <days>', 'days until it expires, as `90d`', parseDays)
    .addOption(buildJsonOption())
    .action((id: string, options: CreateOptions) => createKey(id, options, terminal));
  addExamples(create, [
    ['customshouse token create ci', ''],
    ['customshouse token create support --agent support-bot --expires-in 90d', 'for one agent'],
  ]);
}

const AGENT_PERMISSIONS = PERMISSIONS.filter((name) => !OPERATOR_PERMISSIONS.includes(name));

function parseKeyId(text: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(text)) return text;
  throw new InvalidArgumentError('The id is 1 to 64 letters, digits, `.`, `_` or `-`.');
}

function parsePermission(text: string, before?: readonly string[]): readonly string[] {
  const all = collectValues(text, before);
  const unknown = all.find((name) => !(AGENT_PERMISSIONS as readonly string[]).includes(name));
  if (unknown === undefined) return all;
  throw new InvalidArgumentError(`A key's permissions are ${AGENT_PERMISSIONS.join(', ')}.`);
}

function parseDays(text: string): number {
  const count = Number(/^(\d{1,4})d$/.exec(text)?.[1] ?? 0);
  if (count >= 1) return count;
  throw new InvalidArgumentError('Give days, as `90d`.');
}

async function createKey(id: string, options: CreateOptions, terminal: Terminal): Promise<void> {
  const { createApiKey } = await import('../../../runtime/access/tokens.ts');
  const { key, entry } = createApiKey(id);
  const settings = {
    ...entry,
    ...(options.tenant !== undefined && { tenants: options.tenant }),
    ...(options.agent !== undefined && { agents: options.agent }),
    ...(options.permission !== undefined && { permissions: options.permission }),
    ...(options.expiresIn !== undefined && { expires_at: computeExpiry(options.expiresIn) }),
  };
  if (options.json) {
    printJson(terminal, { key, settings });
    return;
  }
  printNotice(terminal, 'The key; this is the only time that it is shown:');
  printLine(terminal, key);
  printNotice(terminal, '\nPut this in service.yaml, and restart the service:\n');
  printNotice(terminal, (await import('yaml')).stringify({ auth: { api_keys: [settings] } }));
}

function computeExpiry(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}
