import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { JSONRPCMessage, Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { matchesAny } from '../../../core/tags.ts';
import {
  type Behind,
  type BehindParts,
  configuredBehind,
  type Wrapped,
  wrappedBehind,
} from '../../../gateways/mcp/behind.ts';
import { type ConfiguredParts, configuredConnection } from '../../../gateways/mcp/connection.ts';
import { readsSources } from '../../../gateways/mcp/exact-transports.ts';
import { gatewayServer } from '../../../gateways/mcp/gateway.ts';
import { openGuard } from '../../../gateways/mcp/guard.ts';
import { instructionsOf } from '../../../gateways/mcp/instructions.ts';
import { Refused } from '../../../gateways/mcp/refused.ts';
import type { McpServerSettings } from '../../../gateways/mcp/transports.ts';
import { type Notice, openTelling, openWatching, type Watching } from '../../../gateways/mcp/watching.ts';
import { type LocalRoadOptions, openLocalRoad } from '../server/road.ts';
import { type Listen, listenIn } from './listens.ts';

export interface GatewayOptions extends Omit<LocalRoadOptions, 'operator_token'> {
  /** The server to stand before; or those of the configuration, as far as they are there for the agent. */
  readonly behind: Wrapped | readonly McpServerSettings[];
  readonly env: NodeJS.ProcessEnv;
  readonly agent_id: string;
  readonly user_id: string;
  readonly failed: (server: string, what: string, error: unknown) => void;
}

/** Every message that is longer ends the connection. */
const MESSAGE_BYTES_MAX = 16_777_216;
const TENANT = 'default';

/** Stands before servers on standard input and output until the input ends. */
export async function serveGatewayOnStdio(options: GatewayOptions): Promise<void> {
  const { version, agent_id, user_id, env, failed } = options;
  // The gateway asks as an agent, whatever the environment holds: it decides nothing for people.
  const road = openLocalRoad({ ...options, operator_token: undefined });
  const session_id = `mcp-${randomUUID()}`;
  const guard = openGuard(road.ask, { agent_id, session_id, user_id });
  const servers = new Set<Server>();
  const tell = (notice: Notice) => {
    for (const server of servers)
      void server
        .notification(notice as never)
        .catch((error: unknown) => failed('', 'a change notification was not sent', error));
  };
  const telling = openTelling(tell, failed);
  const behinds = behindsOf(options, { guard, version, env, stderr: 'inherit', told: telling.told });
  const watching = openWatching(behinds);
  const arrived = (one: Behind, list: 'tools' | 'resources' | 'prompts') => telling.told(one, { list });
  const transport = readsSources(new StdioServerTransport(process.stdin, process.stdout), MESSAGE_BYTES_MAX);
  const handle = serveStdio(
    async () => {
      const instructions = await instructionsOf({ behinds, failed, arrived });
      const title = titleOf(behinds);
      const server = gatewayServer({ behinds, watching, version, title, instructions, arrived, failed });
      servers.add(server);
      server.onclose = () => servers.delete(server);
      return server;
    },
    { transport, maxSubscriptions: SUBSCRIPTIONS_MAX },
  );
  watchListens(transport, watching);
  await once(process.stdin, 'close');
  telling.close();
  await handle.close();
  await Promise.all(behinds.map(({ upstream }) => upstream.close()));
  await road.close();
}

const SUBSCRIPTIONS_MAX = 100;

function behindsOf(
  { behind, agent_id }: GatewayOptions,
  parts: BehindParts & ConfiguredParts,
): readonly Behind[] {
  if (!isList(behind)) return [wrappedBehind(behind, parts)];
  return behind
    .filter(({ agents, tenants }) => matchesAny(agents, agent_id) && matchesAny(tenants, TENANT))
    .map((settings) =>
      configuredBehind(settings, (told) => configuredConnection(settings, parts, told), parts),
    );
}

function isList(behind: GatewayOptions['behind']): behind is readonly McpServerSettings[] {
  return Array.isArray(behind);
}

/** One server's name; several are told apart by the names of their tools. */
function titleOf(behinds: readonly Behind[]): string {
  const [only, other] = behinds;
  return only === undefined || other !== undefined ? 'service gateway' : `service gateway: ${only.name}`;
}

/** Which resources a client listens for is settled before the library takes the request, which knows no servers. */
function watchListens(transport: StdioServerTransport, watching: Watching): void {
  const pass = transport.onmessage;
  transport.onmessage = (message: JSONRPCMessage) => {
    const listen = listenIn(message);
    if (listen === null) return pass?.(message);
    if (listen.ends) {
      void watching.leave(listen.holder);
      return pass?.(message);
    }
    void takeListen(listen, watching).then((refusal) => {
      if (refusal === null) pass?.(message);
      else void transport.send({ jsonrpc: '2.0', id: listen.id, error: refusal }).catch(() => {});
    });
  };
}

async function takeListen(
  listen: Listen,
  watching: Watching,
): Promise<{ code: number; message: string } | null> {
  try {
    await watching.want(listen.holder, listen.uris);
    return null;
  } catch (error) {
    await watching.leave(listen.holder);
    const message = error instanceof Refused ? error.message : 'The server behind the gateway has failed.';
    return { code: -32600, message };
  }
}
