import { type Command, Option } from 'commander';
import type { Static } from 'typebox';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { formatAction } from '../../operations/cli-kit/format-action.ts';
import { formatTable } from '../../operations/cli-kit/format-table.ts';
import {
  addExamples,
  buildConfigOption,
  buildJsonOption,
  parseWholeNumber,
} from '../../operations/cli-kit/options.ts';
import {
  escapeControls,
  paintText,
  printJson,
  printLine,
  type Terminal,
} from '../../operations/cli-kit/terminal.ts';
import { APPROVAL_STATUSES, type ApprovalStatus } from '../../runtime/enforcement/approval.ts';
import { approvalsList, approvalsShow } from './operations.ts';

/** Defines the `approvals` commands that do more than call one operation. The others are derived. */
export function defineApprovals(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command.description(
    'List and decide approval requests of agents. Works with and without a running service.',
  );
  defineList(command, terminal, ports);
  defineShow(command, terminal, ports);
  addExamples(command, [
    ['customshouse approvals list', 'what waits'],
    ['customshouse approvals show apr_0123456789abcdef01234567', 'what exactly it is'],
    ['customshouse approvals approve apr_0123456789abcdef01234567', 'agree'],
  ]);
}

type ApprovalRecord = Static<typeof approvalsShow.output>;

interface CommonOptions {
  readonly config?: string;
  readonly json?: true;
}

interface ListOptions extends CommonOptions {
  readonly status: ApprovalStatus | 'all';
  readonly agent?: string;
  readonly tool?: string;
  readonly tenant?: string;
  readonly limit: number;
}

function defineList(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const list = command
    .command('list')
    .summary('list requests, newest first')
    .description('List requests, newest first. Ends with 0 if there are none.')
    .addOption(
      new Option('--status <status>', 'in which state')
        .choices([...APPROVAL_STATUSES, 'all'])
        .default('pending'),
    )
    .option('--agent <id>', 'the agent')
    .option('--tool <name>', 'the tool')
    .option('--tenant <id>', 'the tenant')
    .option('--limit <count>', 'maximum number', parseWholeNumber(1, 1_000), 50)
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: ListOptions) => listRequests(options, terminal, ports));
  addExamples(list, [
    ['customshouse approvals list', 'what waits'],
    ['customshouse approvals list --status all --agent billing-bot', 'all that one agent asked for'],
    ["customshouse approvals list --json | jq -r '.approvals[].request_id'", 'for a script'],
  ]);
}

async function listRequests(options: ListOptions, terminal: Terminal, ports: CommandPorts): Promise<void> {
  const reply = await ports.runOperation(terminal, options.config, approvalsList, {
    ...(options.status !== 'all' && { status: options.status }),
    ...(options.agent !== undefined && { agent_id: options.agent }),
    ...(options.tool !== undefined && { tool: options.tool }),
    ...(options.tenant !== undefined && { tenant_id: options.tenant }),
    limit: options.limit,
  });
  if (options.json) printJson(terminal, reply);
  else if (reply.approvals.length === 0) printLine(terminal, 'There are no such requests.');
  else printRequests(reply.approvals, terminal);
}

function printRequests(requests: readonly ApprovalRecord[], terminal: Terminal): void {
  const head = ['REQUEST', 'STATUS', 'AGENT', 'TOOL', 'RULE', 'EXPIRES', 'ARGUMENTS'];
  const rows = requests.map((one) => [
    one.request_id,
    one.status,
    one.agent_id,
    one.tool ?? one.boundary,
    one.rule,
    one.expires_at,
    clipArguments(one),
  ]);
  for (const line of formatTable(head, rows)) printLine(terminal, line);
}

const CLIPPED_CHARACTERS = 60;

/** Returns the start of the arguments, with a mark if they are cut. */
function clipArguments({ arguments: text, arguments_truncated }: ApprovalRecord): string {
  const isLong = text.length > CLIPPED_CHARACTERS || arguments_truncated;
  return isLong ? `${text.slice(0, CLIPPED_CHARACTERS)} …` : text;
}

function defineShow(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const show = command
    .command('show <request_id>')
    .summary('show one request')
    .description('Show all details of one request. Secrets and personal data in its arguments are masked.')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action(async (requestId: string, options: CommonOptions) => {
      const one = await ports.runOperation(terminal, options.config, approvalsShow, {
        request_id: requestId,
      });
      if (options.json) printJson(terminal, one);
      else printRequest(one, terminal);
    });
  addExamples(show, [['customshouse approvals show apr_0123456789abcdef01234567', '']]);
}

const COLOURS = {
  pending: 'yellow',
  approved: 'green',
  consumed: 'green',
  denied: 'red',
  expired: 'dim',
  cancelled: 'dim',
} as const;

function printRequest(one: ApprovalRecord, terminal: Terminal): void {
  printLine(
    terminal,
    `${paintText(terminal, ['bold', COLOURS[one.status]], one.status)}  ${escapeControls(one.request_id)}`,
  );
  for (const [name, value] of listFacts(one)) {
    const shown = name === 'arguments' ? paintArguments(one, terminal) : escapeControls(value ?? '');
    if (shown !== '') printLine(terminal, `  ${paintText(terminal, 'dim', name.padEnd(12))} ${shown}`);
  }
  if (!one.arguments_truncated) return;
  const sentence = `Only the beginning of the arguments is shown: they have ${one.arguments_bytes} bytes. Do not approve what you cannot see.`;
  printLine(terminal, paintText(terminal, ['bold', 'yellow'], sentence));
}

/** Returns the arguments with their dangerous parts in red. A cut or shortened call has them at other places. */
function paintArguments(one: ApprovalRecord, terminal: Terminal): string {
  const before = `${one.tool} `;
  if (one.action_shown !== before + one.arguments) return escapeControls(one.arguments);
  const marks = one.action_marks.map(([start, end]) => [start - before.length, end - before.length] as const);
  return formatAction(one.arguments, marks, terminal);
}

function listFacts(one: ApprovalRecord): [name: string, value: string | null][] {
  return [
    ['tool', one.tool],
    ['arguments', one.arguments],
    ['agent', one.agent_id],
    ['acts for', one.source_agent_id === one.agent_id ? null : one.source_agent_id],
    ['session', one.session_id],
    ['tenant', one.tenant_id],
    ['rule', one.rules.join(', ')],
    ['reason', one.reason],
    ...(one.origins ?? []).map((origin): [string, string] => ['from where', origin.sentence]),
    ['data tags', one.data_tags.join(', ')],
    ['asked by', `${one.requested_by} at ${one.requested_at}`],
    ['expires', one.expires_at],
    ['needs', one.min_approvals === 1 ? null : `${one.min_approvals} people`],
    ...one.votes.map((vote): [string, string] => [
      vote.vote === 'approve' ? 'approved' : 'denied',
      formatVote(vote),
    ]),
    ['used', one.consumed_at],
    ['grant', one.grant_id],
    ...one.grants_proposed
      .slice(1)
      .map(({ scope, sentence, uses_max, ttl }): [string, string] => [
        '--grant',
        `${scope}: ${sentence} ${uses_max} uses, ${ttl}.`,
      ]),
    ['proposal', one.rule_proposed ? `customshouse approvals proposal ${one.request_id}` : null],
  ];
}

function formatVote({ caller_id, approver, comment, voted_at }: ApprovalRecord['votes'][number]): string {
  const who = approver === null ? caller_id : `${caller_id} as ${approver}`;
  return `${who} at ${voted_at}${comment === null ? '' : `: ${comment}`}`;
}
