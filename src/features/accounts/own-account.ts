import { countGuess } from './attempts.ts';
import { hashPassword, verifyPassword } from './password-hash.ts';
import { recordAccountEvent } from './record-account-event.ts';
import { revokeSessions, rotateSession } from './sessions.ts';
import { recordFailure, verifyTotp } from './sign-in.ts';
import { createTotpSecret, findTotpStep } from './totp.ts';
import { openTotpSecret, sealTotpSecret } from './totp-sealing.ts';
import type { AccountParts, SignInOrigin, SignInResult, SignInSession } from './types.ts';
import { findUserRow, type UserRow } from './user-records.ts';

type RefusedSignIn = Extract<SignInResult, { outcome: 'refused' | 'limited' }>;

/** The answer to a change that gives the session another cookie value. */
export type RotatedSession = { readonly outcome: 'done'; readonly session_token: string } | RefusedSignIn;

const REFUSED: RefusedSignIn = { outcome: 'refused' };

/** Changes the password, and ends the user's other sessions. */
export async function changePassword(
  parts: AccountParts,
  session: SignInSession,
  request: { readonly current: string; readonly next: string },
  origin: SignInOrigin,
): Promise<RotatedSession> {
  const { user_id, session_id } = session;
  const { db } = await parts.store();
  const user = await requireUser(parts, user_id);
  const attempt = await countGuess(parts, 'account', user_id, origin);
  if (attempt.retry_seconds !== null) return { outcome: 'limited', retry_seconds: attempt.retry_seconds };
  if (!(await verifyPassword(request.current, user.password_hash))) {
    await recordFailure(parts, user, origin, 'password', 'sign_in_failed');
    return REFUSED;
  }
  await attempt.forgive();
  const passwordHash = await hashPassword(request.next);
  const reason = 'The user changed the password.';
  await recordAccountEvent(parts.ports, { phase: 'password_change', reason, caller_id: `user:${user_id}` });
  await db.updateTable('users').set({ password_hash: passwordHash }).where('user_id', '=', user_id).execute();
  await revokeSessions(db, user_id, { except: session_id });
  return finishRotation(await rotateSession(db, session_id));
}

/** Proves the second factor again with a code, for a decision that asks for it. */
export async function proveTotp(
  parts: AccountParts,
  session: SignInSession,
  code: string,
  origin: SignInOrigin,
): Promise<RotatedSession> {
  const user = await requireUser(parts, session.user_id);
  const refusal = await verifyTotp(parts, user, code, origin);
  return refusal ?? markSecondFactor(parts, session, 'totp');
}

/** Records that the user of a session has just proved a second factor. */
export async function markSecondFactor(
  parts: AccountParts,
  { user_id, session_id }: SignInSession,
  method: 'totp' | 'passkey',
): Promise<RotatedSession> {
  await recordAccountEvent(parts.ports, {
    phase: 'second_factor',
    reason: 'The user proved a second factor.',
    caller_id: `user:${user_id}`,
    metadata: { method },
  });
  const secondFactorMs = parts.ports().now_ms();
  return finishRotation(
    await rotateSession((await parts.store()).db, session_id, { second_factor_ms: secondFactorMs }),
  );
}

/** Begins the set-up of an authenticator app. Returns `null` if the user has one already. */
export async function startTotp(
  { store, settings }: AccountParts,
  userId: string,
): Promise<{ readonly secret: string; readonly uri: string } | null> {
  const made = createTotpSecret(userId);
  const { numUpdatedRows } = await (await store()).db
    .updateTable('users')
    .set({ totp_secret: sealTotpSecret(settings.totp_key, userId, made.secret), totp_step: 0 })
    .where('user_id', '=', userId)
    .where('totp_confirmed', '=', 0)
    .executeTakeFirst();
  return numUpdatedRows > 0n ? made : null;
}

/** Ends the set-up of an authenticator app with its first code. */
export async function confirmTotp(
  parts: AccountParts,
  session: SignInSession,
  code: string,
): Promise<RotatedSession> {
  const { user_id } = session;
  const { totp_secret, totp_confirmed } = await requireUser(parts, user_id);
  if (totp_secret === null || totp_confirmed === 1) return REFUSED;
  const secret = openTotpSecret(parts.settings.totp_key, user_id, totp_secret);
  const step = findTotpStep(secret, code, parts.ports().now_ms());
  if (step === null) return REFUSED;
  const reason = 'The user added an authenticator app.';
  await recordAccountEvent(parts.ports, { phase: 'totp_add', reason, caller_id: `user:${user_id}` });
  await (await parts.store()).db
    .updateTable('users')
    .set({ totp_confirmed: 1, totp_step: step })
    .where('user_id', '=', user_id)
    .where('totp_secret', '=', totp_secret)
    .execute();
  return markSecondFactor(parts, session, 'totp');
}

/** Removes the authenticator app. Needs a code of it. */
export async function removeTotp(
  parts: AccountParts,
  session: SignInSession,
  code: string,
  origin: SignInOrigin,
): Promise<RotatedSession> {
  const { user_id, session_id } = session;
  const refusal = await verifyTotp(parts, await requireUser(parts, user_id), code, origin);
  if (refusal !== null) return refusal;
  const { db } = await parts.store();
  const reason = 'The user removed the authenticator app.';
  await recordAccountEvent(parts.ports, { phase: 'totp_remove', reason, caller_id: `user:${user_id}` });
  await db
    .updateTable('users')
    .set({ totp_secret: null, totp_confirmed: 0, totp_step: 0 })
    .where('user_id', '=', user_id)
    .execute();
  return finishRotation(await rotateSession(db, session_id));
}

async function requireUser({ store }: AccountParts, userId: string): Promise<UserRow> {
  const user = await findUserRow((await store()).db, userId);
  if (user === null) throw new Error('a session has no user');
  return user;
}

function finishRotation(sessionToken: string | null): RotatedSession {
  return sessionToken === null ? REFUSED : { outcome: 'done', session_token: sessionToken };
}
