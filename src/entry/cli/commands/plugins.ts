import { type Command, Option } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { askConsent, type Consent } from '../../../operations/cli-kit/consent.ts';
import { formatCount, formatTable } from '../../../operations/cli-kit/format-table.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import {
  escapeControls,
  paintText,
  printJson,
  printLine,
  printNotice,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import type { Plugin, PluginReport } from '../../../runtime/plugins/types.ts';
import { loadCliConfig } from '../load-cli-config.ts';
import { type Answer, runSelectedOperation } from '../run-operation.ts';

interface TrustOptions extends Consent {
  readonly config?: string;
}

interface Options {
  readonly config?: string;
  readonly json?: true;
}

export function definePlugins(command: Command, terminal: Terminal): void {
  const list = command
    .command('list')
    .summary('list the plug-ins of the configuration')
    .description(
      'List the plug-ins of the running service, or else of the configuration: active ones, and rejected ones with the reason.',
    )
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action(async (options: Options) => {
      const reply = await runSelectedOperation(terminal, options.config, (of) => of.pluginsList, {});
      if (options.json) printJson(terminal, reply);
      else printPlugins(reply, terminal);
    });
  addExamples(list, [['customshouse plugins list --json', '']]);
  const check = command
    .command('check')
    .summary('load one plug-in and test its examples')
    .description(
      'Load a plug-in as the service does, and test the examples of its detectors. This runs its code. Ends with 1 if the service would reject it.',
    )
    .argument('<plugin>', 'a file, a folder with a package in it, or a package that is installed')
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((name: string, options: Options) => checkOne(name, options, terminal));
  addExamples(check, [
    ['customshouse plugins check plugins/acme.mjs', ''],
    ['customshouse plugins check . --json', 'in the folder of a package'],
  ]);
  const trust = command
    .command('trust')
    .summary('trust the plug-ins of the configuration')
    .description(
      'List the files of the plug-ins that the configuration names, with their SHA-256 hashes, and let this user run them. Until then, and after a change of a file, every command and the service refuse the configuration. Runs no plug-in.',
    )
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .addOption(new Option('-y, --yes', 'do not ask'))
    .addOption(new Option('--dry-run', 'list the files, and trust nothing'))
    .action((options: TrustOptions) => trustPlugins(options, terminal));
  addExamples(trust, [
    ['customshouse plugins trust', ''],
    ['customshouse plugins trust --yes --json', 'in a script that an operator starts'],
  ]);
  addExamples(command, [
    ['customshouse plugins list', ''],
    ['customshouse plugins check plugins/acme.mjs', ''],
    ['customshouse plugins trust', 'after reading them'],
  ]);
}

function printPlugins({ plugins }: Answer<'pluginsList'>, terminal: Terminal): void {
  if (plugins.length === 0) {
    printLine(terminal, 'There are no plug-ins.');
    return;
  }
  const rows = plugins.map(({ name, version, status, detector_count, template_count, path }) => [
    name,
    version ?? '',
    status === 'active' ? 'active' : 'left out',
    String(detector_count),
    String(template_count),
    path,
  ]);
  const head = ['NAME', 'VERSION', 'STATUS', 'DETECTORS', 'TEMPLATES', 'FROM'];
  for (const line of formatTable(head, rows)) printLine(terminal, line);
  for (const { name, drivers, dialects, adapters } of plugins) {
    for (const driver of drivers) printLine(terminal, `${name}: secrets.plugin.driver ${driver}`);
    for (const dialect of dialects) printLine(terminal, `${name}: service hook --dialect ${dialect}`);
    for (const adapter of adapters) printLine(terminal, `${name}: POST /v1/adapters/${adapter}`);
  }
  for (const { path, problems } of plugins)
    for (const problem of problems)
      printNotice(terminal, `${escapeControls(path)}: ${escapeControls(problem)}`);
}

async function trustPlugins(options: TrustOptions, terminal: Terminal): Promise<void> {
  const { findPlugins, getTrustStatus, hashPluginFiles, readTrustedHashes, writeTrustedFiles } = await import(
    '../../../runtime/plugins/index.ts'
  );
  const { origin, ...config } = await loadCliConfig(terminal, options.config, 'leave');
  const { sources, missing } = await findPlugins({ ...config, origin });
  for (const { problem } of missing) printNotice(terminal, escapeControls(problem.message));
  const hashed = await Promise.all(sources.map(({ path }) => hashPluginFiles(path)));
  const files = [...new Map(hashed.flat().map((file) => [file.path, file])).values()];
  const trusted = await readTrustedHashes(origin.base_dir);
  const rows = files.map((file) => ({ ...file, status: getTrustStatus(file, trusted) }));
  if (!options.json) {
    if (rows.length === 0) printLine(terminal, 'There are no plug-ins.');
    for (const { path, sha256, status } of rows)
      printLine(terminal, `${status.padEnd(8)} ${sha256}  ${escapeControls(path)}`);
  }
  const isOpen = rows.some(({ status }) => status !== 'trusted');
  const done =
    isOpen && (await askConsent('Run this code in the service and its commands?', options, terminal));
  if (done) writeTrustedFiles(origin.base_dir, files);
  if (options.json) printJson(terminal, { folder: origin.base_dir, files: rows, done });
  else if (done)
    printLine(terminal, 'Trusted. A running service loads them after `customshouse policy reload`.');
  else if (isOpen) printLine(terminal, 'Nothing was changed.');
}

async function checkOne(name: string, options: Options, terminal: Terminal): Promise<void> {
  const [{ findPlugin, loadPlugin }, { buildPolicySettings }] = await Promise.all([
    import('../../../runtime/plugins/index.ts'),
    import('../../../runtime/policies/index.ts'),
  ]);
  const source = await findPlugin(name, terminal.cwd);
  if (source === null)
    throw new CommandFailure(
      EXIT.usage,
      'not_found',
      `There is no file and no installed package \`${name}\`.`,
    );
  const config = await loadCliConfig(terminal, options.config, 'leave');
  const { report, plugin } = await loadPlugin(source, buildPolicySettings(config), config.plugins.timeout_ms);
  if (report.status === 'rejected') terminal.exit_code = EXIT.no;
  if (options.json) printJson(terminal, report);
  else printReport(report, plugin, terminal);
}

function printReport(report: PluginReport, plugin: Plugin | null, terminal: Terminal): void {
  for (const { message } of report.problems) printNotice(terminal, `problem  ${escapeControls(message)}`);
  if (plugin === null) {
    printLine(terminal, `${paintText(terminal, 'red', 'left out')}  ${escapeControls(report.from)}`);
    return;
  }
  printLine(terminal, `${paintText(terminal, 'green', 'good')}  ${plugin.name} ${plugin.version}`);
  for (const { id, examples } of plugin.detectors) {
    const tried = `${formatCount(examples.hits.length, 'hit')}, ${formatCount(examples.misses.length, 'miss', 'misses')}`;
    printLine(terminal, `  detector ${id}: ${tried}`);
  }
  for (const template of plugin.templates) printLine(terminal, `  template ${template.name}`);
  for (const driver of plugin.drivers) printLine(terminal, `  driver ${driver.name}: code that stays`);
  for (const kind of ['dialects', 'adapters'] as const)
    for (const { name, events, examples } of plugin[kind])
      printLine(
        terminal,
        `  ${kind.slice(0, -1)} ${name}: ${formatCount(Object.keys(events).length, 'event')}, ${formatCount(examples.length, 'example')}`,
      );
}
