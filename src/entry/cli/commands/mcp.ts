import type { Command } from 'commander';
import { CommandFailure, EXIT } from '../../../operations/cli-kit/command-failure.ts';
import { addExamples, buildConfigOption } from '../../../operations/cli-kit/options.ts';
import type { Terminal } from '../../../operations/cli-kit/terminal.ts';
import type { McpProxyOptions } from '../mcp.ts';

interface McpOptions extends McpProxyOptions {
  readonly wrap?: true;
  readonly gateway?: true;
}

export function defineMcp(command: Command, terminal: Terminal): void {
  command
    .description(
      'Run the MCP server of this service on standard input and output, for the configuration of an MCP client. Agents check and ask with its tools. `approve`, `deny` and `reload_policies` need the operator token in SERVICE_OPERATOR_TOKEN. A running service has the same tools at /mcp. With --wrap, run the MCP proxy: start another MCP server and check every call and result. With --gateway, run the proxy for all servers of `mcp.servers`; a running service has it at /mcp/gateway.',
    )
    .option('--wrap', 'proxy the MCP server that the command after `--` starts')
    .option('--gateway', 'proxy the servers of `mcp.servers`')
    .option('--name <name>', 'with --wrap: name of the server (default: its command)')
    .option('--agent <id>', 'the agent that calls (default: mcp-client)')
    .option('--user <id>', 'user of the tool list, if the server shows users different ones')
    .argument('[command...]', 'after `--`: the server and its arguments')
    .addOption(buildConfigOption())
    .action((words: string[], options: McpOptions) => runMcp(words, options, terminal));
  addExamples(command, [
    ['customshouse mcp', 'what an MCP host starts'],
    ['customshouse mcp --config deploy/service.yaml', 'the service of another folder'],
    [
      'customshouse mcp --wrap -- npx -y @modelcontextprotocol/server-filesystem .',
      'another server, guarded',
    ],
    ['customshouse mcp --gateway', 'all servers of the configuration, guarded'],
    ['customshouse mcp pins list', 'the tools of guarded servers that are known'],
  ]);
}

async function runMcp(words: readonly string[], options: McpOptions, terminal: Terminal): Promise<void> {
  const { serveConfigured, serveMcp, wrapServer } = await import('../mcp.ts');
  if (options.wrap === true && options.gateway === true)
    throw new CommandFailure(
      EXIT.usage,
      'usage',
      '`--wrap` and `--gateway` exclude each other: use one of them.',
    );
  if ((options.wrap === true) !== words.length > 0)
    throw new CommandFailure(
      EXIT.usage,
      'usage',
      '`--wrap` needs the command of the MCP server after `--`.',
      {
        hint: 'For example `customshouse mcp --wrap -- npx -y some-server`.',
      },
    );
  if (options.name !== undefined && options.wrap !== true)
    throw new CommandFailure(
      EXIT.usage,
      'usage',
      '`--name` is for `--wrap`: other servers have theirs in the configuration.',
    );
  if (options.gateway === true) return serveConfigured(options, terminal);
  if (options.wrap !== true) return serveMcp(options.config, terminal);
  return wrapServer(words, options, terminal);
}
