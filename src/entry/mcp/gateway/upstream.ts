import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

/** The server behind the gateway, started when it is first needed and again after it has ended. */
export interface Upstream {
  /** Connected; rejects where it cannot be started now. */
  readonly client: () => Promise<Client>;
  readonly close: () => Promise<void>;
}

export interface UpstreamOptions {
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  /** Told when the server says that one of its lists is another now. */
  readonly changed: (method: string) => void;
}

const PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;

const CHANGES = [
  'notifications/tools/list_changed',
  'notifications/resources/list_changed',
  'notifications/prompts/list_changed',
] as const;

/** Gives the connection to a server by its command; nothing runs before somebody asks for it. */
export function openUpstream(options: UpstreamOptions): Upstream {
  let current: Promise<Client> | null = null;
  let failures = 0;
  let is_closed = false;

  async function start(): Promise<Client> {
    if (failures > 0) await sleep(Math.min(PAUSE_MS * 2 ** (failures - 1), PAUSE_MS_MAX));
    if (is_closed) throw new Error('the gateway is closed');
    failures += 1;
    const client = new Client(
      { name: 'service-gateway', version: options.version },
      // Nothing is offered that the server could ask of the person or the model on the other side.
      { capabilities: {}, versionNegotiation: { mode: 'auto' } },
    );
    client.onclose = () => {
      current = null;
    };
    for (const method of CHANGES)
      client.setNotificationHandler(method, () => {
        options.changed(method);
      });
    const [command, ...args] = options.command;
    await client.connect(
      new StdioClientTransport({
        command: command!,
        args,
        env: ownEnvironment(options.env),
        stderr: 'inherit',
      }),
    );
    failures = 0;
    return client;
  }

  return {
    client: () => {
      current ??= start().catch((error) => {
        current = null;
        throw error;
      });
      return current;
    },
    close: async () => {
      is_closed = true;
      await (await current?.catch(() => null))?.close();
    },
  };
}

/** The environment of the host without what is ours: credentials of this service are no business of another's server. */
function ownEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || name.startsWith('SERVICE_') ? [] : [[name, value] as const],
    ),
  );
}
