import type { Command } from 'commander';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import {
  addExamples,
  buildConfigOption,
  buildJsonOption,
  collectValues,
  parseWholeNumber,
} from '../../operations/cli-kit/options.ts';
import { printJson, printLine, printNotice, type Terminal } from '../../operations/cli-kit/terminal.ts';
import { tasksCreate } from './operations.ts';
import type { TaskValue } from './types.ts';

/** Defines the `tasks` commands that do more than call one operation. The others are derived. */
export function defineTasks(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command.description(
    'Create and revoke tasks, which bound what one agent may do for one purpose. Needs a running service.',
  );
  defineCreate(command, terminal, ports);
  addExamples(command, [
    ['customshouse tasks create --agent support-bot --tool refund --sum refund.amount=500', ''],
    ['customshouse tasks list --status active', 'active tasks'],
    ['customshouse tasks revoke tsk_0123456789abcdef01234567', 'takes effect at once in all workers'],
  ]);
}

interface CreateOptions {
  readonly agent: string;
  readonly tool: readonly string[];
  readonly value?: readonly string[];
  readonly sum?: readonly string[];
  readonly calls?: number;
  readonly source?: readonly string[];
  readonly cost?: string;
  readonly user?: string;
  readonly tenant?: string;
  readonly ttl?: string;
  readonly config?: string;
  readonly json?: true;
}

function defineCreate(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const create = command
    .command('create')
    .summary('create a task')
    .description(
      'Create a task, and print its ID. A call that names it (`context.task_id`) must fit it and all rules. In names of tools, `*` matches any run of characters.',
    )
    .requiredOption('--agent <id>', 'the agent that may use it')
    .requiredOption('--tool <name>', 'an allowed tool; can be repeated', collectValues)
    .option(
      '--value <tool.argument=value>',
      'a value that the argument may have; can be repeated',
      collectValues,
    )
    .option('--sum <tool.argument=amount>', 'the largest sum of the argument over all calls', collectValues)
    .option(
      '--source <tool.argument=value>',
      'an argument of a call whose result may fill later arguments; can be repeated',
      collectValues,
    )
    .option('--cost <dollars>', 'US dollars that its model calls may cost, as `2.50`')
    .option('--calls <count>', 'calls that it allows (default: any number)', parseWholeNumber(1, 1_000_000))
    .option('--user <id>', 'the person whom each call must prove')
    .option('--tenant <id>', 'the tenant')
    .option('--ttl <duration>', 'how long it lives, as `30m` (default: `1h`)')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: CreateOptions) => createTask(options, terminal, ports));
  addExamples(create, [
    ['customshouse tasks create --agent support-bot --tool "tickets.*" --calls 20 --ttl 30m', ''],
    [
      'customshouse tasks create --agent mailer --tool send_email --value send_email.to=ada@example.com',
      'mail to one person alone',
    ],
  ]);
}

async function createTask(options: CreateOptions, terminal: Terminal, ports: CommandPorts): Promise<void> {
  const made = await ports.runOperation(terminal, options.config, tasksCreate, {
    agent_id: options.agent,
    tools: options.tool,
    ...(options.value !== undefined && { values: groupByPath(options.value) }),
    ...(options.source !== undefined && { sources: groupByPath(options.source) }),
    ...(options.sum !== undefined && { sums: Object.fromEntries(options.sum.map(splitAssignment)) }),
    ...(options.calls !== undefined && { calls_max: options.calls }),
    ...(options.cost !== undefined && { cost_max: options.cost }),
    ...(options.user !== undefined && { user_id: options.user }),
    ...(options.tenant !== undefined && { tenant_id: options.tenant }),
    ...(options.ttl !== undefined && { ttl: options.ttl }),
  });
  if (options.json) {
    printJson(terminal, made);
    return;
  }
  printNotice(terminal, `A task of ${made.agent_id}, until ${made.expires_at}:`);
  printLine(terminal, made.task_id);
}

function groupByPath(written: readonly string[]): Record<string, readonly TaskValue[]> {
  const byPath = Map.groupBy(written.map(splitAssignment), ([path]) => path);
  return Object.fromEntries(
    [...byPath].map(([path, each]) => [path, each.flatMap(([, value]) => listReadings(value))]),
  );
}

/** Returns a value as text and, if it is a number or a truth value in JSON, as that too: an argument may have either type. */
function listReadings(text: string): readonly TaskValue[] {
  return /^(?:true|false|null|-?\d{1,15}(?:\.\d{1,10})?)$/.test(text)
    ? [text, JSON.parse(text) as TaskValue]
    : [text];
}

/** Splits `tool.argument=value` at the first `=`. */
function splitAssignment(text: string): readonly [path: string, value: string] {
  const at = text.indexOf('=');
  if (at <= 0)
    throw new CommandFailure(
      EXIT.usage,
      'usage',
      '`--value`, `--source` and `--sum` have the form `tool.argument=value`.',
    );
  return [text.slice(0, at), text.slice(at + 1)];
}
