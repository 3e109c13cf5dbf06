import type { Command } from 'commander';
import { ask } from '../ask.ts';
import { configOption, examples, jsonOption } from '../options.ts';
import { table } from '../table.ts';
import { say, sayJson, type Terminal } from '../terminal.ts';

interface Listed {
  readonly plugins: readonly { readonly name: string; readonly detector_count?: number }[];
}

export function plugins(command: Command, terminal: Terminal): void {
  const list = command
    .command('list')
    .summary('list the plug-ins that are in use')
    .description('List the plug-ins that are in use.')
    .addOption(configOption())
    .addOption(jsonOption())
    .action(async (options: { config?: string; json?: true }) => {
      const reply = (await ask(terminal, options.config, 'plugins_list', {})) as Listed;
      if (options.json) sayJson(terminal, reply);
      else for (const line of listing(reply)) say(terminal, line);
    });
  examples(list, [['service plugins list --json', '']]);
  examples(command, [['service plugins list', '']]);
}

function listing({ plugins }: Listed): string[] {
  if (plugins.length === 0) return ['There are no plug-ins.'];
  return table(
    ['NAME', 'DETECTORS'],
    plugins.map(({ name, detector_count = 0 }) => [name, String(detector_count)]),
  );
}
