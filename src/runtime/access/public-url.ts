import { isLoopbackHost } from '../../platform/net/loopback.ts';
import type { Config } from '../config/index.ts';

/**
 * Returns the origin under which browsers reach the console, without a path. `port` is the one that the service listens
 * on.
 */
export function readPublicUrl({ server }: Pick<Config, 'server'>, port: number = server.port): string {
  return server.public_url ?? `http://${toUrlHost(server.host)}:${port}`;
}

/** Returns the name that a browser on this machine uses. Passkeys need a name, so that it is no IP address. */
function toUrlHost(host: string): string {
  const isHere = isLoopbackHost(host) || host === '0.0.0.0' || host === '::';
  if (isHere) return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
