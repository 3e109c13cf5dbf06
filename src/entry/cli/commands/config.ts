// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import type { Command } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { formatTable } from '../../../operations/cli-kit/format-table.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import { escapeControls, printJson, printLine, type Terminal } from '../../../operations/cli-kit/terminal.ts';
import { loadCliConfig } from '../load-cli-config.ts';

interface ShowOptions {
  readonly changed?: true;
  readonly config?: string;
  readonly json?: true;
}

export function defineConfig(command: Command, terminal: Terminal): void {
  const show = command
    .command('show')
    .summary('list the active settings and where each comes from')
    .description(
      'List every setting with its active value and its source: the file with the line, a `${NAME}` or `${secret:name}` that the file names, or the default. Credentials are shown as `[set]`.',
    )
    .argument('[path]', 'only this setting or section, such as `server`')
    .option('--changed', 'only settings that are not defaults')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((path: string | undefined, options: ShowOptions) => printConfiguration(path, options, terminal));
  const lines = [
    ['customshouse config show', 'every setting'],
    ['customshouse config show --changed', 'what this installation changed'],
    ['customshouse config show server --json', 'one section, for a program'],
  ] as const;
  addExamples(show, lines);
  addExamples(command, lines);
}

const VALUE_CHARACTERS_MAX = 60;

async function printConfiguration(
  path: string | undefined,
  options: ShowOptions,
  terminal: Terminal,
): Promise<void> {
  const { listSettings } = await import('../../../runtime/config/effective.ts');
  const { configSchema } = await import('../../../server/load-config.ts');
  const active = await loadCliConfig(terminal, options.config, 'leave');
  const settings = (await listSettings(active, configSchema)).filter(
    (each) =>
      (path === undefined || each.path === path || each.path.startsWith(`${path}.`)) &&
      (!options.changed || each.source !== 'default'),
  );
  if (settings.length === 0 && path !== undefined && !options.changed)
    throw new CommandFailure(EXIT.no, 'not_found', `There is no setting \`${path}\`.`, {
      hint: '`customshouse config show` lists all of them.',
    });
  const { file } = active.origin;
  if (options.json) {
    printJson(terminal, { config_file: file, state_dir: active.state_dir, settings });
    return;
  }
  printLine(terminal, `Configuration  ${escapeControls(file ?? 'none: every setting has its default')}`);
  printLine(terminal, `State          ${escapeControls(active.state_dir)}`);
  printLine(terminal);
  const rows = settings.map(({ path: name, value, source, line }) => [
    name,
    shortenValue(JSON.stringify(value)),
    line === null ? source : `${source}:${line}`,
  ]);
  for (const row of formatTable(['SETTING', 'VALUE', 'SOURCE'], rows)) printLine(terminal, row);
}

function shortenValue(text: string): string {
  return text.length <= VALUE_CHARACTERS_MAX ? text : `${text.slice(0, VALUE_CHARACTERS_MAX - 1)}…`;
}
