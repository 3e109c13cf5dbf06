import { randomBytes } from 'node:crypto';
import { hashToken } from '../../runtime/access/tokens.ts';
import type { Role } from '../../runtime/config/permissions.ts';
import { countStart } from './attempts.ts';
import { createChallenge, takeChallenge } from './challenges.ts';
import type { OidcClaims, OpenIdProvider } from './openid-provider.ts';
import { recordAccountEvent } from './record-account-event.ts';
import { beginSession, recordFailure } from './sign-in.ts';
import type { AccountParts, OidcSettings, SignInOrigin, SignInResult } from './types.ts';
import { findUserRow, insertUser, normalizeUserId, type UserRow } from './user-records.ts';

/** The path at which the provider sends browsers back. It is registered there after `server.public_url`. */
const CALLBACK_PATH = '/v1/auth/oidc/callback';

/** A sign-in at the provider that has begun. */
export interface StartedOidc {
  /** The URL to which the browser goes. */
  readonly location: string;
  /** The value of the cookie that ties the answer to this browser. */
  readonly binding: string;
}

/** Why a sign-in at the provider failed. The page explains it; the audit log records it. */
export type OidcFailure = 'refused' | 'name_taken' | 'no_access' | 'disabled';

export type OidcResult =
  | (Extract<SignInResult, { outcome: 'signed_in' }> & { readonly return_to: string })
  | { readonly outcome: 'failed'; readonly failure: OidcFailure };

/** Begins a sign-in at the provider. Returns `null` if the address has made too many attempts. */
export async function startOidc(
  parts: AccountParts,
  provider: OpenIdProvider,
  returnTo: string,
  origin: SignInOrigin & { readonly origin: string },
): Promise<StartedOidc | null> {
  if (!(await countStart(parts, origin))) return null;
  const redirectUri = `${origin.origin}${CALLBACK_PATH}`;
  const { url, state, nonce, code_verifier } = await provider.begin(redirectUri);
  const binding = randomBytes(32).toString('base64url');
  const started: OidcSignInState = {
    nonce,
    code_verifier,
    redirect_uri: redirectUri,
    return_to: keepOwnPath(returnTo),
    binding_sha256: hashToken(binding),
  };
  await createChallenge(parts, 'oidc', { user_id: null, data: JSON.stringify(started) }, state);
  return { location: url, binding };
}

interface OidcSignInState {
  readonly nonce: string;
  readonly code_verifier: string;
  readonly redirect_uri: string;
  readonly return_to: string;
  readonly binding_sha256: string;
}

/** The parameters that the provider adds to the address of the callback. */
export type OidcAnswer = Readonly<Record<string, string | undefined>>;

/** Finishes a sign-in at the provider. Each answer counts once, and only in the browser that began. */
export async function finishOidc(
  parts: AccountParts,
  provider: OpenIdProvider,
  answer: OidcAnswer,
  origin: SignInOrigin,
  binding: string | null,
): Promise<OidcResult> {
  const { state } = answer;
  const challenge = state === undefined ? null : await takeChallenge(parts, 'oidc', state);
  const started = challenge === null ? null : (JSON.parse(challenge.data) as OidcSignInState);
  if (started === null || binding === null || hashToken(binding) !== started.binding_sha256)
    return failSignIn(parts, null, origin, 'refused');
  const url = new URL(started.redirect_uri);
  for (const [name, value] of Object.entries(answer))
    if (value !== undefined) url.searchParams.set(name, value);
  const proved = await provider.finish(url, { ...started, state: state! }).catch(() => null);
  if (proved === null) return failSignIn(parts, null, origin, 'refused');
  const user = await keepUser(parts, parts.settings.oidc!, proved);
  if (typeof user === 'string') return failSignIn(parts, null, origin, user);
  if (user.disabled_ms !== null) return failSignIn(parts, user, origin, 'disabled');
  const hasSecondFactor = readNames(proved.claims, 'amr').includes('mfa');
  const result = await beginSession(parts, user, 'oidc', hasSecondFactor, origin);
  if (result.outcome !== 'signed_in') return failSignIn(parts, user, origin, 'refused');
  return { ...result, return_to: started.return_to };
}

async function failSignIn(
  parts: AccountParts,
  user: UserRow | null,
  origin: SignInOrigin,
  failure: OidcFailure,
): Promise<OidcResult> {
  await recordFailure(parts, user, origin, `oidc:${failure}`, 'sign_in_failed');
  return { outcome: 'failed', failure };
}

/** Adds the user of the claims, or updates the roles and tenants of the user that they belong to. */
async function keepUser(
  { store, ports }: AccountParts,
  settings: OidcSettings,
  { issuer, subject, claims }: OidcClaims,
): Promise<UserRow | OidcFailure> {
  const { db } = await store();
  const { roles, tenants } = mapClaims(settings, claims);
  const userId = normalizeUserId(readNames(claims, settings.claims.user)[0] ?? subject);
  if (roles.length === 0 || tenants.length === 0) return 'no_access';
  if (!/^[a-z0-9][a-z0-9._@+|-]{0,127}$/.test(userId)) return 'no_access';
  // Some providers send the text `false`. Others leave the claim out.
  const { email_verified = true } = claims;
  const isVerified = email_verified === true || email_verified === 'true';
  if (!isVerified && settings.claims.user === 'email') return 'no_access';
  const name = (readNames(claims, settings.claims.name)[0] ?? userId).slice(0, 256);
  const present = await db
    .selectFrom('users')
    .select('user_id')
    .where('issuer', '=', issuer)
    .where('subject', '=', subject)
    .executeTakeFirst();
  if (present === undefined) {
    const createdBy = `oidc:${issuer}`;
    const user = {
      user_id: userId,
      name,
      roles,
      tenants,
      created_by: createdBy,
      openid: { issuer, subject },
    };
    // A name belongs to the user who had it first, so that a provider cannot take over a local user.
    if (!(await insertUser(db, ports().now_ms(), user))) return 'name_taken';
    const metadata = { user_id: userId, roles, tenants };
    const reason = 'A user signed in for the first time.';
    await recordAccountEvent(ports, { phase: 'user_add', reason, caller_id: `user:${userId}`, metadata });
  } else {
    await db
      .updateTable('users')
      .set({ name, roles: JSON.stringify(roles), tenants: JSON.stringify(tenants) })
      .where('issuer', '=', issuer)
      .where('subject', '=', subject)
      .execute();
  }
  return (await findUserRow(db, present?.user_id ?? userId)) ?? 'refused';
}

/** Maps claims to roles and tenants. A value that no mapping names gives nothing. */
export function mapClaims(
  { claims: names, role_mapping, tenant_mapping, default_roles, default_tenants }: OidcSettings,
  claims: Readonly<Record<string, unknown>>,
): { readonly roles: readonly Role[]; readonly tenants: readonly string[] } {
  const map = <Value>(values: readonly string[], mapping: Readonly<Record<string, Value>>): Value[] => [
    ...new Set(values.filter((one) => Object.hasOwn(mapping, one)).map((one) => mapping[one]!)),
  ];
  const roles = map(readNames(claims, names.roles), role_mapping);
  const tenants = map(readNames(claims, names.tenants), tenant_mapping);
  return {
    roles: roles.length > 0 ? roles : default_roles,
    tenants: tenants.length > 0 ? tenants : default_tenants,
  };
}

/** Reads a claim by its dotted name: a string, or a list of strings. */
function readNames(claims: Readonly<Record<string, unknown>>, path: string): readonly string[] {
  const exact = Object.hasOwn(claims, path) ? claims[path] : undefined;
  const value =
    exact ??
    path.split('.').reduce<unknown>((at, name) => {
      const isRecord = typeof at === 'object' && at !== null && Object.hasOwn(at, name);
      return isRecord ? (at as Record<string, unknown>)[name] : undefined;
    }, claims);
  return [value].flat().filter((one): one is string => typeof one === 'string' && one.trim() !== '');
}

/** Returns a path of the console, so that no link sends a user elsewhere after the sign-in. */
export function keepOwnPath(path: string): string {
  const base = 'https://own.invalid';
  if (!/^\/dashboard(?:[/?#]|$)/.test(path) || /[\\\x00-\x20]/.test(path) || !URL.canParse(path, base))
    return '/dashboard';
  const { origin, pathname, search, hash } = new URL(path, base);
  const isOwn = origin === base && /^\/dashboard(?:\/|$)/.test(pathname);
  return isOwn ? `${pathname}${search}${hash}` : '/dashboard';
}
