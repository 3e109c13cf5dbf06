import type { Command } from 'commander';
import type { DocumentProblem } from '../../../core/types/index.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatCount } from '../../../operations/cli-kit/format-table.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import {
  escapeControls,
  paintError,
  paintText,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import type { CaseResult, TestReport } from '../../../runtime/policies/test-policy.ts';
import { loadCliConfig } from '../load-cli-config.ts';

interface TestOptions {
  readonly config?: string;
  readonly json?: true;
}

/** Adds `policy test`. */
export function definePolicyTest(parent: Command, terminal: Terminal): void {
  const command = parent
    .command('test')
    .argument('[files...]', 'files of cases (default: policies/tests/*.yaml and policies/*.test.yaml)')
    .summary('run the cases next to the policies')
    .description(
      'Evaluate the cases under the configured policy, as the service would, and compare the results with their expectations. Nothing is recorded. Ends with 1 if a case fails, and with 2 if there is no case or one is not valid.',
    )
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((files: string[], options: TestOptions) => runPolicyTest(files, options, terminal));
  addExamples(command, [
    ['customshouse policy test', ''],
    ['customshouse policy test policies/payments.test.yaml --json', 'in a pipeline'],
  ]);
}

async function runPolicyTest(
  files: readonly string[],
  options: TestOptions,
  terminal: Terminal,
): Promise<void> {
  const config = await loadCliConfig(terminal, options.config);
  const [{ loadPolicy }, { CASE_PATTERNS, testPolicy }, { readPacks, findRuleFiles }] = await Promise.all([
    import('../../../runtime/policies/index.ts'),
    import('../../../runtime/policies/test-policy.ts'),
    import('../../../runtime/policies/packs.ts'),
  ]);
  const made = await loadPolicy(config);
  if (!made.ok) throw await buildInvalidCasesFailure('The policy is not valid:', made.problems);
  const packs = await readPacks(config.origin.base_dir);
  const layers = { packs, fileOf: findRuleFiles(made.policy, made.places) };
  const report = await testPolicy(made.policy, config, files, terminal.cwd, layers);
  if (report.problems.length > 0)
    throw await buildInvalidCasesFailure(
      'Some cases are not written as they must be, and none was run:',
      report.problems,
    );
  if (report.results.length === 0) {
    throw new CommandFailure(EXIT.usage, 'no_test_cases', 'There are no cases to run.', {
      hint: `They are looked for in ${CASE_PATTERNS.join(' and ')}; see docs/reference/policies.md, or name files.`,
    });
  }
  const failed = report.results.filter(({ differences }) => differences.length > 0).length;
  if (options.json) printJson(terminal, { ...report, passed: report.results.length - failed, failed });
  else printResults(report, failed, terminal);
  if (failed > 0) terminal.exit_code = EXIT.no;
}

async function buildInvalidCasesFailure(
  message: string,
  problems: readonly DocumentProblem[],
): Promise<CommandFailure> {
  const { formatProblem } = await import('../../../runtime/config/index.ts');
  const lines = problems.map(formatProblem);
  return new CommandFailure(EXIT.usage, 'invalid', message, { details: problems, lines });
}

function printResults(
  { results, files, warnings, policy_hash }: TestReport,
  failed: number,
  terminal: Terminal,
): void {
  for (const { message } of warnings)
    printNotice(terminal, `${paintError(terminal, 'yellow', 'warning')}  ${escapeControls(message)}`);
  for (const result of results) printCase(result, terminal);
  const passed = `${results.length - failed} passed`;
  const counts =
    failed === 0
      ? paintText(terminal, 'green', passed)
      : `${passed}, ${paintText(terminal, 'red', `${failed} failed`)}`;
  printLine(
    terminal,
    `\n${counts} in ${formatCount(files.length, 'file')} (policy ${policy_hash.slice(0, 19)})`,
  );
}

function printCase({ file, line, name, differences }: CaseResult, terminal: Terminal): void {
  const passed = differences.length === 0;
  const word = passed ? paintText(terminal, 'green', 'pass') : paintText(terminal, ['bold', 'red'], 'FAIL');
  printLine(terminal, `${word}  ${escapeControls(`${file}:${line}`)}  ${escapeControls(name)}`);
  for (const { field, expected, actual } of differences)
    printLine(
      terminal,
      `      ${field}: ${escapeControls(expected)} expected, ${escapeControls(actual)} found`,
    );
}
