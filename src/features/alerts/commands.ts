import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import type { Static } from 'typebox';
import { SEVERITIES } from '../../core/types/index.ts';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { formatTable } from '../../operations/cli-kit/format-table.ts';
import {
  addExamples,
  buildConfigOption,
  buildJsonOption,
  collectValues,
  parseWholeNumber,
} from '../../operations/cli-kit/options.ts';
import { printJson, printLine, type Terminal } from '../../operations/cli-kit/terminal.ts';
import { alertsDeliveries, alertsTest } from './delivery-operations.ts';
import type { AlertRuleInput } from './rule.ts';
import { alertRulesSave } from './rule-operations.ts';
import { ALERT_GROUP_FIELDS, ALERT_SOURCES, type AlertGroupField } from './rule-schema.ts';

/** Defines the commands of alerts that do more than call one operation. The others are derived. */
export function defineAlerts(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command.description(
    'Manage the rules that raise alerts, the alerts themselves and their delivery to channels. Channels are in `alerts.channels` of the configuration.',
  );
  defineAdd(command, terminal, ports);
  defineTest(command, terminal, ports);
  addExamples(command, [
    ['customshouse alerts list', 'the rules'],
    ['customshouse alerts add secrets-blocked --name "Secrets were blocked" --threshold 5', ''],
    ['customshouse alerts test secrets-blocked', 'send a test message'],
    ['customshouse alerts history --status firing', ''],
  ]);
}

interface CommonOptions {
  readonly config?: string;
  readonly json?: true;
}

interface AddOptions extends CommonOptions {
  readonly ruleId?: string;
  readonly name: string;
  readonly source: NonNullable<AlertRuleInput['source']>;
  readonly threshold: number;
  readonly window: string;
  readonly after?: string;
  readonly groupBy?: readonly AlertGroupField[];
  readonly severity: NonNullable<AlertRuleInput['severity']>;
  readonly cooldown: string;
  readonly channel?: readonly string[];
  readonly tenant?: string;
  readonly disabled?: true;
  readonly quiet?: string;
  readonly timeZone?: string;
}

/** The flags that become lists of `filters`. */
const FILTERS = [
  ['boundary', 'boundaries', 'input, output, action or memory'],
  ['action', 'actions', 'action of the rule that decided, such as block'],
  ['policy', 'policies', 'policy rule that decided; `*` matches any text'],
  ['agent', 'agents', 'agent'],
  ['tag', 'tags', 'data tag, with its descendants'],
  ['tool', 'tools', 'tool'],
  ['event-tenant', 'tenants', 'tenant of the events, for a rule of all tenants'],
  ['finding-severity', 'severities', 'severity of what was found'],
] as const;

function defineAdd(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const add = command
    .command('add')
    .summary('add an alert rule, or replace it')
    .description('Add an alert rule, or replace the one with this ID. It works within a second.')
    .argument('[rule_id]', 'ID of the rule: lower-case letters, digits and . _ -')
    .option('--rule-id <id>', 'the same as the argument')
    .requiredOption('--name <name>', 'name for people')
    .addOption(
      new Option('--source <source>', 'what is counted').choices(ALERT_SOURCES).default('violations'),
    )
    .addOption(
      new Option('--threshold <n>', 'fires when this many were counted in the window')
        .argParser(parseWholeNumber(1, 10_000))
        .default(5),
    )
    .option('--window <duration>', 'the sliding window, 10s to 7d', '15m')
    .option('--after <duration>', 'how long an approval waits or a hook is silent before it counts')
    .addOption(
      new Option(
        '--group-by <field>',
        `count apart for each value, repeatable: ${ALERT_GROUP_FIELDS.join(', ')}`,
      ).argParser(collectValues),
    )
    .addOption(
      new Option('--severity <severity>', 'severity of the alert').choices(SEVERITIES).default('high'),
    )
    .option('--cooldown <duration>', 'a group does not fire again within this time', '1m')
    .addOption(new Option('--channel <name>', 'channel, repeatable (default: file)').argParser(collectValues))
    .option('--tenant <id>', 'the tenant of the rule (default: all tenants)')
    .option('--quiet <from-to>', 'quiet hours of every day, such as 22:00-07:00')
    .option('--time-zone <name>', 'time zone of the quiet hours', 'UTC')
    .option('--disabled', 'save the rule without evaluating it');
  for (const [flag, , what] of FILTERS)
    add.addOption(new Option(`--${flag} <value>`, `only this ${what}, repeatable`).argParser(collectValues));
  add
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action(async (ruleId: string | undefined, options: AddOptions) => {
      const input = readRule(ruleId ?? options.ruleId, options, add.opts());
      const saved = await ports.runOperation(terminal, options.config, alertRulesSave, input);
      if (options.json) printJson(terminal, saved);
      else printLine(terminal, `saved ${saved.rule_id}`);
    });
  addExamples(add, [
    ['customshouse alerts add secrets-blocked --name "Secrets were blocked" --tag secret --action block', ''],
    [
      'customshouse alerts add approvals --name "Approvals wait" --source approvals_waiting --threshold 1',
      '',
    ],
    [
      'customshouse alerts add nightly --name "Injection" --tag injection --quiet 22:00-07:00 --channel chat',
      '',
    ],
  ]);
}

function readRule(
  ruleId: string | undefined,
  options: AddOptions,
  flags: Readonly<Record<string, unknown>>,
): AlertRuleInput {
  if (ruleId === undefined)
    throw new CommandFailure(
      EXIT.usage,
      'invalid_request',
      'Name the rule: `customshouse alerts add RULE_ID --name NAME`.',
    );
  const filters = FILTERS.flatMap(([flag, member]) => {
    const values = flags[flag.replace(/-(\w)/g, (_whole, letter: string) => letter.toUpperCase())];
    return values === undefined ? [] : [[member, values] as const];
  });
  return {
    rule_id: ruleId.toLowerCase(),
    name: options.name,
    source: options.source,
    threshold: options.threshold,
    window: options.window,
    severity: options.severity,
    cooldown: options.cooldown,
    enabled: options.disabled !== true,
    ...(options.after !== undefined && { after: options.after }),
    ...(options.groupBy !== undefined && { group_by: [...options.groupBy] }),
    ...(options.channel !== undefined && { channels: [...options.channel] }),
    ...(options.tenant !== undefined && { tenant_id: options.tenant }),
    ...(options.quiet !== undefined && { schedule: readSchedule(options.quiet, options.timeZone ?? 'UTC') }),
    ...(filters.length > 0 && { filters: Object.fromEntries(filters) }),
  };
}

function readSchedule(quiet: string, timeZone: string): NonNullable<AlertRuleInput['schedule']> {
  const [, from, to] = /^(\d\d:\d\d)-(\d\d:\d\d)$/.exec(quiet) ?? [];
  if (from === undefined || to === undefined)
    throw new CommandFailure(EXIT.usage, 'invalid_request', '`--quiet` is a period such as `22:00-07:00`.');
  return { time_zone: timeZone, quiet_hours: [{ from, to }] };
}

interface TestOptions extends CommonOptions {
  readonly channel?: readonly string[];
  readonly wait: number;
}

type Delivery = Static<typeof alertsDeliveries.output>['deliveries'][number];

const LOOK_MS = 250;

function defineTest(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const test = command
    .command('test')
    .summary('send a test message of an alert rule')
    .description(
      'Send a test message to the channels of a rule, and wait for the outcome. Needs a running service. Exits with 1 if a channel did not take it.',
    )
    .argument('<rule_id>', 'the rule')
    .addOption(new Option('--channel <name>', 'only this channel, repeatable').argParser(collectValues))
    .addOption(
      new Option('--wait <seconds>', 'how long to wait for the outcome')
        .argParser(parseWholeNumber(0, 300))
        .default(15),
    )
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action(async (ruleId: string, options: TestOptions) => {
      const deliveries = await sendTest(ruleId, options, terminal, ports);
      if (options.json) printJson(terminal, { rule_id: ruleId, deliveries });
      else
        for (const line of formatTable(
          ['CHANNEL', 'STATUS', 'REASON'],
          deliveries.map(({ channel, status, reason }) => [channel, status, reason ?? '']),
        ))
          printLine(terminal, line);
      if (deliveries.some(({ status }) => status !== 'sent'))
        throw new CommandFailure(
          EXIT.no,
          'upstream_failed',
          'Not every channel took the message. `customshouse alerts deliveries` shows further attempts.',
        );
    });
  addExamples(test, [
    ['customshouse alerts test secrets-blocked', ''],
    ['customshouse alerts test secrets-blocked --channel chat', 'one channel'],
  ]);
}

/** Sends a test and returns the deliveries when all have ended, or when the time is over. */
async function sendTest(
  ruleId: string,
  { config, channel, wait }: TestOptions,
  terminal: Terminal,
  { runOperation }: CommandPorts,
): Promise<readonly Delivery[]> {
  const input = { rule_id: ruleId, ...(channel !== undefined && { channels: channel }) };
  const { deliveries } = await runOperation(terminal, config, alertsTest, input);
  const look = () =>
    Promise.all(
      deliveries.map(async ({ delivery_id }) => {
        const query = { delivery_id, limit: 1 };
        const found = await runOperation(terminal, config, alertsDeliveries, query);
        return found.deliveries[0]!;
      }),
    );
  const until = performance.now() + wait * 1_000;
  let found = await look();
  while (
    found.some(({ status, reason }) => status === 'pending' && reason === null) &&
    performance.now() < until
  ) {
    await sleep(LOOK_MS);
    found = await look();
  }
  return found;
}
