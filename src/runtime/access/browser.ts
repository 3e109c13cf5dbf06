import { createHmac, timingSafeEqual } from 'node:crypto';
import { buildLocalityCheck, findClientAddress, type LocalitySettings, type Peer } from './peer.ts';

/**
 * The way in which the cookie of a session is sent. `secure`: over TLS, with the prefix `__Host-`, so that no other host or path can
 * set it. `local`: over plain HTTP on this machine, where some browsers refuse cookies with `Secure`.
 */
export type CookieKind = 'secure' | 'local';

/** The names of the cookie that holds a session. */
export const SESSION_COOKIES: Readonly<Record<CookieKind, string>> = {
  secure: '__Host-service-session',
  local: 'service-session',
};

/** Seconds for which a browser is known after a sign-in. */
export const DEVICE_SECONDS = 90 * 24 * 3_600;

/** A request of a browser that may have a session. */
export interface BrowserRequest {
  readonly kind: CookieKind;
  /** The origin of our own pages, as the browser names it. */
  readonly origin: string;
  /** The client's IP address; `null` if it is unknown. */
  readonly address: string | null;
}

/** Why a browser's request is refused. */
export interface BrowserRefusal {
  readonly refused: string;
}

export interface BrowserSettings extends LocalitySettings {
  /** `server.public_url`. */
  readonly public_url: string | null;
}

const METHODS_THAT_READ: readonly (string | undefined)[] = ['GET', 'HEAD'];

/**
 * Builds the check of a browser's request. It is for `server.public_url`, or comes from this machine, and a page of
 * another origin did not send it.
 */
export function buildBrowserCheck(
  settings: BrowserSettings,
): (peer: Peer, options?: { readonly is_navigation?: boolean }) => BrowserRequest | BrowserRefusal {
  const isLocal = buildLocalityCheck(settings);
  const site = settings.public_url === null ? null : new URL(settings.public_url);
  return (peer, { is_navigation = false } = {}) => {
    const { host, origin, 'sec-fetch-site': fetchSite } = peer.headers;
    const isPublic = site !== null && typeof host === 'string' && host.toLowerCase() === site.host;
    const isLocalPeer = !isPublic && isLocal(peer);
    if (!isPublic && !isLocalPeer) return NOT_OUR_ADDRESS;
    const own = isPublic ? site.origin : `http://${String(host).toLowerCase()}`;
    // Another port of this machine is the same site for `SameSite`, so that the origin is compared too.
    if (origin !== undefined && String(origin).toLowerCase() !== own) return OTHER_ORIGIN;
    const isOwn = fetchSite === undefined || fetchSite === 'same-origin' || fetchSite === 'none';
    if (!isOwn && !(is_navigation && METHODS_THAT_READ.includes(peer.method))) return OTHER_ORIGIN;
    const kind = isPublic && site.protocol === 'https:' ? 'secure' : 'local';
    return { kind, origin: own, address: findClientAddress(peer, settings.trusted_proxies) };
  };
}

const NOT_OUR_ADDRESS: BrowserRefusal = {
  refused:
    'People sign in at `server.public_url` over HTTPS, or on this machine: open the console at that address.',
};
const OTHER_ORIGIN: BrowserRefusal = { refused: 'A page of another origin sent this request.' };

/** Returns whether a method only reads, so that it needs no CSRF token. */
export function isReading(method: string | undefined): boolean {
  return METHODS_THAT_READ.includes(method);
}

/**
 * Reads a cookie. `null`: there is none. Empty: there are several of the name, of which only one can be ours.
 */
export function readCookie({ cookie }: Peer['headers'], name: string): string | null {
  if (typeof cookie !== 'string') return null;
  const values = cookie
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  if (values.length === 0) return null;
  return values.length === 1 && /^[\w-]{1,128}$/.test(values[0]!) ? values[0]! : '';
}

/**
 * Derives the token that a page sends as `x-csrf-token`. It is bound to the session, and the value of the cookie cannot
 * be computed from it.
 */
export function deriveCsrfToken(sessionToken: string): string {
  return createHmac('sha256', sessionToken).update('csrf').digest('base64url');
}

/** Compares the header with the session's token in constant time. */
export function matchesCsrfToken(sessionToken: string, header: string | string[] | undefined): boolean {
  const expected = Buffer.from(deriveCsrfToken(sessionToken));
  const given = Buffer.from(typeof header === 'string' ? header : '');
  return given.length === expected.length && timingSafeEqual(given, expected);
}
