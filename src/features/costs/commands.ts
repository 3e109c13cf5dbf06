import { type Command, Option } from 'commander';
import type { Static } from 'typebox';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { formatCount, formatTable } from '../../operations/cli-kit/format-table.ts';
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
import { checkBudget, dashboardCostBudgets } from './budget-operations.ts';
import {
  type CostLine,
  findPrices,
  formatBudgets,
  formatCostCsv,
  formatCostMarkdown,
  formatMoney,
} from './cost-report.ts';
import { dashboardCostReport, dashboardCostSummary } from './spending-operations.ts';

/** Defines `cost`. */
export function defineCost(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command.description(
    'Show the cost of calls to model providers, and the status of budgets. Works with and without a running service.',
  );
  defineSummary(command, terminal, ports);
  defineBudget(command, terminal, ports);
  defineReport(command, terminal, ports);
  definePrices(command, terminal, ports);
  addExamples(command, [
    ['customshouse cost summary', 'the last 30 days'],
    ['customshouse cost budget', 'status of the budgets'],
    ['customshouse cost report --format csv > costs.csv', 'line by line'],
  ]);
}

interface CommonOptions {
  readonly config?: string;
  readonly json?: true;
}

interface WhichOptions extends CommonOptions {
  readonly last: string;
  readonly tenant?: string;
  readonly agent?: string;
  readonly model?: string;
}

function withWhich(command: Command): Command {
  return command
    .option('--last <period>', 'days: 7d, 4w, today, this_month, all, 2026-01-01/2026-01-31', '30d')
    .option('--tenant <id>', 'one tenant')
    .option('--agent <id>', 'one agent')
    .option('--model <name>', 'one model')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption());
}

function getWhich({ last, tenant, agent, model }: WhichOptions): Record<string, string> {
  return {
    period: last,
    ...(tenant !== undefined && { tenant_id: tenant }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(model !== undefined && { model }),
  };
}

function defineSummary(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const summary = withWhich(command.command('summary').summary('show total spending'))
    .description('Show what was spent, and on what. Days are UTC.')
    .action(async (options: WhichOptions) => {
      const answer = await ports.runOperation(
        terminal,
        options.config,
        dashboardCostSummary,
        getWhich(options),
      );
      if (options.json) printJson(terminal, answer);
      else printSummary(answer, terminal);
    });
  addExamples(summary, [
    ['customshouse cost summary', 'the last 30 days'],
    ['customshouse cost summary --last today --agent planner', 'of one agent'],
    ['customshouse cost summary --json | jq .total_cost', 'for a script'],
  ]);
}

/** Maximum number of lines of each list in the output for people. */
const TOP = 10;

function printSummary(answer: Static<typeof dashboardCostSummary.output>, terminal: Terminal): void {
  const { calls, tokens, estimated_calls, assumed_calls } = answer;
  const head = `${formatMoney(answer.total_cost)} from ${answer.since} to ${answer.until}`;
  printLine(terminal, paintText(terminal, 'bold', head));
  printLine(terminal, `${formatCount(calls, 'call')}, ${tokens.input} tokens in, ${tokens.output} out`);
  if (estimated_calls > 0)
    printLine(
      terminal,
      `estimated, because the provider reported no usage: ${formatCount(estimated_calls, 'call')}`,
    );
  if (assumed_calls > 0)
    printLine(
      terminal,
      `at an assumed price: ${formatCount(assumed_calls, 'call')}; give their models one in \`cost.prices\``,
    );
  const lists = [
    ['MODEL', answer.by_model],
    ['AGENT', answer.by_agent],
    ['TENANT', answer.by_tenant],
  ] as const;
  for (const [name, costs = {}] of lists) {
    const rows = Object.entries(costs)
      .toSorted(([, a], [, b]) => b - a)
      .slice(0, TOP);
    if (rows.length === 0) continue;
    printLine(terminal);
    for (const line of formatTable(
      [name, 'COST'],
      rows.map(([key, value]) => [key, formatMoney(value)]),
    ))
      printLine(terminal, line);
  }
}

interface BudgetOptions extends CommonOptions {
  readonly tenant?: string;
  readonly agent?: string;
  readonly session?: string;
  readonly user?: string;
  readonly model?: string;
}

function defineBudget(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const budget = command
    .command('budget')
    .summary('show the status of the budgets')
    .description(
      'Show every budget with spending or reservations. With an agent, a session, a user or a model: the budgets of its calls. Ends with 1 if an enforced budget is used up.',
    )
    .option('--tenant <id>', 'one tenant')
    .option('--agent <id>', 'calls of this agent')
    .option('--session <id>', 'in this session')
    .option('--user <id>', 'for this user')
    .option('--model <name>', 'to this model')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: BudgetOptions) => showBudgets(options, terminal, ports));
  addExamples(budget, [
    ['customshouse cost budget', 'all'],
    ['customshouse cost budget --agent planner --user ann', 'what is left for one of them'],
  ]);
}

async function showBudgets(options: BudgetOptions, terminal: Terminal, ports: CommandPorts): Promise<void> {
  const { tenant, agent, session, user, model } = options;
  const isForOne = [agent, session, user, model].some((each) => each !== undefined);
  const answer = await ports.runOperation(
    terminal,
    options.config,
    isForOne ? checkBudget : dashboardCostBudgets,
    {
      ...(tenant !== undefined && { tenant_id: tenant }),
      ...(agent !== undefined && { agent_id: agent }),
      ...(session !== undefined && { session_id: session }),
      ...(user !== undefined && { user_id: user }),
      ...(model !== undefined && { model }),
    },
  );
  if (answer.budgets.some(({ state, enforcement }) => state === 'exhausted' && enforcement === 'enforce'))
    terminal.exit_code = EXIT.no;
  if (options.json) printJson(terminal, answer);
  else if (answer.budgets.length === 0)
    printLine(terminal, 'No budget concerns this; `cost.budgets` sets some.');
  else for (const line of formatBudgets(answer.budgets)) printLine(terminal, line);
}

interface ReportOptions extends WhichOptions {
  readonly groupBy: string;
  readonly format: 'table' | 'csv' | 'markdown';
  readonly limit: number;
}

function defineReport(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const report = withWhich(command.command('report').summary('list spending by day, agent and model'))
    .description('Add up spending by day, tenant, agent, user, model or provider, most expensive first.')
    .option('--group-by <fields>', 'what to add up by, with commas between', 'day,agent,model')
    .addOption(
      new Option('--format <format>', 'how to write it')
        .choices(['table', 'csv', 'markdown'])
        .default('table'),
    )
    .option('--limit <count>', 'lines at most', parseWholeNumber(1, 10_000), 1_000)
    .action((options: ReportOptions) => writeReport(options, terminal, ports));
  addExamples(report, [
    ['customshouse cost report --last 7d', 'by day, agent and model'],
    ['customshouse cost report --group-by user --format csv', 'who spends most'],
    ['customshouse cost report --group-by tenant,model --format markdown', 'for a page'],
  ]);
}

async function writeReport(options: ReportOptions, terminal: Terminal, ports: CommandPorts): Promise<void> {
  const answer = await ports.runOperation(terminal, options.config, dashboardCostReport, {
    ...getWhich(options),
    group_by: options.groupBy,
    limit: options.limit,
  });
  if (options.json) return printJson(terminal, answer);
  const words = options.groupBy.split(',');
  const write = { csv: formatCostCsv, markdown: formatCostMarkdown, table: getLines }[options.format];
  if (options.format === 'table' && answer.lines.length === 0) printLine(terminal, 'Nothing was spent.');
  else for (const line of write(words, answer.lines)) printLine(terminal, line);
  if (answer.truncated)
    throw new CommandFailure(EXIT.no, 'truncated', `There are more than ${options.limit} lines.`, {
      hint: 'Ask for more with --limit, or add up by less with --group-by.',
    });
}

function getLines(words: readonly string[], lines: readonly CostLine[]): string[] {
  const head = [...words.map((word) => word.toUpperCase()), 'CALLS', 'TOKENS IN', 'TOKENS OUT', 'COST'];
  return formatTable(
    head,
    lines.map((line) => [
      ...words.map((word) => String(line[word as keyof CostLine] ?? '')),
      String(line.calls),
      String(line.tokens.input),
      String(line.tokens.output),
      formatMoney(line.cost),
    ]),
  );
}

function definePrices(command: Command, terminal: Terminal, ports: CommandPorts): void {
  const prices = command
    .command('prices [model]')
    .summary('list the prices in use')
    .description(
      'List the prices of calls, in US dollars per million tokens: those of `cost.prices` and `cost.price_file`, then the built-in ones. With a model: the price that applies to it.',
    )
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action(async (model: string | undefined, options: CommonOptions) => {
      const { found, lines } = await findPrices(terminal, options.config, model, ports);
      if (options.json) return printJson(terminal, { prices: found });
      for (const line of lines) printLine(terminal, escapeControls(line));
    });
  addExamples(prices, [
    ['customshouse cost prices gpt-4o-mini', 'of one model'],
    ['customshouse cost prices --json > prices.json', 'to change some, for `cost.price_file`'],
  ]);
}
