import type { JWTPayload } from 'jose';
import { AGENT_TIERS, type AgentTier, CHAIN_LINKS_MAX, type ProvedUser } from '../../core/types/index.ts';
import { hasLoop, isName } from './names.ts';
import type { JwtSettings } from './settings.ts';

/** The person, the chain and the tier that a verified token proves. */
export interface TokenPrincipal {
  /** `null` for a service account's token. */
  readonly user: ProvedUser | null;
  /** `null` if the token names no agents. */
  readonly chain: readonly string[] | null;
  readonly agent_tier: AgentTier | null;
}

/** The most groups, and the most scopes. Directories put hundreds of groups into a token. */
const GROUPS_MAX = 500;
const EMAIL_CHARS_MAX = 320;

/**
 * Reads the principal from a verified token's claims. Returns `null` if a claim cannot be read: a token is refused
 * whole, because a missing group or link would widen the bearer's rights.
 */
export function readTokenPrincipal(claims: JWTPayload, settings: JwtSettings): TokenPrincipal | null {
  const names = settings.claims ?? {};
  const user = readUser(claims, names);
  const chain = readChain(getClaim(claims, names.chain ?? 'act'));
  const tier = getClaim(claims, names.agent_tier ?? 'agent_tier');
  if (user === 'invalid' || chain === 'invalid') return null;
  if (tier !== undefined && !isTier(tier)) return null;
  return { user, chain, agent_tier: tier ?? null };
}

/** Returns a claim by its name, or by its dotted path; `undefined` if the token has none. */
export function getClaim(claims: JWTPayload, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string, unknown>)[part];
  }
  return value;
}

function isTier(value: unknown): value is AgentTier {
  return AGENT_TIERS.some((tier) => tier === value);
}

function readUser(
  claims: JWTPayload,
  names: NonNullable<JwtSettings['claims']>,
): ProvedUser | null | 'invalid' {
  const userId = getClaim(claims, names.user ?? 'sub');
  const email = readEmail(claims, names.user_email ?? 'email');
  const groups = readList(getClaim(claims, names.groups ?? 'groups'));
  const scope =
    names.scopes === undefined
      ? (getClaim(claims, 'scope') ?? getClaim(claims, 'scp'))
      : getClaim(claims, names.scopes);
  const scopes = readList(typeof scope === 'string' ? scope.split(' ').filter(Boolean) : scope);
  if (email === 'invalid' || groups === 'invalid' || scopes === 'invalid') return 'invalid';
  if (userId === undefined || isServiceAccount(claims, names.service_account)) return null;
  if (!isName(userId)) return 'invalid';
  return { user_id: userId, user_email: email, groups: groups ?? [], scopes };
}

/** An address that the issuer has not verified proves nothing. */
function readEmail(claims: JWTPayload, name: string): string | null | 'invalid' {
  const email = getClaim(claims, name);
  if (email === undefined || email === null || email === '') return null;
  if (!isName(email, EMAIL_CHARS_MAX)) return 'invalid';
  return claims.email_verified === false ? null : email;
}

function readList(claim: unknown): readonly string[] | null | 'invalid' {
  if (claim === undefined || claim === null) return null;
  const list = typeof claim === 'string' ? [claim] : claim;
  if (!Array.isArray(list) || list.length > GROUPS_MAX) return 'invalid';
  return list.every((each) => isName(each)) ? list : 'invalid';
}

/**
 * Returns whether a token belongs to a program without a person. Identity providers mark such tokens in different ways;
 * for any other, `auth.jwt.claims.service_account` names the claim.
 */
function isServiceAccount(claims: JWTPayload, marker: string | undefined): boolean {
  const { sub = '', azp, client_id, gty, idtyp, preferred_username } = claims;
  const clients = [azp, client_id, claims.clientId].filter((id) => typeof id === 'string');
  return (
    (marker !== undefined && isSet(getClaim(claims, marker))) ||
    clients.some(
      (id) => sub === id || sub === `${id}@clients` || preferred_username === `service-account-${id}`,
    ) ||
    idtyp === 'app' ||
    [gty].flat().includes('client-credentials') ||
    sub.startsWith('system:serviceaccount:')
  );
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 'false';
}

/**
 * Reads a chain: nested actors (RFC 8693), where the outermost acts now, or a list that begins with the agent next to
 * the person. `null` if there is none.
 */
function readChain(claim: unknown): readonly string[] | null | 'invalid' {
  if (claim === undefined || claim === null) return null;
  const links = Array.isArray(claim) ? claim.slice(0, CHAIN_LINKS_MAX + 1) : listActors(claim);
  const names = links.map((link) =>
    typeof link === 'string' ? link : (link as { sub?: unknown } | null)?.sub,
  );
  if (names.length > CHAIN_LINKS_MAX || !names.every((name) => isName(name)) || hasLoop(names))
    return 'invalid';
  return names.length === 0 ? null : names;
}

/** Lists nested actors, the innermost first, and at most one more than a chain may have. */
function listActors(claim: unknown): unknown[] {
  const actors: unknown[] = [];
  for (let actor = claim; actor !== undefined && actors.length <= CHAIN_LINKS_MAX; ) {
    actors.unshift(actor);
    actor = typeof actor === 'object' && actor !== null ? (actor as { act?: unknown }).act : undefined;
  }
  return actors;
}
