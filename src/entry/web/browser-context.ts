import type { FastifyReply, FastifyRequest } from 'fastify';
import { type BrowserContext, Refusal } from '../../operations/operation.ts';
import {
  type BrowserRefusal,
  type BrowserRequest,
  type CookieKind,
  DEVICE_SECONDS,
  readCookie,
  SESSION_COOKIES,
} from '../../runtime/access/browser.ts';
import type { Peer } from '../../runtime/access/peer.ts';

/** Checks a browser's request. */
export type CheckBrowser = (
  peer: Peer,
  options?: { readonly is_navigation?: boolean },
) => BrowserRequest | BrowserRefusal;

/** The cookie that ties the answer of the OpenID provider to the browser. The provider's page sends the browser back, so it is `Lax`. */
const OIDC_COOKIES: Readonly<Record<CookieKind, string>> = {
  secure: '__Host-service-oidc',
  local: 'service-oidc',
};
const OIDC_SECONDS = 600;

/** The cookie by which a browser is known in which a user has signed in before. It gives no access. */
const DEVICE_COOKIES: Readonly<Record<CookieKind, string>> = {
  secure: '__Host-service-device',
  local: 'service-device',
};

/**
 * Opens the browser of a request: its cookies, and the means to set them.
 *
 * @throws Refusal `forbidden` for a page of another origin
 */
export function openBrowserContext(
  request: FastifyRequest,
  reply: FastifyReply,
  check: CheckBrowser,
  isNavigation: boolean,
): BrowserContext {
  const { headers, method, socket } = request.raw;
  const peer = { address: socket.remoteAddress, headers, method: method ?? '' };
  const checked = check(peer, { is_navigation: isNavigation });
  if ('refused' in checked) throw new Refusal('forbidden', checked.refused);
  const { kind, origin, address } = checked;
  const set = (name: string, value: string | null, sameSite: 'Strict' | 'Lax', seconds?: number): void => {
    const secure = kind === 'secure' ? '; Secure' : '';
    const age = value === null ? '; Max-Age=0' : seconds === undefined ? '' : `; Max-Age=${seconds}`;
    reply.header(
      'set-cookie',
      `${name}=${value ?? ''}; Path=/; HttpOnly; SameSite=${sameSite}${secure}${age}`,
    );
  };
  const agent = headers['user-agent'];
  return {
    origin,
    address,
    user_agent: agent === undefined ? null : agent.replace(/[^\x20-\x7e]/g, '?'),
    session_token: readCookie(headers, SESSION_COOKIES[kind]) || null,
    setSession: (value) => set(SESSION_COOKIES[kind], value, 'Strict'),
    device_token: readCookie(headers, DEVICE_COOKIES[kind]) || null,
    setDevice: (value) => set(DEVICE_COOKIES[kind], value, 'Strict', DEVICE_SECONDS),
    oidc_state: readCookie(headers, OIDC_COOKIES[kind]) || null,
    setOidcState: (value) => set(OIDC_COOKIES[kind], value, 'Lax', OIDC_SECONDS),
  };
}
