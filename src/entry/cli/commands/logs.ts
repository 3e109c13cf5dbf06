import { type Command, Option } from 'commander';
import { ACTIONS, BOUNDARIES, DECISIONS, PHASES } from '../../../core/types/index.ts';
import type { CommandPorts } from '../../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { explainNoEvents, findEventPage, findNewestEvents } from '../../../operations/cli-kit/find-events.ts';
import { formatEventDetail, formatEventLine } from '../../../operations/cli-kit/format-event.ts';
import { addExamples, buildConfigOption, parseWholeNumber } from '../../../operations/cli-kit/options.ts';
import { printJson, printLine, printNotice, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import type { AuditEvent, AuditFilter } from '../../../runtime/audit/types.ts';
import { followEvents } from '../follow-events.ts';

const TAIL_DEFAULT = 20;
const TAIL_MAX = 10_000;

/** The options in commander's form: one per filter, and the output format. */
interface LogsOptions {
  readonly boundary?: string;
  readonly action?: string;
  readonly decision?: string;
  readonly policy?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly dataTag?: string;
  readonly phase?: string;
  readonly session?: string;
  readonly eventId?: string;
  readonly sourceAgent?: string;
  readonly destinationAgent?: string;
  readonly tenant?: string;
  readonly caller?: string;
  readonly user?: string;
  readonly metadataKey?: string;
  readonly metadataValue?: string;
  readonly monitored?: string | true;
  readonly since?: string;
  readonly until?: string;
  readonly last?: string;
  readonly tail: number;
  readonly detail?: string;
  readonly follow?: true;
  readonly oldestFirst?: true;
  readonly config?: string;
  readonly json?: true;
}

export function defineLogs(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command
    .description(
      'Read the audit log: the newest events that match every filter. Times are ISO 8601 or durations before now (30s, 15m, 24h, 7d, 2w). Ends with 0 when there is nothing to list.',
    )
    .addOption(new Option('-b, --boundary <boundary>', 'where').choices([...BOUNDARIES, 'memory']))
    .addOption(new Option('--action <action>', 'action of the rule').choices(ACTIONS))
    .addOption(new Option('--decision <decision>', 'what was decided').choices(DECISIONS))
    .option('--policy <name>', 'the rule that decided')
    .option('--agent <id>', 'the agent')
    .option('--tool <name>', 'the tool')
    .option('--data-tag <tag>', 'a tag or one of its descendants')
    .option('--phase <phase>', `${PHASES.join(', ')} and other phases`)
    .option('--session <id>', 'the session')
    .option('--event-id <id>', 'one event')
    .option('--source-agent <id>', 'the sender')
    .option('--destination-agent <id>', 'the receiver')
    .option('--tenant <id>', 'the tenant')
    .option('--caller <id>', 'the caller, such as `key:ci` or `cli:ann`')
    .option('--user <id>', 'the proved person for whom the agent acted')
    .option('--metadata-key <key>', 'the metadata has this key')
    .option('--metadata-value <value>', 'this key has this value in the metadata')
    .option('--monitored [rule]', 'what a rule in monitor mode would have done; any rule, or this one')
    .option('--since <time>', 'the beginning: ISO 8601, or a duration before now')
    .option('--until <time>', 'the end: ISO 8601, or a duration before now')
    .option('--last <duration>', 'instead of --since and --until')
    .option(
      '-n, --tail <count>',
      'number of events, the newest ones',
      parseWholeNumber(1, TAIL_MAX),
      TAIL_DEFAULT,
    )
    .option('-f, --follow', 'continue with new events until Ctrl-C')
    .option('--detail <event_id>', 'show every field of one event')
    .addOption(new Option('--newest-first', 'newest on top (default)').conflicts('oldestFirst'))
    .option('--oldest-first', 'newest at the end (default with --follow)')
    .addOption(buildConfigOption())
    .addOption(new Option('--json', 'write one JSON object a line'))
    .action((options: LogsOptions) => runLogs(options, terminal, ports));
  addExamples(command, [
    ['customshouse logs --decision block --last 24h', 'what was blocked today'],
    ['customshouse logs --data-tag personal --agent support-bot', 'personal data of one agent'],
    [
      'customshouse logs --monitored cards-stay-here --last 7d',
      'what a rule in monitor mode would have done',
    ],
    ['customshouse logs --follow --json | jq .policy_name', 'follow decisions live'],
    ['customshouse logs --detail evt_0123456789abcdef01234567', 'one event'],
  ]);
}

async function runLogs(options: LogsOptions, terminal: Terminal, ports: CommandPorts): Promise<void> {
  const filter = getFilter(options);
  if (options.metadataValue !== undefined && options.metadataKey === undefined) {
    throw new CommandFailure(EXIT.usage, 'usage', '--metadata-value needs --metadata-key beside it.');
  }
  if (options.detail !== undefined) return printEventDetail(options.detail, filter, options, terminal, ports);
  if (options.follow)
    return followEvents(terminal, options.config, filter, options.tail, ports, (event) =>
      printEvent(event, options, terminal),
    );
  const page = await findEventPage(terminal, options.config, { ...filter, limit: options.tail }, ports);
  const { events, events_searched } = page;
  for (const event of options.oldestFirst ? events.toReversed() : events)
    printEvent(event, options, terminal);
  if (events.length > 0) return;
  const sentence = await explainNoEvents(options, terminal, ports, events_searched);
  // Programs parse each line of the output as an event, so for them the output stays empty.
  if (options.json) printNotice(terminal, sentence);
  else printLine(terminal, sentence);
}

async function printEventDetail(
  eventId: string,
  filter: AuditFilter,
  options: LogsOptions,
  terminal: Terminal,
  ports: CommandPorts,
): Promise<void> {
  const wanted = { ...filter, event_id: eventId, limit: 1 };
  const [event] = await findNewestEvents(terminal, options.config, wanted, ports);
  if (event === undefined) {
    throw new CommandFailure(EXIT.no, 'not_found', 'There is no such event.', {
      hint: 'Its file may have been deleted by age (`audit.max_age_days`), or it is in another state folder (--config).',
    });
  }
  if (options.json) printJson(terminal, event);
  else for (const line of formatEventDetail(event, terminal)) printLine(terminal, line);
}

function printEvent(event: AuditEvent, options: LogsOptions, terminal: Terminal): void {
  if (options.json) printJson(terminal, event);
  else printLine(terminal, formatEventLine(event, terminal));
}

/** Converts the options to filters on the audit event's fields. */
function getFilter(options: LogsOptions): AuditFilter {
  const named: Record<string, string | undefined> = {
    boundary: options.boundary,
    action: options.action,
    decision: options.decision,
    policy_name: options.policy,
    agent_id: options.agent,
    tool_name: options.tool,
    data_tag: options.dataTag,
    phase: options.phase,
    session_id: options.session,
    event_id: options.eventId,
    source_agent_id: options.sourceAgent,
    destination_agent_id: options.destinationAgent,
    tenant_id: options.tenant,
    caller_id: options.caller,
    user_id: options.user,
    metadata_key: options.metadataKey,
    metadata_value: options.metadataValue,
    monitored: options.monitored === true ? '*' : options.monitored,
    since: options.since,
    until: options.until,
    last: options.last,
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}
