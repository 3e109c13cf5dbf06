import type { LookupFunction } from 'node:net';
import type { Dispatcher } from 'undici';
import { createLazyValue } from '../../platform/lazy.ts';

/** The connect timeout, and the maximum number of connections per origin. */
export interface UpstreamConnectionSettings {
  readonly connect_ms: number;
  readonly connections_max: number;
  /** Resolves names; default: that of the system. */
  readonly lookup?: LookupFunction;
}

/** Connections to providers, kept open between calls. */
export interface UpstreamConnections {
  /** @param origin `https://host:port` */
  readonly to: (origin: string) => Promise<Dispatcher>;
  /** Aborts running requests. */
  readonly close: () => Promise<void>;
}

/** The maximum size of an answer's headers, in bytes. */
export const HEADER_BYTES_MAX = 65_536;
/** The time for which an unused connection is kept, in milliseconds. Servers usually keep it longer. */
const KEPT_MS = 4_000;

/** Opens one pool per origin, on the first call to it. The HTTP library is loaded on the first call. */
export function openUpstreamConnections({
  connect_ms,
  connections_max,
  lookup,
}: UpstreamConnectionSettings): UpstreamConnections {
  const pools = new Map<string, Dispatcher>();
  const library = createLazyValue(() => import('undici'));
  const poolOf = ({ Pool }: typeof import('undici'), origin: string): Dispatcher => {
    const known = pools.get(origin);
    if (known !== undefined) return known;
    const pool = new Pool(origin, {
      connections: connections_max,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: HEADER_BYTES_MAX,
      keepAliveTimeout: KEPT_MS,
      connect: { timeout: connect_ms, ...(lookup !== undefined && { lookup }) },
    });
    pools.set(origin, pool);
    return pool;
  };
  return {
    to: async (origin) => poolOf(await library.open(), origin),
    close: async () => {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}
