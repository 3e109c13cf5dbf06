import { BlockList, isIP } from 'node:net';
import { isLoopback, isLoopbackHost } from '../../platform/net/loopback.ts';

/** The facts of a request that a transport has before it reads the body. Header names are lower case. */
export interface Peer {
  /** The socket's address; `undefined` if the socket is closed. */
  readonly address: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The HTTP method, on the routes that accept the cookie of a session. */
  readonly method?: string;
}

/** The settings that make a request local. */
export interface LocalitySettings {
  /** The configured bind host. A `Host` header with this name is accepted too. */
  readonly host: string;
  readonly cors_origins: readonly string[];
  readonly trusted_proxies: readonly string[];
}

/**
 * Builds a check of whether a request comes from this machine and is meant for it. A loopback socket is not
 * enough: behind a proxy every socket is one (forwarding headers), and a web page can send a request through
 * the user's browser (`Origin`), also under its own name if it controls its DNS (`Host`).
 */
export function buildLocalityCheck(settings: LocalitySettings): (peer: Peer) => boolean {
  const proxies = buildBlockList(settings.trusted_proxies);
  const isOurOrigin = buildOriginCheck(settings.cors_origins);
  return ({ address, headers }) => {
    if (address === undefined) return false;
    const clients = isForwarded(headers) ? listClients(address, headers, proxies) : [address];
    if (clients.length === 0 || !clients.every(isLoopback)) return false;
    return isOurHost(headers.host, settings.host) && isOurOrigin(headers.origin);
  };
}

/** Builds a check of whether `Origin` is absent, a page of this machine, or listed in `server.cors_origins`. */
export function buildOriginCheck(
  corsOrigins: readonly string[],
): (header: string | string[] | undefined) => boolean {
  const origins = new Set(corsOrigins.filter((origin) => origin !== '*').map((one) => one.toLowerCase()));
  return (header) => {
    if (header === undefined) return true;
    if (typeof header !== 'string') return false;
    const origin = header.toLowerCase();
    if (origins.has(origin)) return true;
    const host = /^https?:\/\/(.*)$/.exec(origin)?.[1];
    return host !== undefined && isLoopbackAuthority(host);
  };
}

/** Builds a check of whether a request comes directly from one of these addresses. */
export function buildProxyCheck(trustedProxies: readonly string[]): (peer: Pick<Peer, 'address'>) => boolean {
  const proxies = buildBlockList(trustedProxies);
  return ({ address }) => address !== undefined && isListed(proxies, address);
}

/**
 * Returns whether a browser request comes from a page of this service or of an allowed origin (`*`: any). Other
 * clients send no origin.
 */
export function isOwnOrigin({ origin, host }: Peer['headers'], corsOrigins: readonly string[]): boolean {
  if (origin === undefined) return true;
  if (typeof origin !== 'string' || typeof host !== 'string') return false;
  const page = origin.toLowerCase();
  if (corsOrigins.some((one) => one === '*' || one.toLowerCase() === page)) return true;
  const from = /^https?:\/\/(.*)$/.exec(page)?.[1];
  if (from === undefined) return false;
  // Pages of programs on one machine belong to its user. The access rules check the caller.
  return from === host.toLowerCase() || (isLoopbackAuthority(from) && isLoopbackAuthority(host));
}

/** Headers that show a proxy, besides all with `forwarded` in their name. */
const FORWARDING = new Set([
  'via',
  'x-real-ip',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-envoy-external-address',
  'x-original-host',
  'x-azure-clientip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
]);

function isForwarded(headers: Peer['headers']): boolean {
  for (const name in headers) {
    if (FORWARDING.has(name) || name.includes('forwarded')) return true;
  }
  return false;
}

/**
 * Returns the clients for which a trusted proxy acts; empty if that cannot be determined. Each header must show
 * it by itself, because a proxy that writes one header may pass another through as the client sent it.
 */
function listClients(proxy: string, headers: Peer['headers'], proxies: BlockList): readonly string[] {
  if (!isListed(proxies, proxy)) return [];
  return parseChains(headers).map((chain) => {
    const stranger = chain.findLast((address) => isIP(address) === 0 || !isListed(proxies, address));
    return stranger ?? chain[0] ?? '';
  });
}

/** Returns the address of the client, behind trusted proxies too; `null` if it is unknown. */
export function findClientAddress(
  { address, headers }: Peer,
  trustedProxies: readonly string[],
): string | null {
  if (address === undefined) return null;
  if (!isForwarded(headers)) return address;
  const client = listClients(address, headers, buildBlockList(trustedProxies))[0];
  return client !== undefined && isIP(client) !== 0 ? client : address;
}

function parseChains(headers: Peer['headers']): string[][] {
  const [standard, common, single] = ['forwarded', 'x-forwarded-for', 'x-real-ip'].map((name) =>
    headers[name] === undefined ? null : [headers[name]].flat().join(',').split(','),
  );
  const named = standard?.map((part) => /(?:^|;)\s*for=("?)([^";]*)\1/i.exec(part)?.[2] ?? '');
  return [named, common, single].filter((chain) => chain != null).map((chain) => chain.map(stripPort));
}

/** Removes port and brackets: `[::1]:80`, `1.2.3.4:80` and `"::1"`. */
function stripPort(address: string): string {
  const trimmed = address.trim();
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(trimmed);
  if (bracketed) return bracketed[1] ?? '';
  return /^[\d.]+:\d+$/.test(trimmed) ? trimmed.slice(0, trimmed.indexOf(':')) : trimmed;
}

function isOurHost(header: string | string[] | undefined, configured: string): boolean {
  if (typeof header !== 'string') return false;
  const host = parseHostName(header);
  return host !== null && (host === configured.toLowerCase() || isLoopbackHost(host));
}

function isLoopbackAuthority(authority: string): boolean {
  const host = parseHostName(authority);
  return host !== null && isLoopbackHost(host);
}

/** Returns the name in `name:port` in lower case, without brackets around IPv6; `null` for anything else. */
function parseHostName(authority: string): string | null {
  const match = /^(?:\[([\da-f:.]+)\]|([^:@/\\?#\s]+))(?::\d{1,5})?$/i.exec(authority);
  return (match?.[1] ?? match?.[2])?.toLowerCase() ?? null;
}

function buildBlockList(entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (prefix === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

function isListed(list: BlockList, address: string): boolean {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  const plain = mapped ?? address;
  return list.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4');
}
