import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { PRODUCT_NAME } from '../../core/names.ts';
import type { Shown } from '../../platform/store/define-table.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import { countStart } from './attempts.ts';
import { createChallenge, takeChallenge, tryChallenge } from './challenges.ts';
import { markSecondFactor, type RotatedSession } from './own-account.ts';
import { recordAccountEvent } from './record-account-event.ts';
import { beginSession, recordFailure } from './sign-in.ts';
import { passkeys } from './tables.ts';
import type { AccountParts, SignInOrigin, SignInResult, SignInSession } from './types.ts';
import { findUserRow } from './user-records.ts';

type Library = typeof import('@simplewebauthn/server');

/** A browser that uses a passkey, with the origin that the passkey belongs to. */
export type PasskeyOrigin = SignInOrigin & { readonly origin: string };

const PASSKEYS_MAX = 20;

/** Begins to add a passkey. */
export async function startPasskeyRegistration(
  parts: AccountParts,
  userId: string,
  { origin }: PasskeyOrigin,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await loadLibrary();
  const present = await listRows(parts, userId);
  const options = await generateRegistrationOptions({
    rpName: PRODUCT_NAME,
    rpID: new URL(origin).hostname,
    userName: userId,
    attestationType: 'none',
    excludeCredentials: present.map(({ credential_id }) => ({ id: credential_id })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
  });
  await createChallenge(parts, 'passkey_registration', { user_id: userId, data: '' }, options.challenge);
  return options;
}

/** Adds a passkey, and counts it as a second factor. */
export async function addPasskey(
  parts: AccountParts,
  session: SignInSession,
  registration: { readonly name: string; readonly response: RegistrationResponseJSON },
  { origin }: PasskeyOrigin,
): Promise<RotatedSession> {
  const { user_id } = session;
  const challenge = readChallenge(registration.response);
  const begun = await takeChallenge(parts, 'passkey_registration', challenge);
  if (begun?.user_id !== user_id) return { outcome: 'refused' };
  if ((await listRows(parts, user_id)).length >= PASSKEYS_MAX) return { outcome: 'refused' };
  const { verifyRegistrationResponse } = await loadLibrary();
  const verified = await verifyRegistrationResponse({
    response: registration.response,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: new URL(origin).hostname,
    requireUserVerification: true,
  }).catch(() => null);
  if (verified === null || !verified.verified) return { outcome: 'refused' };
  const { credential } = verified.registrationInfo;
  const reason = 'The user added a passkey.';
  await recordAccountEvent(parts.ports, { phase: 'passkey_add', reason, caller_id: `user:${user_id}` });
  const { numInsertedOrUpdatedRows: count = 0n } = await (await parts.store()).db
    .insertInto('passkeys')
    .values({
      credential_id: credential.id,
      user_id,
      name: registration.name,
      public_key: Buffer.from(credential.publicKey).toString('base64url'),
      counter: credential.counter,
      transports: JSON.stringify(credential.transports ?? []),
      created_ms: parts.ports().now_ms(),
      last_used_ms: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return count > 0n ? markSecondFactor(parts, session, 'passkey') : { outcome: 'refused' };
}

/** Lists a user's passkeys as they are shown, the oldest first. */
export async function listPasskeys(
  parts: AccountParts,
  userId: string,
): Promise<readonly Shown<typeof passkeys>[]> {
  return (await listRows(parts, userId)).map(passkeys.show);
}

/** Removes a passkey. Returns whether the user had it. */
export async function removePasskey(
  { store, ports }: AccountParts,
  userId: string,
  passkeyId: string,
): Promise<boolean> {
  const { numDeletedRows } = await (await store()).db
    .deleteFrom('passkeys')
    .where('user_id', '=', userId)
    .where('credential_id', '=', passkeyId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) return false;
  const reason = 'The user removed a passkey.';
  await recordAccountEvent(ports, { phase: 'passkey_remove', reason, caller_id: `user:${userId}` });
  return true;
}

/**
 * Begins to use a passkey: to sign in, after a password (`ticket`), or again in a session (`user_id`). Returns `null`
 * if too many others of the address wait for their turn.
 */
export async function startPasskeyUse(
  parts: AccountParts,
  { ticket, user_id = null }: { readonly ticket: string | null; readonly user_id?: string | null },
  browser: PasskeyOrigin,
): Promise<PublicKeyCredentialRequestOptionsJSON | null> {
  if (user_id === null && !(await countStart(parts, browser))) return null;
  const begun = ticket === null ? null : await tryChallenge(parts, 'second_factor', ticket);
  const known = user_id ?? begun?.user_id ?? null;
  const rows = known === null ? [] : await listRows(parts, known);
  const { generateAuthenticationOptions } = await loadLibrary();
  const options = await generateAuthenticationOptions({
    rpID: new URL(browser.origin).hostname,
    allowCredentials: rows.map(({ credential_id }) => ({ id: credential_id })),
    userVerification: 'required',
  });
  await createChallenge(parts, 'passkey_sign_in', { user_id: known, data: '' }, options.challenge);
  return options;
}

/** Signs a user in with a passkey. It verifies the person too, so that it is both factors. */
export async function signInWithPasskey(
  parts: AccountParts,
  response: AuthenticationResponseJSON,
  origin: PasskeyOrigin,
): Promise<SignInResult> {
  const userId = await verifyPasskey(parts, response, origin);
  const user = userId === null ? null : await findUserRow((await parts.store()).db, userId);
  if (user === null || user.disabled_ms !== null) {
    await recordFailure(parts, user, origin, 'passkey', 'sign_in_failed');
    return { outcome: 'refused' };
  }
  return beginSession(parts, user, 'passkey', true, origin);
}

/** Proves the second factor again with a passkey. */
export async function provePasskey(
  parts: AccountParts,
  session: SignInSession,
  response: AuthenticationResponseJSON,
  origin: PasskeyOrigin,
): Promise<RotatedSession> {
  const userId = await verifyPasskey(parts, response, origin);
  if (userId === session.user_id) return markSecondFactor(parts, session, 'passkey');
  await recordFailure(parts, session, origin, 'passkey', 'second_factor_failed');
  return { outcome: 'refused' };
}

/** Returns the user whose passkey signed the challenge; `null` if the answer is not valid, or was used already. */
async function verifyPasskey(
  parts: AccountParts,
  response: AuthenticationResponseJSON,
  { origin }: PasskeyOrigin,
): Promise<string | null> {
  const challenge = readChallenge(response);
  const begun = await takeChallenge(parts, 'passkey_sign_in', challenge);
  if (begun === null) return null;
  const { db } = await parts.store();
  const row = await db
    .selectFrom('passkeys')
    .selectAll()
    .where('credential_id', '=', String(response.id))
    .executeTakeFirst();
  if (row === undefined || (begun.user_id !== null && begun.user_id !== row.user_id)) return null;
  const { verifyAuthenticationResponse } = await loadLibrary();
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: new URL(origin).hostname,
    credential: {
      id: row.credential_id,
      publicKey: new Uint8Array(Buffer.from(row.public_key, 'base64url')),
      counter: row.counter,
    },
    requireUserVerification: true,
  }).catch(() => null);
  if (verified === null || !verified.verified) return null;
  await db
    .updateTable('passkeys')
    .set({ counter: verified.authenticationInfo.newCounter, last_used_ms: parts.ports().now_ms() })
    .where('credential_id', '=', row.credential_id)
    .execute();
  return row.user_id;
}

/** Reads the challenge that the browser signed; empty if the answer has none. The library verifies the signature. */
function readChallenge(response: RegistrationResponseJSON | AuthenticationResponseJSON): string {
  try {
    const client = JSON.parse(Buffer.from(response.response.clientDataJSON, 'base64url').toString('utf8'));
    return typeof client.challenge === 'string' ? client.challenge : '';
  } catch {
    return '';
  }
}

async function listRows({ store }: AccountParts, userId: string) {
  const { db } = await store();
  return db
    .selectFrom('passkeys')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('created_ms')
    .limit(PASSKEYS_MAX)
    .execute();
}

/** Loads the library, which is an optional dependency. */
async function loadLibrary(): Promise<Library> {
  try {
    return await import('@simplewebauthn/server');
  } catch (fault) {
    if ((fault as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw fault;
    throw new Unavailable('Passkeys need a package: npm install @simplewebauthn/server', fault);
  }
}
