import { join } from 'node:path';
import type { Command } from 'commander';
import type { CommandPorts } from '../../../operations/cli-kit/command.ts';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import { escapeControls, printJson, printLine, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { undoArtifacts } from '../artifact-files.ts';
import {
  defineAutoConfig,
  defineComplianceAdvice,
  defineExplain,
  defineIntegrate,
  defineRecommend,
} from './define-advisors.ts';
import { convertArtifactFailure } from './deliver-artifacts.ts';

/** Defines the commands of the advisory layer. */
export function defineIntelligence(command: Command, terminal: Terminal, ports: CommandPorts): void {
  command.description(
    'Query the advisory layer. It is off by default, never decides, and sends metadata only (docs/reference/intelligence.md).',
  );
  defineAutoConfig(command, terminal, ports);
  defineRecommend(command, terminal, ports);
  defineExplain(command, terminal, ports);
  defineComplianceAdvice(command, terminal, ports);
  defineIntegrate(command, terminal, ports);
  defineStatus(command, terminal, ports);
  defineUndo(command, terminal, ports);
  addExamples(command, [
    ['customshouse intelligence status --check', 'ask the model for one word'],
    ['customshouse intelligence recommend --since 7d', 'stage proposals'],
    ['customshouse intelligence explain evt_0123456789abcdef01234567', ''],
    ['customshouse intelligence compliance --framework hipaa', ''],
  ]);
}

interface StatusOptions {
  readonly check?: true;
  readonly config?: string;
  readonly json?: true;
}

function defineStatus(parent: Command, terminal: Terminal, ports: CommandPorts): void {
  const command = parent
    .command('status')
    .summary('show the model backend and whether it answers')
    .description('Show if the advisory layer is on, which model it uses, and if its key is set.')
    .option('--check', 'ask the model for one word, and end with 1 if it does not answer')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: StatusOptions) => showStatus(options, terminal, ports));
  addExamples(command, [['customshouse intelligence status --check', '']]);
}

async function showStatus(
  { check, config: path, json }: StatusOptions,
  terminal: Terminal,
  { loadConfig, probeModel }: CommandPorts,
): Promise<void> {
  const { intelligence } = await loadConfig(terminal, path, 'leave');
  const { enabled, backend } = intelligence;
  const key = backend?.api_key_env;
  const status = {
    enabled,
    backend: backend?.provider ?? null,
    model: backend?.model ?? null,
    base_url: backend?.base_url ?? null,
    api_key_env: key ?? null,
    key_is_set: key === undefined ? null : (terminal.env[key] ?? '') !== '',
  };
  const answered = check && enabled ? await probeModel(intelligence, terminal.env) : null;
  if (json)
    printJson(terminal, {
      ...status,
      ...(answered !== null && { answers: answered === '', problem: answered }),
    });
  else {
    for (const [name, value] of Object.entries(status))
      printLine(terminal, `${name.padEnd(12)} ${value === null ? '-' : escapeControls(String(value))}`);
    if (!enabled)
      printLine(
        terminal,
        '\nTo turn it on, set `intelligence.enabled: true` and `intelligence.backend` in service.yaml.',
      );
    if (answered !== null)
      printLine(terminal, answered === '' ? '\nThe model answers.' : `\n${escapeControls(answered)}`);
  }
  if (check && answered !== '') terminal.exit_code = EXIT.no;
}

function defineUndo(parent: Command, terminal: Terminal, ports: CommandPorts): void {
  const command = parent
    .command('undo')
    .summary('revert the last applied proposal')
    .description(
      'Restore the files as they were before the last `--apply`. Files that were edited since then are kept.',
    )
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: { readonly config?: string; readonly json?: true }) =>
      undoChange(options, terminal, ports),
    );
  addExamples(command, [['customshouse intelligence undo', '']]);
}

async function undoChange(
  { config: path, json }: { readonly config?: string; readonly json?: true },
  terminal: Terminal,
  { loadConfig }: CommandPorts,
): Promise<void> {
  const { state_dir } = await loadConfig(terminal, path, 'leave');
  const { root, restored, removed } = await convertArtifactFailure(undoArtifacts(state_dir));
  if (restored.length + removed.length === 0)
    throw new CommandFailure(EXIT.no, 'not_found', 'The files are already as they were before.');
  if (json) {
    printJson(terminal, { root, restored, removed });
    return;
  }
  for (const each of restored) printLine(terminal, `restored ${escapeControls(join(root, each))}`);
  for (const each of removed) printLine(terminal, `removed  ${escapeControls(join(root, each))}`);
}
