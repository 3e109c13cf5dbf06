import type { Command } from 'commander';
import type { Plugin, PluginReport } from '../../../runtime/plugins/types.ts';
import { ask } from '../ask.ts';
import { configOf } from '../configuration.ts';
import { CommandFailure, EXIT } from '../exit.ts';
import { configOption, examples, jsonOption } from '../options.ts';
import { counted, table } from '../table.ts';
import { paint, remark, say, sayJson, shown, type Terminal } from '../terminal.ts';

interface Listed {
  readonly plugins: readonly {
    readonly name: string;
    readonly version: string | null;
    readonly path: string;
    readonly status: PluginReport['status'];
    readonly detector_count: number;
    readonly template_count: number;
    readonly drivers: readonly string[];
    readonly dialects: readonly string[];
    readonly adapters: readonly string[];
    readonly problems: readonly string[];
  }[];
}

interface Options {
  readonly config?: string;
  readonly json?: true;
}

export function plugins(command: Command, terminal: Terminal): void {
  const list = command
    .command('list')
    .summary('list the plug-ins of the configuration')
    .description(
      'List the plug-ins of the running service, or else of the configuration: active ones, and rejected ones with the reason.',
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options: Options) => {
      const reply = (await ask(terminal, options.config, (of) => of.pluginsList, {})) as Listed;
      if (options.json) sayJson(terminal, reply);
      else tellList(reply, terminal);
    });
  examples(list, [['service plugins list --json', '']]);
  const check = command
    .command('check')
    .summary('load one plug-in and test its examples')
    .description(
      'Load a plug-in as the service does, and test the examples of its detectors. This runs its code. Ends with 1 if the service would reject it.',
    )
    .argument('<plugin>', 'a file, a folder with a package in it, or a package that is installed')
    .addOption(configOption())
    .addOption(jsonOption())
    .action((name: string, options: Options) => checkOne(name, options, terminal));
  examples(check, [
    ['service plugins check plugins/acme.mjs', ''],
    ['service plugins check . --json', 'in the folder of a package'],
  ]);
  examples(command, [
    ['service plugins list', ''],
    ['service plugins check plugins/acme.mjs', ''],
  ]);
}

function tellList({ plugins }: Listed, terminal: Terminal): void {
  if (plugins.length === 0) {
    say(terminal, 'There are no plug-ins.');
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
  for (const line of table(head, rows)) say(terminal, line);
  for (const { name, drivers, dialects, adapters } of plugins) {
    for (const driver of drivers) say(terminal, `${name}: secrets.plugin.driver ${driver}`);
    for (const dialect of dialects) say(terminal, `${name}: service hook --dialect ${dialect}`);
    for (const adapter of adapters) say(terminal, `${name}: POST /v1/adapters/${adapter}`);
  }
  for (const { path, problems } of plugins)
    for (const problem of problems) remark(terminal, `${shown(path)}: ${shown(problem)}`);
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
      'There is no such file, and no installed package of that name.',
    );
  const config = await configOf(terminal, options.config, 'leave');
  const { report, plugin } = await loadPlugin(source, buildPolicySettings(config), config.plugins.timeout_ms);
  if (report.status === 'rejected') terminal.exit_code = EXIT.no;
  if (options.json) sayJson(terminal, report);
  else tellChecked(report, plugin, terminal);
}

function tellChecked(report: PluginReport, plugin: Plugin | null, terminal: Terminal): void {
  for (const { message } of report.problems) remark(terminal, `problem  ${shown(message)}`);
  if (plugin === null) {
    say(terminal, `${paint(terminal, 'red', 'left out')}  ${shown(report.from)}`);
    return;
  }
  say(terminal, `${paint(terminal, 'green', 'good')}  ${plugin.name} ${plugin.version}`);
  for (const { id, examples } of plugin.detectors) {
    const tried = `${counted(examples.hits.length, 'hit')}, ${counted(examples.misses.length, 'miss', 'misses')}`;
    say(terminal, `  detector ${id}: ${tried}`);
  }
  for (const template of plugin.templates) say(terminal, `  template ${template.name}`);
  for (const driver of plugin.drivers) say(terminal, `  driver ${driver.name}: code that stays`);
  for (const kind of ['dialects', 'adapters'] as const)
    for (const { name, events, examples } of plugin[kind])
      say(
        terminal,
        `  ${kind.slice(0, -1)} ${name}: ${counted(Object.keys(events).length, 'event')}, ${counted(examples.length, 'example')}`,
      );
}
