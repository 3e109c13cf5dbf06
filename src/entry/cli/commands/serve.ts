import { type Command, Option } from 'commander';
import { addExamples, buildConfigOption, parseWholeNumber } from '../../../operations/cli-kit/options.ts';
import type { Terminal } from '../../../operations/cli-kit/terminal.ts';
import type { ServeOptions } from '../serve-until-stopped.ts';

export function defineServe(command: Command, terminal: Terminal): void {
  command
    .description('Start the HTTP service. Options come before the configuration. Ctrl-C stops it gracefully.')
    .addOption(
      new Option('--mode <mode>', 'sidecar: one agent; gateway: many').choices(['sidecar', 'gateway']),
    )
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option(
      '-p, --port <port>',
      'port to listen on (default: 8000; 0: any free port)',
      parseWholeNumber(0, 65_535),
    )
    .option('--workers <count>', 'number of worker processes (default: 1)', parseWholeNumber(1, 256))
    .option(
      '--upstream-base-url <url>',
      'the model provider behind it, `proxy.target` (default: $SERVICE_UPSTREAM_BASE_URL)',
    )
    .addOption(buildConfigOption())
    .addOption(new Option('--json', 'report the start as one line of JSON'))
    .action(async (options: ServeOptions) =>
      (await import('../serve-until-stopped.ts')).serveUntilStopped(options, terminal),
    );
  addExamples(command, [
    ['customshouse serve', 'http://127.0.0.1:8000, defaults'],
    ['customshouse serve --mode gateway --port 8910', 'for many agents'],
    ['customshouse serve --upstream-base-url https://api.openai.com/v1', 'in front of a model provider'],
    ['customshouse serve --config deploy/service.yaml --workers 4', ''],
  ]);
}
