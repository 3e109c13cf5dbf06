import { randomUUID } from 'node:crypto';
import type { JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import { type StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { matchesAny } from '../../../core/tags.ts';
import { type ConnectionParts, openConfiguredConnection } from '../../../gateways/mcp/connection.ts';
import { openGatewayServer } from '../../../gateways/mcp/gateway-server.ts';
import { collectInstructions } from '../../../gateways/mcp/instructions.ts';
import { openPolicyGuard } from '../../../gateways/mcp/policy-guard.ts';
import { PolicyRefusal } from '../../../gateways/mcp/policy-refusal.ts';
import { openRequestStates } from '../../../gateways/mcp/request-state.ts';
import {
  type ClientNotice,
  openChangeNotifier,
  openResourceWatcher,
  type ResourceWatcher,
} from '../../../gateways/mcp/resource-watcher.ts';
import type { McpServerSettings } from '../../../gateways/mcp/transports.ts';
import {
  openConfiguredServer,
  openWrappedServer,
  type UpstreamServer,
  type UpstreamServerParts,
  type WrappedProgram,
} from '../../../gateways/mcp/upstream-server.ts';
import { type LocalOperationsOptions, openLocalOperations } from '../server/local-operations.ts';
import { openStdioInput, openStdioTransport } from '../stdio-input.ts';
import { buildGuardPorts } from './guard-ports.ts';
import { readSubscriptionChange, type SubscriptionChange } from './subscription-changes.ts';

export interface GatewayOptions extends Omit<LocalOperationsOptions, 'operator_token'> {
  /** The program to wrap; or the configured servers, of which the agent gets those that it may use. */
  readonly target: WrappedProgram | readonly McpServerSettings[];
  readonly env: NodeJS.ProcessEnv;
  readonly agent_id: string;
  readonly user_id: string;
  readonly failed: (server: string, what: string, error: unknown) => void;
}

const TENANT = 'default';

/** Serves the MCP proxy on standard input and output until the input ends and its requests are answered. */
export async function serveGatewayOnStdio(options: GatewayOptions): Promise<void> {
  const { version, agent_id, user_id, env, failed } = options;
  // The proxy acts as an agent, even if the environment contains an operator token: it decides nothing for approvers.
  const runner = openLocalOperations({ ...options, operator_token: undefined });
  const sessionId = `mcp-${randomUUID()}`;
  const guard = openPolicyGuard(buildGuardPorts(runner.run), { agent_id, session_id: sessionId, user_id });
  const clients = new Set<Server>();
  const notify = (notice: ClientNotice) => {
    for (const client of clients)
      void client
        .notification(notice)
        .catch((error: unknown) => failed('', 'a change notification was not sent', error));
  };
  const notifier = openChangeNotifier(notify, failed);
  const servers = openUpstreamServers(options, {
    guard,
    states: openRequestStates(),
    version,
    env,
    stderr: 'inherit',
    onChange: notifier.report,
  });
  const watcher = openResourceWatcher(servers);
  const onListFailure = (one: UpstreamServer, list: 'tools' | 'resources' | 'prompts') =>
    notifier.report(one, { list });
  const input = openStdioInput(process.stdin);
  const transport = openStdioTransport(input.stream, process.stdout);
  const handle = serveStdio(
    async () => {
      const instructions = await collectInstructions({ servers, logFailure: failed, onListFailure });
      const title = getTitle(servers);
      const server = openGatewayServer({
        servers,
        watcher,
        version,
        title,
        instructions,
        onListFailure,
        logFailure: failed,
      });
      clients.add(server);
      server.onclose = () => clients.delete(server);
      return server;
    },
    { transport, maxSubscriptions: SUBSCRIPTIONS_MAX },
  );
  watchListens(transport, watcher);
  input.watch(transport);
  await input.ended;
  notifier.close();
  await handle.close();
  await Promise.all(servers.map(({ upstream }) => upstream.close()));
  await runner.close();
}

const SUBSCRIPTIONS_MAX = 100;

function openUpstreamServers(
  { target: behind, agent_id }: GatewayOptions,
  parts: UpstreamServerParts & ConnectionParts,
): readonly UpstreamServer[] {
  if (!isList(behind)) return [openWrappedServer(behind, parts)];
  return behind
    .filter(({ agents, tenants }) => matchesAny(agents, agent_id) && matchesAny(tenants, TENANT))
    .map((settings) =>
      openConfiguredServer(
        settings,
        (reported) => openConfiguredConnection(settings, parts, reported),
        parts,
      ),
    );
}

function isList(target: GatewayOptions['target']): target is readonly McpServerSettings[] {
  return Array.isArray(target);
}

/**
 * Returns the title of the proxy: the name of a single server. With several servers, the names of the tools distinguish
 * them.
 */
function getTitle(targets: readonly UpstreamServer[]): string {
  const [only, other] = targets;
  return only === undefined || other !== undefined ? 'service gateway' : `service gateway: ${only.name}`;
}

/**
 * Reads which resources a client subscribes to before the library gets the request, because the library does not know
 * the servers.
 */
function watchListens(transport: StdioServerTransport, watching: ResourceWatcher): void {
  const pass = transport.onmessage;
  transport.onmessage = (message: JSONRPCMessage) => {
    const listen = readSubscriptionChange(message);
    if (listen === null) return pass?.(message);
    if (listen.ends) {
      void watching.unwatch(listen.holder);
      return pass?.(message);
    }
    void watchResources(listen, watching).then((refusal) => {
      if (refusal === null) pass?.(message);
      else void transport.send({ jsonrpc: '2.0', id: listen.id, error: refusal }).catch(() => {});
    });
  };
}

async function watchResources(
  listen: SubscriptionChange,
  watching: ResourceWatcher,
): Promise<{ code: number; message: string } | null> {
  try {
    await watching.watch(listen.holder, listen.uris);
    return null;
  } catch (error) {
    await watching.unwatch(listen.holder);
    const message =
      error instanceof PolicyRefusal ? error.message : 'The server behind the gateway has failed.';
    return { code: -32600, message };
  }
}
