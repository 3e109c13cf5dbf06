import { Console } from 'node:console';
import { faultFields, openLog } from '../../runtime/log.ts';
import { configOf } from './configuration.ts';
import { CommandFailure, EXIT } from './exit.ts';
import { expectedFailure } from './failures.ts';
import { remark, type Terminal } from './terminal.ts';
import { packageVersion } from './version.ts';

/** Serves the tools until the host closes standard input. */
export async function serveMcp(config_path: string | undefined, terminal: Terminal): Promise<void> {
  const config = await configOf(terminal, config_path, 'leave');
  const { serveToolsOnStdio } = await installed(() => import('../mcp/server/stdio.ts'));
  if (terminal.interactive)
    remark(terminal, 'This speaks MCP and waits for a host: see docs/mcp.md. Ctrl-D ends it.');
  // Standard output is the protocol's; a plug-in that prints would break it.
  globalThis.console = new Console(process.stderr, process.stderr);
  const log = openLog({ level: config.log.level, name: 'mcp' });
  await serveToolsOnStdio({
    state_dir: config.state_dir,
    configuration: () => configOf(terminal, config_path),
    version: packageVersion(),
    operator_token: terminal.env.SERVICE_OPERATOR_TOKEN || undefined,
    expected: expectedFailure,
    fault: (error, operation) =>
      log.error('a tool met a fault', { tool: operation.name, ...faultFields(error) }),
  });
  await log.flush();
}

/** What `--wrap` is told. */
export interface WrapWords {
  readonly config?: string;
  readonly name?: string;
  readonly agent?: string;
  readonly user?: string;
}

/** Stands before another MCP server until the host closes standard input. */
export async function wrapServer(
  command: readonly string[],
  options: WrapWords,
  terminal: Terminal,
): Promise<void> {
  const config = await configOf(terminal, options.config, 'leave');
  const { wrapOnStdio } = await installed(() => import('../mcp/gateway/stdio.ts'));
  globalThis.console = new Console(process.stderr, process.stderr);
  const log = openLog({ level: config.log.level, name: 'mcp' });
  await wrapOnStdio({
    command,
    env: terminal.env,
    name: options.name ?? null,
    agent_id: options.agent ?? 'mcp-client',
    user_id: options.user ?? '',
    state_dir: config.state_dir,
    configuration: () => configOf(terminal, options.config),
    version: packageVersion(),
    failed: (what, error) => log.error(what, faultFields(error)),
  });
  await log.flush();
}

/** The library is optional: an installation may have left it out. */
async function installed<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new CommandFailure(EXIT.usage, 'not_installed', 'The MCP library is not installed.', {
      hint: 'Install it with `npm install @modelcontextprotocol/server@2 @modelcontextprotocol/client@2`.',
    });
  }
}
