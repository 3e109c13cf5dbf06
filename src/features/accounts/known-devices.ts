/** Browsers in which a user has signed in before: a cookie with a random value, of which the store holds the hash. */
import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { StoreTables } from '../../platform/store/index.ts';
import { DEVICE_SECONDS } from '../../runtime/access/browser.ts';
import { hashToken } from '../../runtime/access/tokens.ts';
import type { AccountParts } from './types.ts';

type Db = Kysely<StoreTables>;

/** The devices of one user; the one that was used longest ago is deleted. */
const DEVICES_MAX = 20;

/** Returns whether the user has signed in with this browser before. */
export async function isKnownDevice(
  { store, ports }: Pick<AccountParts, 'store' | 'ports'>,
  userId: string,
  deviceToken: string,
): Promise<boolean> {
  const row = await (await store()).db
    .selectFrom('known_devices')
    .select('expires_ms')
    .where('token_sha256', '=', hashToken(deviceToken))
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row !== undefined && ports().now_ms() < row.expires_ms;
}

/**
 * Remembers the browser of a sign-in, and returns the new value of its cookie. A value from before the sign-in, which
 * another person may know, stops being valid for all users of the browser.
 */
export async function rememberDevice(
  db: Db,
  nowMs: number,
  userId: string,
  deviceToken: string | null,
): Promise<string> {
  const made = randomBytes(32).toString('base64url');
  const tokenSha256 = hashToken(made);
  if (deviceToken !== null)
    await db
      .updateTable('known_devices')
      .set({ token_sha256: tokenSha256 })
      .where('token_sha256', '=', hashToken(deviceToken))
      .execute();
  const expiresMs = nowMs + DEVICE_SECONDS * 1_000;
  await db
    .insertInto('known_devices')
    .values({ token_sha256: tokenSha256, user_id: userId, expires_ms: expiresMs })
    .onConflict((conflict) =>
      conflict.columns(['token_sha256', 'user_id']).doUpdateSet({ expires_ms: expiresMs }),
    )
    .execute();
  const surplus = await db
    .selectFrom('known_devices')
    .select('token_sha256')
    .where('user_id', '=', userId)
    .orderBy('expires_ms', 'desc')
    .orderBy('token_sha256')
    .offset(DEVICES_MAX)
    .limit(DEVICES_MAX)
    .execute();
  if (surplus.length > 0)
    await db
      .deleteFrom('known_devices')
      .where('user_id', '=', userId)
      .where(
        'token_sha256',
        'in',
        surplus.map((row) => row.token_sha256),
      )
      .execute();
  return made;
}

/** Forgets all devices of a user. */
export async function forgetDevices(db: Db, userId: string): Promise<void> {
  await db.deleteFrom('known_devices').where('user_id', '=', userId).execute();
}
