import type { Client } from 'pg';
import { PACKAGE_NAME } from '../../core/names.ts';
import { type EventBus, formatHint, openSubscribers, parseHint } from '../../platform/cluster/event-bus.ts';
import { loadPostgres } from '../stores/postgres.ts';

export interface PostgresBusSettings {
  /** `postgres://user:password@host:5432/database`. */
  readonly url: string;
  /** The maximum duration of connecting and of one statement, in milliseconds. */
  readonly patience_ms?: number;
}

/** Hints over `LISTEN` and `NOTIFY`. The server sends them to all connections of one database. */
export const postgresBus = {
  name: 'postgres',
  settings: {
    type: 'object',
    required: ['url'],
    properties: {
      url: { type: 'string', description: 'Address of the server, and user.' },
      patience_ms: { type: 'integer', minimum: 100, default: 2_000 },
    },
  },
  open,
} as const;

const CHANNEL = `${PACKAGE_NAME}_hints`;
const PATIENCE_MS = 2_000;
const RECONNECT_MS = 1_000;
/** A connection that is dead without a word is found by a query at this interval, in milliseconds. */
const PROBE_MS = 5_000;

/** Opens the bus. It connects in the background, and again after each failure: until then hints are lost. */
function open({ url, patience_ms = PATIENCE_MS }: PostgresBusSettings): EventBus {
  const { subscribe, deliver, clear } = openSubscribers();
  let client: Client | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let connecting: Promise<void> = Promise.resolve();

  const plan = (work: () => Promise<void>, delayMs: number): void => {
    if (isClosed) return;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => {
      connecting = work();
    }, delayMs).unref();
  };
  const drop = (lost: Client): void => {
    if (client === lost) client = null;
    lost.end().catch(() => {});
    plan(connect, RECONNECT_MS);
  };
  async function connect(): Promise<void> {
    const { Client: PgClient } = await loadPostgres();
    const next = new PgClient({
      connectionString: url,
      application_name: PACKAGE_NAME,
      connectionTimeoutMillis: patience_ms,
      query_timeout: patience_ms,
      keepAlive: true,
    });
    let isLost = false;
    const lose = (): void => {
      if (isLost) return;
      isLost = true;
      drop(next);
    };
    next.on('error', lose).on('end', lose);
    next.on('notification', ({ channel, payload = '' }) => {
      const hint = channel === CHANNEL ? parseHint(payload) : null;
      if (hint !== null) deliver(hint);
    });
    try {
      await next.connect();
      await next.query(`listen ${CHANNEL}`);
      client = next;
      plan(() => probe(next, lose), PROBE_MS);
    } catch {
      lose();
    }
  }
  async function probe(current: Client, lose: () => void): Promise<void> {
    if (client !== current) return;
    try {
      await current.query('select 1');
      plan(() => probe(current, lose), PROBE_MS);
    } catch {
      lose();
    }
  }

  connecting = connect().catch(() => plan(connect, RECONNECT_MS));
  return {
    subscribe,
    publish: async (hint) => {
      await client?.query('select pg_notify($1, $2)', [CHANNEL, formatHint(hint)]).catch(() => {});
    },
    close: async () => {
      isClosed = true;
      clear();
      if (timer !== null) clearTimeout(timer);
      await connecting.catch(() => {});
      if (timer !== null) clearTimeout(timer);
      await client?.end().catch(() => {});
    },
  };
}
