import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from '@modelcontextprotocol/server';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import { type LocalRoadOptions, openLocalRoad } from '../server/road.ts';
import { gatewayServer } from './gateway.ts';
import { openGuard } from './guard.ts';
import { openUpstream } from './upstream.ts';

export interface WrapOptions extends Omit<LocalRoadOptions, 'operator_token'> {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** By which name the server is known here; without it, its command. */
  readonly name: string | null;
  readonly agent_id: string;
  readonly user_id: string;
  readonly failed: (what: string, error: unknown) => void;
}

const NAME_CHARS_MAX = 200;

/** Stands before a server on standard input and output until the input ends. */
export async function wrapOnStdio(options: WrapOptions): Promise<void> {
  const { command, version, agent_id, user_id, failed } = options;
  // The gateway asks as an agent, whatever the environment holds: it decides nothing for people.
  const road = openLocalRoad({ ...options, operator_token: undefined });
  const name =
    options.name ??
    command
      .join(' ')
      .replace(/[^\x20-\x7e]/g, '?')
      .slice(0, NAME_CHARS_MAX);
  const session_id = `mcp-${randomUUID()}`;
  const guard = openGuard(road, { agent_id, session_id, user_id, server: name });
  const servers = new Set<Server>();
  const upstream = openUpstream({
    command,
    env: options.env,
    version,
    changed: (method) => {
      for (const server of servers)
        void server
          .notification({ method } as never)
          .catch((error: unknown) => failed('a change was not told', error));
    },
  });
  const handle = serveStdio(
    () => {
      const server = gatewayServer({ upstream, guard, version, server: name, failed });
      servers.add(server);
      server.onclose = () => servers.delete(server);
      return server;
    },
    { transport: new StdioServerTransport() },
  );
  await once(process.stdin, 'close');
  await handle.close();
  await upstream.close();
  await road.close();
}
