import type { Transaction } from 'kysely';
import type { StoreTables } from '../../platform/store/index.ts';
import { countGuess } from './attempts.ts';
import { createChallenge, takeChallenge, tryChallenge } from './challenges.ts';
import { rememberDevice } from './known-devices.ts';
import { hashPassword, verifyPassword } from './password-hash.ts';
import { recordAccountEvent } from './record-account-event.ts';
import { insertSession } from './sessions.ts';
import { findTotpStep } from './totp.ts';
import { openTotpSecret } from './totp-sealing.ts';
import type {
  AccountParts,
  SecondFactor,
  SignInMethod,
  SignInOrigin,
  SignInResult,
  StartedSession,
} from './types.ts';
import {
  deleteUserLinks,
  isFirstLink,
  lockFirstLinks,
  takeUserLink,
  unlockFirstLinks,
} from './user-links.ts';
import {
  countPasskeys,
  findUserRow,
  hasAdministrator,
  insertUser,
  normalizeUserId,
  type UserRow,
} from './user-records.ts';

/** Signs a user in with a password. With a second factor, the answer is a ticket and no session. */
export async function signInWithPassword(
  parts: AccountParts,
  request: { readonly user_id: string; readonly password: string },
  origin: SignInOrigin,
): Promise<SignInResult> {
  const userId = normalizeUserId(request.user_id);
  const { db } = await parts.store();
  const user = await findUserRow(db, userId);
  const attempt = await countGuess(parts, 'account', userId, origin);
  if (attempt.is_first_over) await recordFailure(parts, user, origin, 'password', 'sign_in_limited');
  if (attempt.retry_seconds !== null) return { outcome: 'limited', retry_seconds: attempt.retry_seconds };
  const isCorrect = await verifyPassword(request.password, user?.password_hash ?? null);
  if (!isCorrect || user === null || user.disabled_ms !== null) {
    await recordFailure(parts, user, origin, 'password', 'sign_in_failed');
    return { outcome: 'refused' };
  }
  await attempt.forgive();
  const factors = await listFactors(parts, user);
  if (factors.length === 0) return beginSession(parts, user, 'password', false, origin);
  const ticket = await createChallenge(parts, 'second_factor', { user_id: userId, data: 'password' });
  return { outcome: 'second_factor', ticket, factors };
}

/** Continues a sign-in with a code of an authenticator app. */
export async function signInWithTotp(
  parts: AccountParts,
  request: { readonly ticket: string; readonly code: string },
  origin: SignInOrigin,
): Promise<SignInResult> {
  const challenge = await tryChallenge(parts, 'second_factor', request.ticket);
  if (challenge === null || challenge.user_id === null) return { outcome: 'refused' };
  const user = await findUserRow((await parts.store()).db, challenge.user_id);
  if (user === null || user.disabled_ms !== null) return { outcome: 'refused' };
  const refusal = await verifyTotp(parts, user, request.code, origin);
  if (refusal !== null) return refusal;
  if ((await takeChallenge(parts, 'second_factor', request.ticket)) === null) return { outcome: 'refused' };
  return beginSession(parts, user, 'password', true, origin);
}

/** Verifies a code of the user's app. Returns `null` if it is correct, within the limit of attempts. */
export async function verifyTotp(
  parts: AccountParts,
  user: UserRow,
  code: string,
  origin: SignInOrigin,
): Promise<Extract<SignInResult, { outcome: 'refused' | 'limited' }> | null> {
  const attempt = await countGuess(parts, 'totp', user.user_id, origin);
  if (attempt.is_first_over) await recordFailure(parts, user, origin, 'totp', 'sign_in_limited');
  if (attempt.retry_seconds !== null) return { outcome: 'limited', retry_seconds: attempt.retry_seconds };
  if (await acceptTotp(parts, user, code)) {
    await attempt.forgive();
    return null;
  }
  await recordFailure(parts, user, origin, 'totp', 'second_factor_failed');
  return { outcome: 'refused' };
}

/** Accepts a code of the user's app once. */
async function acceptTotp(
  { store, ports, settings: { totp_key } }: AccountParts,
  { user_id, totp_secret, totp_confirmed }: UserRow,
  code: string,
): Promise<boolean> {
  if (totp_secret === null || totp_confirmed !== 1) return false;
  const secret = openTotpSecret(totp_key, user_id, totp_secret);
  const step = findTotpStep(secret, code, ports().now_ms());
  if (step === null) return false;
  const { numUpdatedRows } = await (await store()).db
    .updateTable('users')
    .set({ totp_step: step })
    .where('user_id', '=', user_id)
    .where('totp_secret', '=', totp_secret)
    .where('totp_step', '<', step)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** The input of a one-time link's page. */
export interface LinkUse {
  readonly token: string;
  readonly password: string;
  /** The name of the first administrator; ignored if the link belongs to a user. */
  readonly user_id: string | null;
}

/** Uses a one-time link: sets the password, and signs the user in. */
export async function signInWithLink(
  parts: AccountParts,
  request: LinkUse,
  origin: SignInOrigin,
): Promise<SignInResult> {
  const passwordHash = await hashPassword(request.password);
  const store = await parts.store();
  const nowMs = parts.ports().now_ms();
  const userId = await store.transaction((trx) => useLink(trx, request, nowMs));
  if (userId === null) return { outcome: 'refused' };
  await store.db
    .updateTable('users')
    .set({ password_hash: passwordHash })
    .where('user_id', '=', userId)
    .execute();
  const user = await findUserRow(store.db, userId);
  if (user === null || user.disabled_ms !== null) return { outcome: 'refused' };
  const reason = 'The user set a password with a one-time link.';
  await recordAccountEvent(parts.ports, { phase: 'password_change', reason, caller_id: `user:${userId}` });
  return beginSession(parts, user, 'link', false, origin);
}

/** Uses a link up. Returns its user, who was added if the link creates the first administrator; `null` if it is refused. */
async function useLink(
  trx: Transaction<StoreTables>,
  { token, user_id: typed }: LinkUse,
  nowMs: number,
): Promise<string | null> {
  const isFirst = await isFirstLink(trx, token);
  // Two processes may each use a link of their own start, so that taking the link is not enough.
  if (isFirst) await lockFirstLinks(trx);
  const link = await takeUserLink(trx, token, nowMs);
  if (link !== null && link.user_id !== null) return link.user_id;
  const userId = normalizeUserId(typed ?? 'admin');
  const roles = ['admin'] as const;
  const user = { user_id: userId, name: userId, roles, tenants: ['*'], created_by: 'service:first-start' };
  const isAdded = link !== null && !(await hasAdministrator(trx)) && (await insertUser(trx, nowMs, user));
  if (isAdded) await deleteUserLinks(trx, null);
  else if (isFirst) await unlockFirstLinks(trx);
  return isAdded ? userId : null;
}

/** Begins a session, unless the audit log cannot record it. */
export async function beginSession(
  parts: AccountParts,
  { user_id }: Pick<UserRow, 'user_id'>,
  method: SignInMethod,
  hasSecondFactor: boolean,
  origin: SignInOrigin,
): Promise<StartedSession> {
  const { db } = await parts.store();
  await recordAccountEvent(parts.ports, {
    phase: 'sign_in',
    reason: 'A user signed in.',
    caller_id: `user:${user_id}`,
    metadata: { method, second_factor: hasSecondFactor, ...getPlace(origin) },
  });
  const nowMs = parts.ports().now_ms();
  const sessionToken = await insertSession(db, nowMs, {
    user_id,
    method,
    has_second_factor: hasSecondFactor,
    origin,
  });
  const deviceToken = await rememberDevice(db, nowMs, user_id, origin.device_token);
  return { outcome: 'signed_in', session_token: sessionToken, device_token: deviceToken, user_id };
}

/** Records a failure. The typed name is left out if it belongs to no user, because people type passwords there. */
export async function recordFailure(
  { ports }: AccountParts,
  user: Pick<UserRow, 'user_id'> | null,
  origin: SignInOrigin,
  method: string,
  phase: 'sign_in_failed' | 'sign_in_limited' | 'second_factor_failed',
): Promise<void> {
  const callerId = user === null ? 'anonymous' : `user:${user.user_id}`;
  const metadata = { method, ...getPlace(origin) };
  await recordAccountEvent(ports, {
    phase,
    reason: FAILURES[phase],
    caller_id: callerId,
    done: false,
    metadata,
  });
}

const FAILURES = {
  sign_in_failed: 'An attempt to sign in failed.',
  sign_in_limited: 'Attempts to sign in passed a limit, and are delayed.',
  second_factor_failed: 'A second factor was wrong.',
};

function getPlace({ address }: SignInOrigin): { address?: string } {
  return address === null ? {} : { address };
}

async function listFactors({ store }: AccountParts, user: UserRow): Promise<readonly SecondFactor[]> {
  const passkeys = await countPasskeys((await store()).db, [user.user_id]);
  return [
    ...(user.totp_confirmed === 1 ? (['totp'] as const) : []),
    ...((passkeys.get(user.user_id) ?? 0) > 0 ? (['passkey'] as const) : []),
  ];
}
