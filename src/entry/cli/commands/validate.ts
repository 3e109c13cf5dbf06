import type { Command } from 'commander';
import type { PolicyCounts, Validation } from '../../../runtime/policies/index.ts';
import { EXIT } from '../command-failure.ts';
import { formatCount } from '../format-table.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../options.ts';
import {
  escapeControls,
  paintError,
  paintText,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../terminal.ts';

export function defineValidate(command: Command, terminal: Terminal): void {
  command
    .description(
      'Check the configuration and every document it names: rules, tool contracts, agent identities, memory schemas. Shows all problems, not only the first. Ends with 1 if there is one.',
    )
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: { config?: string; json?: true }) => runValidation(options, terminal));
  addExamples(command, [
    ['customshouse validate', ''],
    ['customshouse validate --config deploy/service.yaml --json', 'in a pipeline'],
  ]);
}

async function runValidation(options: { config?: string; json?: true }, terminal: Terminal): Promise<void> {
  const { validateConfiguration } = await import('../../../runtime/policies/index.ts');
  const { env, cwd } = terminal;
  const validation = await validateConfiguration({ path: options.config ?? null, env, cwd });
  if (options.json) printJson(terminal, validation);
  else await printValidation(validation, terminal);
  if (!validation.valid) terminal.exit_code = EXIT.no;
}

async function printValidation(validation: Validation, terminal: Terminal): Promise<void> {
  const { formatProblem } = await import('../../../runtime/config/index.ts');
  const { counts, files, problems, warnings } = validation;
  for (const problem of problems) {
    printNotice(
      terminal,
      `${paintError(terminal, 'red', 'problem')}  ${escapeControls(formatProblem(problem))}`,
    );
  }
  for (const warning of warnings) {
    printNotice(
      terminal,
      `${paintError(terminal, 'yellow', 'warning')}  ${escapeControls(formatProblem(warning))}`,
    );
  }
  const name = escapeControls(validation.config_file ?? 'No configuration file: what is built in');
  if (!validation.valid) {
    printLine(
      terminal,
      `${paintText(terminal, 'red', 'invalid')}  ${name}: ${formatCount(problems.length, 'problem')}`,
    );
    return;
  }
  printLine(terminal, `${paintText(terminal, 'green', 'valid')}  ${name}`);
  if (counts !== null) for (const line of countLines(counts)) printLine(terminal, `  ${line}`);
  for (const file of files) printLine(terminal, `  read ${escapeControls(file)}`);
}

function countLines(counts: PolicyCounts): string[] {
  const { rules, tenants, contracts, identities, memory_schemas, patterns, plugins, allowlist } = counts;
  return [
    formatCount(rules, 'rule'),
    formatCount(tenants, 'tenant'),
    formatCount(contracts, 'tool contract'),
    formatCount(identities, 'agent identity document', 'agent identity documents'),
    formatCount(memory_schemas, 'memory schema'),
    ...(patterns > 0 ? [formatCount(patterns, 'pattern')] : []),
    ...(plugins > 0 ? [formatCount(plugins, 'plug-in')] : []),
    ...(allowlist > 0 ? [formatCount(allowlist, 'allowlisted value')] : []),
  ];
}
