import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Static } from 'typebox';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { formatTable } from '../../operations/cli-kit/format-table.ts';
import {
  addExamples,
  buildConfigOption,
  buildJsonOption,
  collectValues,
  parseWholeNumber,
} from '../../operations/cli-kit/options.ts';
import { printJson, printLine, printNotice, type Terminal } from '../../operations/cli-kit/terminal.ts';
import { capabilitiesIssue, capabilitiesList } from './operations.ts';

const EXAMPLE_ID = 'cap_0123456789abcdef01234567';

/** Defines the `capabilities` commands that do more than call one operation. The others are derived. */
export function defineCapabilities(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command.description(
    'Issue and revoke tokens that give an agent one tool and some secrets for a limited time. Needs a running service.',
  );
  defineIssue(command, terminal, ports);
  defineList(command, terminal, ports);
  addExamples(command, [
    ["customshouse capabilities issue --agent support-bot --tool send_email --secret-key 'MAIL_*'", ''],
    ['customshouse capabilities list --status active', 'active tokens'],
    [`customshouse capabilities revoke ${EXAMPLE_ID}`, 'takes effect at once in all workers'],
  ]);
}

interface CommonOptions {
  readonly config?: string;
  readonly json?: true;
}

interface IssueOptions extends CommonOptions {
  readonly agent: string;
  readonly tool: string;
  readonly action?: readonly string[];
  readonly secretKey?: readonly string[];
  readonly session?: string;
  readonly tenant?: string;
  readonly ttl?: string;
}

function defineIssue(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const issue = command
    .command('issue')
    .summary('issue a token')
    .description(
      'Issue a token. It is printed once, on standard output, and not stored. In names of tools, actions and secrets, `*` matches any run of characters.',
    )
    .requiredOption('--agent <id>', 'the agent that may use it')
    .requiredOption('--tool <name>', 'the tool of the token')
    .option('--action <name>', 'an allowed action on the tool (default: `invoke`)', collectValues)
    .option('--secret-key <name>', 'a secret that may be resolved (default: none)', collectValues)
    .option('--session <id>', 'the only session in which the token is valid (default: any)')
    .option('--tenant <id>', 'the tenant')
    .option('--ttl <duration>', 'how long it lives, as `10m`', parseLifetime)
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: IssueOptions) => issueToken(options, terminal, ports));
  addExamples(issue, [
    ['customshouse capabilities issue --agent support-bot --tool send_email', 'to call one tool'],
    [
      "customshouse capabilities issue --agent deploy --tool deploy --secret-key 'prod/*' --ttl 5m",
      'with secrets',
    ],
  ]);
}

function parseLifetime(text: string): string {
  if (/^[1-9][0-9]{0,4}[smhdw]$/.test(text)) return text;
  throw new InvalidArgumentError('Give a duration: a whole number and one of s, m, h, d, w.');
}

async function issueToken(options: IssueOptions, terminal: Terminal, ports: CommandPorts): Promise<void> {
  const made = await ports.runOperation(terminal, options.config, capabilitiesIssue, {
    agent_id: options.agent,
    scope: {
      tool_name: options.tool,
      ...(options.action !== undefined && { actions: options.action }),
      ...(options.secretKey !== undefined && { secret_keys: options.secretKey }),
    },
    ...(options.session !== undefined && { session_id: options.session }),
    ...(options.tenant !== undefined && { tenant_id: options.tenant }),
    ...(options.ttl !== undefined && { ttl: options.ttl }),
  });
  if (options.json) {
    printJson(terminal, made);
    return;
  }
  printNotice(terminal, `The token ${made.token_id}, until ${made.expires_at}. It is shown only once:`);
  printLine(terminal, made.token);
}

const STATUSES = ['active', 'expired', 'revoked', 'all'] as const;

interface ListOptions extends CommonOptions {
  readonly status: (typeof STATUSES)[number];
  readonly agent?: string;
  readonly tenant?: string;
  readonly limit: number;
}

function defineList(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const list = command
    .command('list')
    .summary('list tokens, newest first')
    .description('List tokens, newest first. Ends with 0 if there are none.')
    .addOption(new Option('--status <status>', 'in which state').choices(STATUSES).default('active'))
    .option('--agent <id>', 'the agent')
    .option('--tenant <id>', 'the tenant')
    .option('--limit <count>', 'maximum number', parseWholeNumber(1, 1_000), 50)
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: ListOptions) => listTokens(options, terminal, ports));
  addExamples(list, [
    ['customshouse capabilities list', 'active tokens'],
    ['customshouse capabilities list --status all --agent support-bot', 'all of one agent'],
  ]);
}

async function listTokens(options: ListOptions, terminal: Terminal, ports: CommandPorts): Promise<void> {
  const reply = await ports.runOperation(terminal, options.config, capabilitiesList, {
    ...(options.status !== 'all' && { status: options.status }),
    ...(options.agent !== undefined && { agent_id: options.agent }),
    ...(options.tenant !== undefined && { tenant_id: options.tenant }),
    limit: options.limit,
  });
  if (options.json) printJson(terminal, reply);
  else if (reply.capabilities.length === 0) printLine(terminal, 'There are no such tokens.');
  else for (const line of formatTokens(reply.capabilities)) printLine(terminal, line);
}

function formatTokens(records: Static<typeof capabilitiesList.output>['capabilities']): string[] {
  return formatTable(
    ['TOKEN', 'STATUS', 'AGENT', 'TOOL', 'USES', 'EXPIRES', 'SECRETS'],
    records.map((one) => [
      one.token_id,
      one.status,
      one.agent_id,
      one.scope.tool_name,
      `${one.uses}`,
      one.expires_at,
      one.scope.secret_keys.join(' '),
    ]),
  );
}
