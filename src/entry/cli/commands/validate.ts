import type { Command } from 'commander';
import type { PolicyCounts, Validation } from '../../../runtime/policies/index.ts';
import { EXIT } from '../exit.ts';
import { configOption, examples, jsonOption } from '../options.ts';
import { counted } from '../table.ts';
import { paint, paintError, remark, say, sayJson, shown, type Terminal } from '../terminal.ts';

export function validate(command: Command, terminal: Terminal): void {
  command
    .description(
      'Check the configuration and every document it names: rules, tool contracts, agent identities, memory schemas. Shows all problems, not only the first. Ends with 1 if there is one.',
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action((options: { config?: string; json?: true }) => run(options, terminal));
  examples(command, [
    ['service validate', ''],
    ['service validate --config deploy/service.yaml --json', 'in a pipeline'],
  ]);
}

async function run(options: { config?: string; json?: true }, terminal: Terminal): Promise<void> {
  const { validateConfiguration } = await import('../../../runtime/policies/index.ts');
  const { env, cwd } = terminal;
  const validation = await validateConfiguration({ path: options.config ?? null, env, cwd });
  if (options.json) sayJson(terminal, validation);
  else await tell(validation, terminal);
  if (!validation.valid) terminal.exit_code = EXIT.no;
}

async function tell(validation: Validation, terminal: Terminal): Promise<void> {
  const { formatProblem } = await import('../../../runtime/config/index.ts');
  const { counts, files, problems, warnings } = validation;
  for (const problem of problems) {
    remark(terminal, `${paintError(terminal, 'red', 'problem')}  ${shown(formatProblem(problem))}`);
  }
  for (const warning of warnings) {
    remark(terminal, `${paintError(terminal, 'yellow', 'warning')}  ${shown(formatProblem(warning))}`);
  }
  const name = shown(validation.config_file ?? 'No configuration file: what is built in');
  if (!validation.valid) {
    say(terminal, `${paint(terminal, 'red', 'invalid')}  ${name}: ${counted(problems.length, 'problem')}`);
    return;
  }
  say(terminal, `${paint(terminal, 'green', 'valid')}  ${name}`);
  if (counts !== null) for (const line of countLines(counts)) say(terminal, `  ${line}`);
  for (const file of files) say(terminal, `  read ${shown(file)}`);
}

function countLines(counts: PolicyCounts): string[] {
  const { rules, tenants, contracts, identities, memory_schemas, patterns, plugins, allowlist } = counts;
  return [
    counted(rules, 'rule'),
    counted(tenants, 'tenant'),
    counted(contracts, 'tool contract'),
    counted(identities, 'agent identity document', 'agent identity documents'),
    counted(memory_schemas, 'memory schema'),
    ...(patterns > 0 ? [counted(patterns, 'pattern')] : []),
    ...(plugins > 0 ? [counted(plugins, 'plug-in')] : []),
    ...(allowlist > 0 ? [counted(allowlist, 'allowlisted value')] : []),
  ];
}
