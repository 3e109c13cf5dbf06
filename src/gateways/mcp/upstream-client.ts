import { setTimeout as sleep } from 'node:timers/promises';
import { Client, SdkHttpError } from '@modelcontextprotocol/client';
import {
  type ChangeListener,
  type ChangeSubscription,
  openChangeSubscription,
} from './change-subscription.ts';
import { classifyFailure, isConfigurationFailure, ServerFailure } from './server-failure.ts';
import type { ServerTransport } from './transports.ts';

/** The client of an upstream server. It connects on first use, and again after the connection has ended. */
export interface UpstreamClient {
  /** Runs work on the connection. Rejects if no connection is possible now. */
  readonly use: <T>(work: (client: Client, connection: ConnectionState) => Promise<T>) => Promise<T>;
  /** Returns whether the last attempt failed or the connection ended. Callers need not wait for such a server. */
  readonly is_failing: () => boolean;
  /** Starts or stops watching changes of a resource. */
  readonly watch: (uri: string, isWanted: boolean) => Promise<void>;
  /** Sets whether a client subscribes to changes. If so, it connects without a request, and reconnects. */
  readonly attend: (isWanted: boolean) => void;
  readonly close: () => Promise<void>;
}

/** The state of the connection. */
export interface ConnectionState {
  /** True if the server currently reports changes of its tool list. */
  readonly reports_tools: boolean;
}

/** The options of an upstream client. */
export interface UpstreamClientOptions {
  /** Opens a new transport, again after each ended connection. */
  readonly openTransport: () => ServerTransport;
  readonly version: string;
  readonly connect_ms: number;
  /** The maximum wait during backoff, in milliseconds. A longer backoff refuses the caller at once. */
  readonly wait_ms: number;
  /** Receives the changes that the server reports. */
  readonly onChange: ChangeListener;
  /** A monotonic clock, in milliseconds. */
  readonly now_ms?: () => number;
}

/** The backoff after a connection ends, in milliseconds. It doubles until a connection lasts `STEADY_MS`. */
const PAUSE_MS = 500;
const PAUSE_MS_MAX = 30_000;
/** The duration after which a connection resets the count of failures, in milliseconds. */
const STEADY_MS = 10_000;

interface ActiveConnection {
  readonly client: Client;
  readonly subscription: ChangeSubscription;
  /** Ends the session at the server. Never rejects. */
  readonly endSession: () => Promise<void>;
}

const LEAVE_MS_MAX = 1_000;

/** Opens the client of a server. It starts and connects nothing before the first use. */
export function openUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const watched = new Set<string>();
  const { wait_ms, now_ms = () => performance.now() } = options;
  const pauses = openBackoff(wait_ms, now_ms);
  let current: Promise<ActiveConnection> | null = null;
  let isClosed = false;
  let isAttended = false;
  let timer: NodeJS.Timeout | null = null;

  async function openConnection(): Promise<ActiveConnection> {
    await pauses.wait();
    if (isClosed) throw new ServerFailure('unreachable');
    return connectClient(options, watched, now_ms, {
      connected: pauses.connected,
      refused: pauses.refused,
      over: (beganMs) => {
        current = null;
        pauses.failed(beganMs);
        timer = setTimeout(keepConnected, pauses.left_ms()).unref();
      },
    });
  }

  function keepConnected(): void {
    if (isAttended && !isClosed) getConnection().catch(() => {});
  }

  function getConnection(): Promise<ActiveConnection> {
    current ??= openConnection().catch((error: unknown) => {
      current = null;
      throw error;
    });
    return current;
  }

  return {
    use: (work) => runOnce(work, getConnection),
    is_failing: pauses.is_failing,
    watch: async (uri, isWanted) => {
      if (isWanted === watched.has(uri)) return;
      if (isWanted) watched.add(uri);
      else watched.delete(uri);
      if (isWanted || current !== null) await (await getConnection()).subscription.renew(uri, isWanted);
    },
    attend: (isWanted) => {
      isAttended = isWanted;
      keepConnected();
    },
    close: async () => {
      isClosed = true;
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
    // The server did not process the request, so it is sent once more in a new session.
    await client.close().catch(() => {});
    const again = await connection();
    return work(again.client, { reports_tools: again.subscription.reports_tools() });
  }
}

interface ConnectionEvents {
  readonly connected: () => void;
  /** Receives the reason why a connection failed, before `over`. */
  readonly refused: (error: unknown) => void;
  /** Called once when the connection has ended or failed, with the time of connecting or `null`. */
  readonly over: (beganMs: number | null) => void;
}

async function connectClient(
  { openTransport, version, connect_ms, onChange }: UpstreamClientOptions,
  watched: ReadonlySet<string>,
  nowMs: () => number,
  { connected, refused, over }: ConnectionEvents,
): Promise<ActiveConnection> {
  const { transport, reports_changes, endSession, close } = openTransport();
  const client = createClient(version);
  const subscription = openChangeSubscription(client, onChange, watched, reports_changes);
  let beganMs: number | null = null;
  let isOver = false;
  const end = () => {
    if (isOver) return;
    isOver = true;
    over(beganMs);
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
  beganMs = nowMs();
  connected();
  subscription.start();
  return { client, subscription, endSession };
}

/** Returns whether a server of an earlier revision no longer has the session. */
function hasLostSession(client: Client, error: unknown): boolean {
  return client.getProtocolEra() !== 'modern' && error instanceof SdkHttpError && error.status === 404;
}

function createClient(version: string): Client {
  return new Client(
    { name: 'service-gateway', version },
    // Declares no capabilities, so that the server cannot send requests to the user or model behind the client.
    { capabilities: {}, versionNegotiation: { mode: 'auto' } },
  );
}

function openBackoff(waitMs: number, nowMs: () => number) {
  let failures = 0;
  let untilMs = 0;
  let last: ServerFailure | null = null;
  let isFailing = false;
  const leftMs = () => Math.max(0, untilMs - nowMs());
  return {
    left_ms: leftMs,
    is_failing: () => isFailing,
    connected: () => {
      isFailing = false;
      last = null;
    },
    /** Stores why the last attempt failed. A configuration failure is reported during the backoff too. */
    refused: (error: unknown) => {
      last = classifyFailure(error);
    },
    /** Resolves when a new attempt may start. Rejects if the backoff exceeds `wait_ms`. */
    wait: async () => {
      const pauseMs = leftMs();
      if (pauseMs > waitMs)
        throw new ServerFailure(last !== null && isConfigurationFailure(last) ? last.code : 'cooldown');
      if (pauseMs > 0) await sleep(pauseMs);
    },
    /** @param beganMs - the time of connecting; `null` if it never connected */
    failed: (beganMs: number | null) => {
      const atMs = nowMs();
      isFailing = true;
      failures = beganMs !== null && atMs - beganMs >= STEADY_MS ? 1 : failures + 1;
      untilMs = atMs + Math.min(PAUSE_MS * 2 ** (failures - 1), PAUSE_MS_MAX);
    },
  };
}
