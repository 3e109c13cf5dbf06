import type { Command } from 'commander';
import type { ChangedDecision, ReplayCounts, ReplayTally } from '../../../core/review/replay.ts';
import type { DocumentProblem } from '../../../core/types/index.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatTable } from '../../../operations/cli-kit/format-table.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import {
  escapeControls,
  paintText,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import { getPackageVersion } from '../../../platform/version.ts';
import { compareByChanges, formatReplay } from '../../../runtime/policies/format-replay.ts';
import type { ReplayFilter, ReplayReport } from '../../../runtime/policies/replay.ts';
import { loadCliConfig } from '../load-cli-config.ts';

interface ReplayOptions {
  readonly with: string;
  readonly since: string;
  readonly until?: string;
  readonly agent?: string;
  readonly tool?: string;
  readonly tag?: string;
  readonly tenant?: string;
  readonly config?: string;
  readonly json?: true;
}

/** Adds `policy replay`. */
export function definePolicyReplay(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('replay')
    .summary('show which recorded decisions another policy would change')
    .description(
      'Replay recorded decisions against another policy, and count which would change. The policy is evaluated on recorded tags and facts, because no text is stored. Decisions that cannot be replayed are counted separately, with the reason. The active policy does not change.\n' +
        'The other policy is a whole configuration, or documents (rules, contracts, identities) that are merged into the present ones: a record replaces the record of the same name, or is added at the end.',
    )
    .requiredOption('--with <file>', 'the other policy: a configuration, or documents')
    .option('--since <time>', 'the beginning: ISO 8601, or a duration before now', '7d')
    .option('--until <time>', 'the end: ISO 8601, or a duration before now')
    .option('--agent <id>', 'decisions on this agent')
    .option('--tool <name>', 'decisions on this tool')
    .option('--tag <tag>', 'decisions on this tag or one of its descendants')
    .option('--tenant <id>', 'decisions for this tenant')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: ReplayOptions) => runReplay(options, terminal));
  addExamples(command, [
    ['customshouse policy replay --since 7d --with new.yaml', 'what a new rule would have done'],
    ['customshouse policy replay --with next/service.yaml --agent support-bot', 'another configuration'],
  ]);
}

async function runReplay(options: ReplayOptions, terminal: Terminal): Promise<void> {
  const config = await loadCliConfig(terminal, options.config);
  const [{ loadCandidate }, { replayJournal }, reader, { openLocalRuntime }] = await Promise.all([
    import('../../../runtime/policies/candidate.ts'),
    import('../../../runtime/policies/replay.ts'),
    import('../../../server/load-config.ts'),
    import('../../../server/local.ts'),
  ]);
  const next = await loadCandidate(options.with, config, terminal, reader);
  if (!next.ok) throw await buildInvalidPolicyFailure(options.with, next.problems);
  const runtime = await openLocalRuntime(config, getPackageVersion());
  try {
    const report = await replayJournal({
      journal_dir: await runtime.settleJournal(),
      next: next.policy,
      policyOf: runtime.policyOf,
      filter: getFilter(options),
      now_ms: Date.now(),
      progress: createProgressPrinter(terminal),
    });
    clearProgress(terminal);
    if (options.json) printJson(terminal, formatReplay(report, next.policy.hash));
    else printReplay(report, terminal);
  } finally {
    await runtime.close();
  }
}

async function buildInvalidPolicyFailure(
  file: string,
  problems: readonly DocumentProblem[],
): Promise<CommandFailure> {
  const { formatProblem } = await import('../../../runtime/config/index.ts');
  return new CommandFailure(EXIT.usage, 'policy_invalid', `\`${file}\` gives no policy:`, {
    details: problems,
    lines: problems.map(formatProblem),
  });
}

function getFilter({ since, until, agent, tool, tag, tenant }: ReplayOptions): ReplayFilter {
  return {
    since,
    ...(until !== undefined && { until }),
    ...(agent !== undefined && { agent_id: agent }),
    ...(tool !== undefined && { tool_name: tool }),
    ...(tag !== undefined && { data_tag: tag }),
    ...(tenant !== undefined && { tenant_id: tenant }),
  };
}

const isTerminal = ({ stderr }: Terminal) => (stderr as { isTTY?: boolean }).isTTY === true;

function createProgressPrinter(terminal: Terminal): (read: number) => void {
  return (read) => {
    if (isTerminal(terminal)) terminal.stderr.write(`\r${read.toLocaleString('en')} events read`);
  };
}

function clearProgress(terminal: Terminal): void {
  if (isTerminal(terminal)) terminal.stderr.write('\r\u001b[K');
}

/** Reasons why a decision cannot be replayed. Each follows the colon in the output. */
const BECAUSE: Readonly<Record<string, string>> = {
  fault: 'a fault of the service decided',
  incomplete: 'the event does not hold all that was found',
  policy_unavailable: 'the policy that decided is no longer kept',
  record_differs: 'something decided that is not in the record',
  detection_differs: 'the policies look for other things in a text',
  limits_differ: 'the policies have other limits for a scan',
  facts_not_recorded: 'a rule names facts that were not looked for at the time',
  session_not_recorded: 'a rule asks what the session had read, which was not kept at the time',
  arguments_not_recorded: 'a rule reads arguments, and its result is not in the record',
  contract_differs: 'a contract asks about arguments or fields that are not in the record',
};

function printReplay({ tally, since_ms }: ReplayReport, terminal: Terminal): void {
  const { total } = tally;
  const all = total.same + total.stricter + total.less_strict + total.unknown;
  if (all === 0) {
    printLine(terminal, 'There are no such decisions.');
    return;
  }
  const number = (count: number) => count.toLocaleString('en');
  const since = new Date(since_ms).toISOString();
  printLine(terminal, `${number(all)} decisions since ${since}`);
  printLine(terminal, `  ${number(total.same)} the same`);
  printLine(terminal, `  ${paintText(terminal, 'red', `${number(total.stricter)} stricter`)}`);
  printLine(terminal, `  ${paintText(terminal, 'green', `${number(total.less_strict)} less strict`)}`);
  printLine(terminal, `  ${number(total.unknown)} unknown`);
  for (const [because, count] of tally.unknown)
    printLine(terminal, `    ${number(count)}: ${BECAUSE[because] ?? because}`);
  printTransitions(tally, terminal);
  printCounts('agent', tally.by_agent, terminal);
  printCounts('tool', tally.by_tool, terminal);
  printCounts('tag', tally.by_tag, terminal);
  printExamples('stricter', tally.stricter, terminal);
  printExamples('less strict', tally.less_strict, terminal);
  if (total.stricter + total.less_strict > 0)
    printNotice(terminal, '\n`policy explain <event>` says why one is as it is now.');
}

function printTransitions({ transitions }: ReplayTally, terminal: Terminal): void {
  if (transitions.size === 0) return;
  const rows = [...transitions]
    .sort(([, a], [, b]) => b - a)
    .map(([move, count]) => [move.replace(' ', ' -> '), count.toLocaleString('en')]);
  printLine(terminal);
  for (const line of formatTable(['action', 'count'], rows)) printLine(terminal, line);
}

const ROWS_SHOWN = 20;

/** Prints the rows with a decision that would change or cannot be replayed. */
function printCounts(what: string, counts: ReadonlyMap<string, ReplayCounts>, terminal: Terminal): void {
  const rows = [...counts]
    .map(([name, each]) => ({ name, ...each }))
    .filter(({ stricter, less_strict, unknown }) => stricter + less_strict + unknown > 0)
    .sort(compareByChanges);
  if (rows.length === 0) return;
  const cells = rows
    .slice(0, ROWS_SHOWN)
    .map((row) => [row.name, ...[row.stricter, row.less_strict, row.unknown, row.same].map(String)]);
  printLine(terminal);
  const lines = formatTable([what, 'stricter', 'less strict', 'unknown', 'same'], cells);
  for (const line of lines) printLine(terminal, line);
  if (rows.length > ROWS_SHOWN) printLine(terminal, `and ${rows.length - ROWS_SHOWN} more (--json)`);
}

function printExamples(heading: string, decisions: readonly ChangedDecision[], terminal: Terminal): void {
  if (decisions.length === 0) return;
  printLine(terminal, `\n${heading}, for instance:`);
  for (const { event_id, agent_id, tool_name, from, to, from_rule, to_rule } of decisions.slice(0, 5)) {
    const who = escapeControls(tool_name === null ? agent_id : `${agent_id}, ${tool_name}`);
    printLine(
      terminal,
      `  ${event_id}  ${who}: ${from} (${escapeControls(from_rule)}) -> ${to} (${escapeControls(to_rule)})`,
    );
  }
}
