import { Console } from 'node:console';
import { CommandFailure, EXIT } from '../../operations/cli-kit/command-failure.ts';
import { convertExpectedFailure } from '../../operations/cli-kit/convert-failure.ts';
import { printNotice, type Terminal } from '../../operations/cli-kit/terminal.ts';
import { describeFault, openLog } from '../../platform/log.ts';
import { getPackageVersion } from '../../platform/version.ts';
import type { Config } from '../../runtime/config/index.ts';
import type { GatewayOptions } from '../mcp/gateway/stdio.ts';
import { loadCliConfig } from './load-cli-config.ts';

/** Serves the tools until the MCP client closes standard input. */
export async function serveMcp(configPath: string | undefined, terminal: Terminal): Promise<void> {
  const config = await loadCliConfig(terminal, configPath, 'leave');
  const { serveToolsOnStdio } = await requireInstalled(() => import('../mcp/server/stdio.ts'));
  if (terminal.interactive)
    printNotice(
      terminal,
      'The MCP server is running and waits for a client on standard input. Press Ctrl-D to stop it; see docs/how-to/use-mcp-server.md.',
    );
  // Standard output carries the protocol. A plug-in that prints to it would break the protocol.
  globalThis.console = new Console(process.stderr, process.stderr);
  const log = openLog({ ...config.log, name: 'mcp' });
  await serveToolsOnStdio({
    state_dir: config.state_dir,
    configuration: () => loadCliConfig(terminal, configPath),
    version: getPackageVersion(),
    operator_token: terminal.env.SERVICE_OPERATOR_TOKEN || undefined,
    expected: convertExpectedFailure,
    fault: (error, operation) =>
      log.error('a tool met a fault', { tool: operation.name, ...describeFault(error) }),
  });
  await log.flush();
}

/** The options of `--wrap` and `--gateway`. */
export interface McpProxyOptions {
  readonly config?: string;
  readonly name?: string;
  readonly agent?: string;
  readonly user?: string;
}

/** Runs as a proxy in front of another MCP server until the MCP client closes standard input. */
export async function wrapServer(
  command: readonly string[],
  options: McpProxyOptions,
  terminal: Terminal,
): Promise<void> {
  const config = await loadCliConfig(terminal, options.config, 'leave');
  const name =
    options.name ??
    command
      .join(' ')
      .replace(/[^\x20-\x7e]/g, '?')
      .slice(0, NAME_CHARS_MAX);
  return serveGateway({ name, command }, config, options, terminal);
}

const NAME_CHARS_MAX = 200;

/** Runs as a proxy in front of the configured servers until the MCP client closes standard input. */
export async function serveConfigured(options: McpProxyOptions, terminal: Terminal): Promise<void> {
  const config = await loadCliConfig(terminal, options.config);
  const { servers } = config.mcp;
  if (servers.length === 0)
    throw new CommandFailure(EXIT.usage, 'not_configured', 'No MCP server is configured.', {
      hint: 'Add one under `mcp.servers` in service.yaml, or wrap a program with `customshouse mcp --wrap -- ...`.',
    });
  return serveGateway(servers, config, options, terminal);
}

async function serveGateway(
  behind: GatewayOptions['target'],
  config: Config,
  options: McpProxyOptions,
  terminal: Terminal,
): Promise<void> {
  const { serveGatewayOnStdio } = await requireInstalled(() => import('../mcp/gateway/stdio.ts'));
  globalThis.console = new Console(process.stderr, process.stderr);
  const log = openLog({ ...config.log, name: 'mcp' });
  await serveGatewayOnStdio({
    target: behind,
    env: terminal.env,
    agent_id: options.agent ?? 'mcp-client',
    user_id: options.user ?? '',
    state_dir: config.state_dir,
    configuration: () => loadCliConfig(terminal, options.config),
    version: getPackageVersion(),
    failed: (server, what, error) => log.error(what, { server, ...describeFault(error) }),
  });
  await log.flush();
}

/** Loads a module that needs the MCP library, which is optional and may not be installed. */
export async function requireInstalled<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new CommandFailure(EXIT.usage, 'not_installed', 'The MCP library is not installed.', {
      hint: 'Install it with `npm install @modelcontextprotocol/server@2 @modelcontextprotocol/client@2`.',
    });
  }
}
