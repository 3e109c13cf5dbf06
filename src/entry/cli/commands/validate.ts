import type { Command } from 'commander';
import { EXIT } from '../../../operations/cli-kit/command-failure.ts';
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
import type { PolicyCounts, Validation } from '../../../runtime/policies/index.ts';

export function defineValidate(command: Command, terminal: Terminal): void {
  command
    .description(
      'Check the configuration and every document it names: rules, tool contracts, agent identities, memory schemas. Shows all problems, not only the first. Ends with 1 if there is one.',
    )
    .argument('[file]', 'the configuration, as with --config')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((file: string | undefined, options: ValidateOptions) =>
      runValidation({ ...(file !== undefined && { config: file }), ...options }, terminal),
    );
  addExamples(command, [
    ['customshouse validate', ''],
    ['customshouse validate deploy/service.yaml --json', 'in a pipeline'],
  ]);
}

interface ValidateOptions {
  readonly config?: string;
  readonly json?: true;
}

async function runValidation(options: ValidateOptions, terminal: Terminal): Promise<void> {
  const { validateConfiguration } = await import('../../../runtime/policies/index.ts');
  const { loadConfig } = await import('../../../server/load-config.ts');
  const { env, cwd } = terminal;
  const validation = await validateConfiguration({ path: options.config ?? null, env, cwd }, loadConfig);
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
