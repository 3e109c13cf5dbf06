import type { Command } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatCount } from '../../../operations/cli-kit/format-table.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import {
  escapeControls,
  paintText,
  printJson,
  printLine,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import type { LintReport } from '../../../runtime/policies/lint.ts';
import { loadCliConfig } from '../load-cli-config.ts';

interface LintOptions {
  readonly strict?: true;
  readonly config?: string;
  readonly json?: true;
}

/** Adds `policy lint`. */
export function definePolicyLint(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('lint')
    .summary('find rules that never match, contradict each other or name unknown things')
    .description(
      'Check the policy for rules that are valid but probably not intended: rules that never match, that contradict each other, that name unknown tags, tools or agents, and alternatives that are forbidden themselves. Ends with 1 if there is an error; with --strict also if there is a warning.',
    )
    .option('--strict', 'warnings count as errors')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: LintOptions) => runLint(options, terminal));
  addExamples(command, [
    ['customshouse policy lint', ''],
    ['customshouse policy lint --strict --json', 'in a pipeline'],
  ]);
}

async function runLint(options: LintOptions, terminal: Terminal): Promise<void> {
  const { lintPolicy } = await import('../../../runtime/policies/lint.ts');
  const report = await lintPolicy(await loadCliConfig(terminal, options.config));
  if (report.problems.length > 0) {
    const { formatProblem } = await import('../../../runtime/config/index.ts');
    throw new CommandFailure(EXIT.usage, 'invalid', 'The policy is not valid:', {
      details: report.problems,
      lines: report.problems.map(formatProblem),
    });
  }
  const errors = report.remarks.filter(({ level }) => level === 'error').length;
  const warnings = report.remarks.length - errors;
  if (options.json) printJson(terminal, { ...report, errors, warnings });
  else printRemarks(report, errors, warnings, terminal);
  if (errors > 0 || (options.strict && warnings > 0)) terminal.exit_code = EXIT.no;
}

function printRemarks(
  { remarks, records }: LintReport,
  errors: number,
  warnings: number,
  terminal: Terminal,
): void {
  for (const { id, level, file, line, message } of remarks) {
    const word =
      level === 'error' ? paintText(terminal, 'red', 'error  ') : paintText(terminal, 'yellow', 'warning');
    const place = line === undefined ? file : `${file}:${line}`;
    printLine(
      terminal,
      `${word}  ${escapeControls(`${place}: ${message}`)} ${paintText(terminal, 'dim', `(${id})`)}`,
    );
  }
  const looked = `${formatCount(records, 'rule, contract or identity', 'rules, contracts and identities')} checked`;
  printLine(
    terminal,
    `${remarks.length === 0 ? 'No problems found' : `${formatCount(errors, 'error')}, ${formatCount(warnings, 'warning')}`}; ${looked}.`,
  );
}
