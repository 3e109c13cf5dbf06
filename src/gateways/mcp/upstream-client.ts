import { setTimeout as sleep } from 'node:timers/promises';
import { Client, SdkHttpError } from '@modelcontextprotocol/client';
import {
  type ChangeListener,
  type ChangeSubscription,
  openChangeSubscription,
} from './change-subscription.ts';
import { classifyFailure, isConfigurationFailure, ServerFailure } from './server-failure.ts';
import type { ServerTransport } from './transports.ts';

/** A server behind the gateway, connected to when it is first needed and again after it has ended. */
export interface UpstreamClient {
  /** Does something with the connection; rejects where there can be none now. */
  readonly use: <T>(work: (client: Client, connection: ConnectionState) => Promise<T>) => Promise<T>;
  /** Whether the last try to connect failed, or the connection has ended: others need not wait for this server. */
  readonly is_failing: () => boolean;
  /** Wants to hear of changes of a resource, or no longer. */
  readonly watch: (uri: string, is_wanted: boolean) => Promise<void>;
  /** Whether somebody wants to be told of changes: then it is connected to without being asked, and again after it has ended. */
  readonly attend: (is_wanted: boolean) => void;
  readonly close: () => Promise<void>;
}

/** What is known of the connection at the moment. */
export interface ConnectionState {
  /** Whether the server would tell now if its list of tools changed. */
  readonly reports_tools: boolean;
}

export interface UpstreamClientOptions {
  /** A new way to the server; asked for again after one has ended. */
  readonly openTransport: () => ServerTransport;
  readonly version: string;
  readonly connect_ms: number;
  /** Whoever asks within a pause waits for so long at most, and is refused at once where it lasts longer. */
  readonly wait_ms: number;
  /** Told what the server says has changed. */
  readonly onChange: ChangeListener;
  /** A clock that never jumps, in milliseconds. */
  readonly now_ms?: () => number;
}

/** A pause after a connection has ended, which doubles until one has held for a while. */
const PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;
/** A connection that held for so long is not counted with the failures before it. */
const STEADY_MS = 10_000;

interface ActiveConnection {
  readonly client: Client;
  readonly subscription: ChangeSubscription;
  /** Tells the server that nobody comes back. Never rejects. */
  readonly endSession: () => Promise<void>;
}

const LEAVE_MS_MAX = 1_000;

/** Opens the way to a server; nothing runs and nothing is connected to before somebody asks for it. */
export function openUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const watched = new Set<string>();
  const { wait_ms, now_ms = () => performance.now() } = options;
  const pauses = openBackoff(wait_ms, now_ms);
  let current: Promise<ActiveConnection> | null = null;
  let is_closed = false;
  let is_attended = false;
  let timer: NodeJS.Timeout | null = null;

  async function connected(): Promise<ActiveConnection> {
    await pauses.wait();
    if (is_closed) throw new ServerFailure('unreachable');
    return connect(options, watched, now_ms, {
      connected: pauses.connected,
      refused: pauses.refused,
      over: (began_ms) => {
        current = null;
        pauses.failed(began_ms);
        timer = setTimeout(keepConnected, pauses.left_ms()).unref();
      },
    });
  }

  function keepConnected(): void {
    if (is_attended && !is_closed) connection().catch(() => {});
  }

  function connection(): Promise<ActiveConnection> {
    current ??= connected().catch((error: unknown) => {
      current = null;
      throw error;
    });
    return current;
  }

  return {
    use: (work) => runOnce(work, connection),
    is_failing: pauses.is_failing,
    watch: async (uri, is_wanted) => {
      if (is_wanted === watched.has(uri)) return;
      if (is_wanted) watched.add(uri);
      else watched.delete(uri);
      if (is_wanted || current !== null) await (await connection()).subscription.renew(uri, is_wanted);
    },
    attend: (is_wanted) => {
      is_attended = is_wanted;
      keepConnected();
    },
    close: async () => {
      is_closed = true;
      if (timer !== null) clearTimeout(timer);
      const last = await current?.catch(() => null);
      await Promise.race([last?.endSession(), sleep(LEAVE_MS_MAX, undefined, { ref: false })]);
      await last?.client.close().catch(() => {});
    },
  };
}

async function runOnce<T>(
  work: (client: Client, connection: ConnectionState) => Promise<T>,
  connection: () => Promise<ActiveConnection>,
): Promise<T> {
  const { client, subscription } = await connection();
  try {
    return await work(client, { reports_tools: subscription.reports_tools() });
  } catch (error) {
    if (!hasLostSession(client, error)) throw error;
    // What it was asked it has not looked at: it is asked once more, in a session that it knows.
    await client.close().catch(() => {});
    const again = await connection();
    return work(again.client, { reports_tools: again.subscription.reports_tools() });
  }
}

interface ConnectionEvents {
  readonly connected: () => void;
  /** Told why a connection never came about, before `over`. */
  readonly refused: (error: unknown) => void;
  /** Told once when the connection has ended or never came about: since when it was there, or `null`. */
  readonly over: (began_ms: number | null) => void;
}

async function connect(
  { openTransport, version, connect_ms, onChange }: UpstreamClientOptions,
  watched: ReadonlySet<string>,
  now_ms: () => number,
  { connected, refused, over }: ConnectionEvents,
): Promise<ActiveConnection> {
  const { transport, reports_changes, endSession, close } = openTransport();
  const client = createClient(version);
  const subscription = openChangeSubscription(client, onChange, watched, reports_changes);
  let began_ms: number | null = null;
  let is_over = false;
  const end = () => {
    if (is_over) return;
    is_over = true;
    over(began_ms);
    subscription.close();
    close().catch(() => {});
  };
  client.onclose = end;
  try {
    await client.connect(transport, { timeout: connect_ms });
  } catch (error) {
    refused(error);
    await client.close().catch(() => {});
    end();
    throw error;
  }
  began_ms = now_ms();
  connected();
  subscription.start();
  return { client, subscription, endSession };
}

/** Whether a server of an earlier revision knows the session no more. */
function hasLostSession(client: Client, error: unknown): boolean {
  return client.getProtocolEra() !== 'modern' && error instanceof SdkHttpError && error.status === 404;
}

function createClient(version: string): Client {
  return new Client(
    { name: 'service-gateway', version },
    // Nothing is offered that the server could ask of the person or the model on the other side.
    { capabilities: {}, versionNegotiation: { mode: 'auto' } },
  );
}

function openBackoff(wait_ms: number, now_ms: () => number) {
  let failures = 0;
  let until_ms = 0;
  let last: ServerFailure | null = null;
  let is_failing = false;
  const leftMs = () => Math.max(0, until_ms - now_ms());
  return {
    left_ms: leftMs,
    is_failing: () => is_failing,
    connected: () => {
      is_failing = false;
      last = null;
    },
    /** Keeps why the last try failed: a reason that only the configuration can change is told during the pause too. */
    refused: (error: unknown) => {
      last = classifyFailure(error);
    },
    /** Resolves when it may be tried again; rejects where that is too long to wait for. */
    wait: async () => {
      const left_ms = leftMs();
      if (left_ms > wait_ms)
        throw new ServerFailure(last !== null && isConfigurationFailure(last) ? last.code : 'resting');
      if (left_ms > 0) await sleep(left_ms);
    },
    /** @param began_ms - since when it was connected; `null` it never was */
    failed: (began_ms: number | null) => {
      const at_ms = now_ms();
      is_failing = true;
      failures = began_ms !== null && at_ms - began_ms >= STEADY_MS ? 1 : failures + 1;
      until_ms = at_ms + Math.min(PAUSE_MS * 2 ** (failures - 1), PAUSE_MS_MAX);
    },
  };
}
