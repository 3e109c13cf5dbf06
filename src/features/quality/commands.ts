import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import type { Policy, Severity } from '../../core/types/index.ts';
import type { CommandPorts } from '../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../operations/cli-kit/options.ts';
import { printJson, printLine, type Terminal } from '../../operations/cli-kit/terminal.ts';
import type { Config } from '../../runtime/config/index.ts';
import { type Category, measureRows, openPredictions, type QualityReport, readCorpus } from './index.ts';
import { formatQuality } from './quality-report.ts';

interface BenchOptions {
  readonly category: Category;
  readonly corpus: string;
  readonly predictions?: string;
  readonly severity: Severity;
  readonly brief?: true;
  readonly config?: string;
  readonly json?: true;
}

/** Defines `bench`. */
export function defineBench(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command
    .description(
      'Measure detection on labelled texts of your own: recall, false positives, precision and F1, by source, tier and type, and the ids of the wrongly classified rows. The texts are not printed, and nothing is recorded. A row is one line: {"id": "a1", "text": "Use key ...", "label": "secret", "labels": [{"start": 8, "end": 27, "type": "openai"}], "source": "tickets"}. The label is `secret`, `pii` or `attack`, after the category, or `benign`. `labels` are the places to find, for secrets and personal data, in UTF-16 units, the end exclusive. `source`, `type`, `tier` and `os` name groups and are optional.',
    )
    .addOption(
      new Option('--category <category>', 'what is labelled')
        .choices(['secrets', 'pii', 'injection', 'commands'])
        .makeOptionMandatory(),
    )
    .requiredOption('--corpus <file>', 'the labelled texts, JSON lines, `.gz` too')
    .option(
      '--predictions <file>',
      'write what was found in each row: `{id, hits: [{start, end, type}], flagged}`',
    )
    .addOption(
      new Option('--severity <severity>', 'count findings of this severity or worse')
        .choices(['low', 'medium', 'high', 'critical'])
        .default('low'),
    )
    .option('--brief', 'omit the types and the wrongly classified rows')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: BenchOptions) => runBench(options, terminal, ports));
  addExamples(command, [
    ['customshouse bench --category secrets --corpus rows.jsonl', ''],
    ['customshouse bench --category pii --corpus rows.jsonl.gz --json', 'for a program'],
    ['customshouse bench --category commands --corpus rows.jsonl --brief', 'each row as a tool call'],
    [
      'customshouse bench --category injection --corpus rows.jsonl --severity high',
      'only what is worse than a hint',
    ],
    [
      'customshouse bench --category secrets --corpus rows.jsonl --predictions out.jsonl',
      'for a scorer of your own',
    ],
  ]);
}

async function runBench(options: BenchOptions, terminal: Terminal, ports: CommandPorts): Promise<void> {
  const policy = await getPolicy(await ports.loadConfig(terminal, options.config));
  const report = await measureCorpus(options, policy, terminal);
  if (options.json) return printJson(terminal, report);
  for (const line of formatQuality(report, options.brief ?? false)) printLine(terminal, line);
}

async function getPolicy(config: Config): Promise<Policy> {
  const { loadPolicy } = await import('../../runtime/policies/index.ts');
  const { formatProblem } = await import('../../runtime/config/index.ts');
  const made = await loadPolicy(config);
  if (made.ok) return made.policy;
  throw new CommandFailure(EXIT.usage, 'config_invalid', 'The policy is not valid:', {
    details: made.problems,
    lines: made.problems.map(formatProblem),
    hint: 'Fix it, then check again with `customshouse validate`.',
  });
}

async function measureCorpus(
  { category, corpus, predictions, severity }: BenchOptions,
  policy: Policy,
  terminal: Terminal,
): Promise<QualityReport> {
  const path = resolve(terminal.cwd, corpus);
  const out = predictions === undefined ? null : resolve(terminal.cwd, predictions);
  if (out === path)
    throw new CommandFailure(
      EXIT.usage,
      'usage',
      'The predictions would overwrite the corpus. Name another file.',
    );
  const file = out === null ? null : await openPredictions(out, category);
  const progress = getProgress(terminal);
  try {
    const report = await measureRows(readCorpus(path, corpus, category), {
      category,
      policy,
      severity_min: severity,
      onRow: async (row, prediction) => {
        await file?.add(row, prediction);
        progress.step();
      },
    });
    await file?.close();
    return report;
  } catch (error) {
    await file?.abandon();
    throw error;
  } finally {
    progress.end();
  }
}

const STEPS_SHOWN = 500;

/** Counts rows on a line of a terminal that is erased at the end. */
function getProgress({ stderr }: Terminal): { step: () => void; end: () => void } {
  const isShown = (stderr as { isTTY?: boolean }).isTTY === true;
  let rows = 0;
  return {
    step: () => {
      rows += 1;
      if (isShown && rows % STEPS_SHOWN === 0) stderr.write(`\r${rows} rows`);
    },
    end: () => {
      if (isShown && rows >= STEPS_SHOWN) stderr.write('\r\u001b[K');
    },
  };
}
