import type { Command } from 'commander';
import { EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { addExamples, buildConfigOption, buildJsonOption } from '../../../operations/cli-kit/options.ts';
import {
  escapeControls,
  paintText,
  printJson,
  printLine,
  type Terminal,
} from '../../../operations/cli-kit/terminal.ts';
import { getPackageVersion } from '../../../platform/version.ts';
import type { ServiceStatus } from '../../../server/service.ts';
import { loadCliConfig } from '../load-cli-config.ts';

interface StatusOptions {
  readonly config?: string;
  readonly json?: true;
}

export function defineStatus(command: Command, terminal: Terminal): void {
  command
    .description(
      'Show whether a service or a hook daemon runs for this configuration: its address, process, version and active policy. Ends with 1 if none runs.',
    )
    .addOption(buildConfigOption())
    .addOption(buildJsonOption())
    .action((options: StatusOptions) => runStatus(options, terminal));
  addExamples(command, [
    ['customshouse status', ''],
    ['customshouse status --config /etc/customshouse/service.yaml --json', 'for a monitor'],
  ]);
}

async function runStatus(options: StatusOptions, terminal: Terminal): Promise<void> {
  const config = await loadCliConfig(terminal, options.config, 'leave');
  const { connectService } = await import('../../../server/socket-client.ts');
  const service = await connectService(config.state_dir);
  const found = service === null ? null : await service.status().finally(service.close);
  if (found === null) terminal.exit_code = EXIT.no;
  const { origin, state_dir, server, audit } = config;
  if (options.json) {
    printJson(terminal, {
      running: found !== null,
      version: getPackageVersion(),
      config_file: origin.file,
      state_dir,
      mode: server.mode,
      audit: audit.enabled,
      service: found,
    });
    return;
  }
  printLine(terminal, formatHeadline(found, terminal));
  const lines: readonly (readonly [name: string, value: string])[] = [
    ...(found?.url ? [['Address', found.url] as const] : []),
    ...(found === null
      ? []
      : ([
          ['Process', getProcess(found)],
          ['Policy', found.policy_hash],
        ] as const)),
    ['Config', origin.file ?? 'none: every setting has its default'],
    ['State', state_dir],
    ['Audit log', audit.enabled ? 'on' : 'off (`audit.enabled: false`)'],
  ];
  for (const [name, value] of lines) printLine(terminal, `  ${name.padEnd(10)} ${escapeControls(value)}`);
  if (found === null) printLine(terminal, `\nStart it with \`${terminal.name} serve\`.`);
}

function formatHeadline(found: ServiceStatus | null, terminal: Terminal): string {
  if (found === null) return paintText(terminal, 'yellow', 'Not running');
  return paintText(terminal, 'green', found.url === null ? 'Hook daemon running' : 'Service running');
}

function getProcess({ pid, version, workers }: ServiceStatus): string {
  const count = workers.length === 1 ? '1 worker' : `${workers.length} workers`;
  return `${pid}, version ${version}, ${workers.length === 0 ? 'no workers' : count}`;
}
