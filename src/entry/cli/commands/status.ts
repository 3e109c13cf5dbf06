import type { Command } from 'commander';
import { packageVersion } from '../../../platform/version.ts';
import type { ServiceStatus } from '../../../server/socket-server.ts';
import { configOf } from '../configuration.ts';
import { EXIT } from '../exit.ts';
import { configOption, examples, jsonOption } from '../options.ts';
import { paint, say, sayJson, shown, type Terminal } from '../terminal.ts';

interface StatusOptions {
  readonly config?: string;
  readonly json?: true;
}

export function status(command: Command, terminal: Terminal): void {
  command
    .description(
      'Show whether a service or a hook daemon runs for this configuration: its address, process, version and active policy. Ends with 1 if none runs.',
    )
    .addOption(configOption())
    .addOption(jsonOption())
    .action((options: StatusOptions) => run(options, terminal));
  examples(command, [
    ['service status', ''],
    ['service status --config /etc/agent-safety/service.yaml --json', 'for a monitor'],
  ]);
}

async function run(options: StatusOptions, terminal: Terminal): Promise<void> {
  const config = await configOf(terminal, options.config, 'leave');
  const { connectService } = await import('../../../server/socket-client.ts');
  const door = await connectService(config.state_dir);
  const found = door === null ? null : await door.status().finally(door.close);
  if (found === null) terminal.exit_code = EXIT.no;
  const { origin, state_dir, server, audit } = config;
  if (options.json) {
    sayJson(terminal, {
      running: found !== null,
      version: packageVersion(),
      config_file: origin.file,
      state_dir,
      mode: server.mode,
      audit: audit.enabled,
      service: found,
    });
    return;
  }
  say(terminal, headline(found, terminal));
  const lines: readonly (readonly [name: string, value: string])[] = [
    ...(found?.url ? [['Address', found.url] as const] : []),
    ...(found === null
      ? []
      : ([
          ['Process', processOf(found)],
          ['Policy', found.policy_hash],
        ] as const)),
    ['Config', origin.file ?? 'none: every setting has its default'],
    ['State', state_dir],
    ['Audit log', audit.enabled ? 'on' : 'off (`audit.enabled: false`)'],
  ];
  for (const [name, value] of lines) say(terminal, `  ${name.padEnd(10)} ${shown(value)}`);
  if (found === null) say(terminal, `\nStart it with \`${terminal.name} serve\`.`);
}

function headline(found: ServiceStatus | null, terminal: Terminal): string {
  if (found === null) return paint(terminal, 'yellow', 'Not running');
  return paint(terminal, 'green', found.url === null ? 'Hook daemon running' : 'Service running');
}

function processOf({ pid, version, workers }: ServiceStatus): string {
  const count = workers.length === 1 ? '1 worker' : `${workers.length} workers`;
  return `${pid}, version ${version}, ${workers.length === 0 ? 'no workers' : count}`;
}
