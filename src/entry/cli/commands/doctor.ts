import { realpath } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { codingAgentRecords } from '../../../coding-agents/index.ts';
import type { SettingsScope } from '../../../coding-agents/record/settings.ts';
import { EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import { printJson, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { parseDuration } from '../../../runtime/audit/filter.ts';

interface Options {
  readonly codingAgent?: string;
  readonly scope?: SettingsScope;
  readonly path?: string;
  readonly since: number;
  readonly config?: string;
  readonly json?: true;
}

const SINCE = '7d';
const SCOPES: readonly SettingsScope[] = ['project', 'local', 'user', 'managed'];

export function defineDoctor(command: Command, terminal: Terminal): void {
  command
    .description(
      'Test the installed hooks of coding agents: call each hook that setup wrote as its agent calls it and report which ones block. Also checks the configuration and state folder behind them, and lists sessions in which an agent ran tools that its hook never saw. Other hooks are reported and not run. Ends with 1 if something has to be fixed.',
    )
    .addOption(
      new Option('--coding-agent <name>', 'one coding agent').choices(
        codingAgentRecords.map(({ name }) => name),
      ),
    )
    .addOption(new Option('--scope <scope>', 'hooks of one kind of settings').choices(SCOPES))
    .option('--path <folder>', 'the project (default: the current folder)')
    .addOption(
      new Option('--since <duration>', 'age of the sessions to compare at most')
        .default(parseDuration(SINCE), SINCE)
        .argParser(parseDurationArgument),
    )
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: Options) => runDoctor(options, terminal));
  addExamples(command, [
    ['customshouse doctor', 'everything, for the project in this folder'],
    ['customshouse doctor --coding-agent claude-code --since 30d', ''],
    ['customshouse doctor --scope user --json', 'for a program'],
  ]);
}

function parseDurationArgument(text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new InvalidArgumentError('Give a whole number and one of s, m, h, d, w: 24h, 7d.');
  return ms;
}

async function runDoctor(options: Options, terminal: Terminal): Promise<void> {
  const { diagnoseSetup } = await import('../doctor/diagnose.ts');
  const { env, cwd } = terminal;
  const diagnosis = await diagnoseSetup({
    coding_agent: options.codingAgent ?? null,
    scope: options.scope ?? null,
    config: options.config === undefined ? null : resolve(cwd, options.config),
    since_ms: Date.now() - options.since,
    project: await realpath(resolve(cwd, options.path ?? '.')),
    program: (await import('../setup/find-program.ts')).findProgram().words,
    env,
    now_ms: Date.now,
  });
  if (options.json) printJson(terminal, diagnosis);
  else (await import('../doctor/report.ts')).printDiagnosis(diagnosis, terminal);
  if (diagnosis.status === 'fail') terminal.exit_code = EXIT.no;
}
