import { timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { isLoopback, isLoopbackHost } from '../../platform/net/loopback.ts';
import { type ApiKeys, openApiKeys } from './api-keys.ts';
import {
  type BrowserRefusal,
  type BrowserRequest,
  isReading,
  matchesCsrfToken,
  readCookie,
  SESSION_COOKIES,
} from './browser.ts';
import {
  AGENT_TOKEN_CALLER,
  buildAgentCaller,
  buildNamedUser,
  buildOperatorCaller,
  DEFAULT_PERMISSIONS,
  LOOPBACK_CALLER,
  PROXY_CALLER,
} from './callers.ts';
import { openJwtVerifier } from './jwt.ts';
import { looksLikeJwt } from './jwt-form.ts';
import { isName } from './names.ts';
import { buildLocalityCheck, buildProxyCheck, type Peer } from './peer.ts';
import type { ApiKey, AuthSettings } from './settings.ts';
import { getTokenPath, hashToken, readToken, type TokenKind } from './tokens.ts';
import type { Caller } from './types.ts';

/** The settings that identify callers. */
export interface AuthenticatorSettings {
  readonly auth: AuthSettings;
  /** The current keys; without it those of `auth`. */
  readonly api_keys?: ApiKeys;
  /** The bind host. */
  readonly host: string;
  readonly cors_origins: readonly string[];
  /** True if `auth.trusted_proxies` name the user in `x-service-user`: `dashboard.proxy_identity`. */
  readonly proxy_identity?: boolean;
  readonly state_dir: string;
  readonly now_ms: () => number;
  /** The sessions of people who signed in. Without it, cookies are ignored. */
  readonly sessions?: {
    readonly check: (peer: Peer) => BrowserRequest | BrowserRefusal;
    /** Finds the user of a session; `null` if it has ended. */
    readonly find: (sessionToken: string) => Promise<Caller | null>;
  };
}

/**
 * Why a caller was not identified, as a sentence for the caller. `unavailable`: the verification keys cannot be
 * read. `forbidden`: a page of another origin sent the request.
 */
export interface AuthenticationFailure {
  readonly denied: 'unauthenticated' | 'forbidden' | 'unavailable';
  readonly reason: string;
}

/** Identifies the caller, synchronously except for signed tokens. Never throws or rejects. */
export type Authenticator = (
  peer: Peer,
) => Caller | AuthenticationFailure | Promise<Caller | AuthenticationFailure>;

/**
 * Returns whether the service must create an agent token: other machines may call, and no key is configured.
 */
export function needsAgentToken(settings: { auth: AuthSettings; host: string }): boolean {
  return !isConfigured(settings.auth) && (settings.auth.required || !isLoopbackHost(settings.host));
}

/** Opens the authenticator. Token files are read when they are first needed. */
export function openAuthenticator(settings: AuthenticatorSettings): Authenticator {
  const { auth, now_ms, api_keys = openApiKeys(auth.api_keys) } = settings;
  const isLocal = buildLocalityCheck({ ...settings, trusted_proxies: auth.trusted_proxies });
  const isProxy = buildProxyCheck(auth.trusted_proxies);
  const vouches = (peer: Peer): boolean =>
    settings.proxy_identity === true && peer.headers['x-service-user'] !== undefined && isProxy(peer);
  const keyOf = getKeys(api_keys, now_ms);
  const verify = auth.jwt === null ? null : openJwtVerifier(auth.jwt, now_ms);
  const operator = watchTokenFile(settings.state_dir, 'operator', now_ms);
  const agentToken = watchTokenFile(settings.state_dir, 'agent', now_ms);
  const takesAgentToken = (): boolean =>
    auth.jwt === null && !api_keys.current().some(({ is_stored }) => is_stored !== true);

  function identifyCredential(
    credential: string,
  ): Caller | AuthenticationFailure | Promise<Caller | AuthenticationFailure> {
    if (operator(credential)) return OPERATOR;
    if (takesAgentToken() && agentToken(credential)) return AGENT_TOKEN_CALLER;
    const caller = keyOf(credential);
    if (caller !== null) return caller;
    if (verify === null || !looksLikeJwt(credential)) return WRONG;
    return verify(credential).then(
      (signed) => signed ?? WRONG,
      () => KEYS_UNAVAILABLE,
    );
  }

  return (peer) => {
    const credential = getCredential(peer.headers);
    // A wrong credential is never treated as none, because its sender claims an identity.
    if (credential !== null) {
      if (credential === '') return WRONG;
      const outcome = identifyCredential(credential);
      if (!vouches(peer)) return outcome;
      return outcome instanceof Promise
        ? outcome.then((known) => addProxyUser(known, peer))
        : addProxyUser(outcome, peer);
    }
    const user = settings.sessions === undefined ? null : findUser(peer, settings.sessions);
    if (user !== null) return user;
    if (!auth.required && isLocal(peer)) return LOOPBACK_CALLER;
    if (vouches(peer)) return PROXY_CALLER;
    if (auth.required) return MISSING;
    return peer.address !== undefined && isLoopback(peer.address) ? NOT_LOCAL : MISSING;
  };
}

/** Adds the person whom a trusted proxy names. A person whom the credential itself proves stays. */
function addProxyUser(
  outcome: Caller | AuthenticationFailure,
  { headers }: Peer,
): Caller | AuthenticationFailure {
  const userId = headers['x-service-user'];
  if ('denied' in outcome || outcome.user !== undefined || outcome.kind === 'person' || !isName(userId))
    return outcome;
  return { ...outcome, user: buildNamedUser(userId) };
}

/** Identifies the user of a session cookie; `null` if the request has none, or is on a route that ignores it. */
function findUser(
  peer: Peer,
  { check, find }: NonNullable<AuthenticatorSettings['sessions']>,
): AuthenticationFailure | Promise<Caller | AuthenticationFailure> | null {
  const { method, headers } = peer;
  if (method === undefined || headers.cookie === undefined) return null;
  const cookies = Object.values(SESSION_COOKIES).filter((name) => readCookie(headers, name) !== null);
  if (cookies.length === 0) return null;
  const request = check(peer);
  if ('refused' in request) return { denied: 'forbidden', reason: request.refused };
  const token = readCookie(headers, SESSION_COOKIES[request.kind]);
  if (token === null) return null;
  if (token === '') return SESSION_ENDED;
  if (!isReading(method) && !matchesCsrfToken(token, headers['x-csrf-token'])) return NO_CSRF_TOKEN;
  return find(token).then((caller) => caller ?? SESSION_ENDED);
}

const SESSION_ENDED: AuthenticationFailure = {
  denied: 'unauthenticated',
  reason: 'The session has ended: sign in again.',
};
const NO_CSRF_TOKEN: AuthenticationFailure = {
  denied: 'forbidden',
  reason:
    'A request that changes something needs the header `x-csrf-token`: see `csrf_token` of `/v1/session`.',
};

const OPERATOR = buildOperatorCaller('operator');

const WRONG: AuthenticationFailure = {
  denied: 'unauthenticated',
  reason: 'The credential is not known, or no longer valid.',
};
const MISSING: AuthenticationFailure = {
  denied: 'unauthenticated',
  reason: 'A credential is needed: send it as `Authorization: Bearer` or `x-service-key`.',
};
const NOT_LOCAL: AuthenticationFailure = {
  denied: 'unauthenticated',
  reason:
    'The request came over loopback, but its `Host`, `Origin` or a forwarding header says that it is from elsewhere: send a credential as `Authorization: Bearer` or `x-service-key`, or see `auth.trusted_proxies` and `server.cors_origins`.',
};
const KEYS_UNAVAILABLE: AuthenticationFailure = {
  denied: 'unavailable',
  reason: 'The keys that signed tokens are checked with cannot be read at the moment.',
};

function isConfigured(auth: AuthSettings): boolean {
  return auth.api_keys.length > 0 || auth.jwt !== null;
}

/** `null`: none was sent. Empty: a credential of another scheme was sent, such as `Basic`. */
function getCredential(headers: Peer['headers']): string | null {
  const key = headers['x-service-key'];
  if (key !== undefined) return typeof key === 'string' ? key.trim() : '';
  const { authorization } = headers;
  if (authorization === undefined) return null;
  if (typeof authorization !== 'string') return '';
  return /^bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '';
}

/** Finds a key by its hash. The timing of the lookup reveals only the hash of a guess, which is no secret. */
function getKeys(keys: ApiKeys, nowMs: () => number): (credential: string) => Caller | null {
  let listed: readonly ApiKey[] | null = null;
  let table: KeyTable = new Map();
  return (credential) => {
    const current = keys.current();
    if (current !== listed) {
      table = getTable(current);
      listed = current;
    }
    if (table.size === 0) return null;
    const entry = table.get(hashToken(credential));
    return entry !== undefined && nowMs() < entry.expires_ms ? entry.caller : null;
  };
}

type KeyTable = ReadonlyMap<string, { readonly caller: Caller; readonly expires_ms: number }>;

function getTable(keys: readonly ApiKey[]): KeyTable {
  const table = new Map<string, { caller: Caller; expires_ms: number }>();
  for (const key of keys) {
    const permissions = key.permissions ?? DEFAULT_PERMISSIONS;
    const { may_act_for, agent_tier } = key;
    const caller: Caller = {
      ...buildAgentCaller(`key:${key.id}`, permissions, key.tenants ?? '*', key.agents ?? '*'),
      ...(may_act_for !== undefined && { may_act_for: may_act_for.includes('*') ? '*' : may_act_for }),
      ...(agent_tier !== undefined && { agent_tier }),
    };
    // A date that cannot be parsed counts as past, because `NaN` is not greater than any time.
    const expiresMs = key.expires_at === undefined ? Number.POSITIVE_INFINITY : Date.parse(key.expires_at);
    table.set(key.sha256.toLowerCase(), { caller, expires_ms: expiresMs });
  }
  return table;
}

const REREAD_AFTER_MS = 1_000;

/** Compares with a token file in constant time. A rotation takes effect within a second. */
function watchTokenFile(
  stateDir: string,
  kind: TokenKind,
  nowMs: () => number,
): (credential: string) => boolean {
  let lookedMs = Number.NEGATIVE_INFINITY;
  let version = '';
  let hash: Buffer | null = null;
  function refresh(): void {
    const current = getVersion(getTokenPath(stateDir, kind));
    if (current === version) return;
    const token = readToken(stateDir, kind);
    hash = token === null ? null : Buffer.from(hashToken(token), 'hex');
    version = current;
  }
  return (credential) => {
    if (!credential.startsWith(`svc_${kind}_`)) return false;
    const now = nowMs();
    if (Math.abs(now - lookedMs) >= REREAD_AFTER_MS) {
      refresh();
      lookedMs = now;
    }
    return hash !== null && timingSafeEqual(hash, Buffer.from(hashToken(credential), 'hex'));
  };
}

/** Returns the version of a file; empty if the file cannot be read. */
function getVersion(path: string): string {
  try {
    const { ino, mtimeNs, size } = statSync(path, { bigint: true });
    return `${ino}:${mtimeNs}:${size}`;
  } catch {
    return '';
  }
}
