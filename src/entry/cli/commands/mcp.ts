import type { Command } from 'commander';
import { configOption, examples } from '../options.ts';
import type { Terminal } from '../terminal.ts';

export function mcp(command: Command, terminal: Terminal): void {
  command
    .description(
      'Serve the tools of this service over MCP, on standard input and output: for the configuration of an MCP host.\n' +
        'An agent checks and asks with them. What needs a person (`approve`, `deny`, `reload_policies`) works only where\n' +
        'the environment has the operator token as SERVICE_OPERATOR_TOKEN. Over HTTP a running service has them at /mcp.',
    )
    .addOption(configOption())
    .action(async (options: { config?: string }) =>
      (await import('../mcp.ts')).serveMcp(options.config, terminal),
    );
  examples(command, [
    ['service mcp', 'what an MCP host starts'],
    ['service mcp --config deploy/service.yaml', 'the service of another folder'],
  ]);
}
