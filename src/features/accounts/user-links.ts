import { randomBytes } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { StoreTables } from '../../platform/store/index.ts';
import { hashToken } from '../../runtime/access/tokens.ts';

type Db = Kysely<StoreTables>;

/** The page that a one-time link opens. The token is in the fragment, which browsers send to no server. */
const LINK_PATH = '/dashboard/set-up';

/**
 * Creates the one-time link of a user, and voids the one before. `null`: the link creates the first administrator.
 */
export async function createUserLink(
  db: Db,
  userId: string | null,
  expiresMs: number,
  publicUrl: string,
): Promise<string> {
  const token = `svc_link_${randomBytes(32).toString('base64url')}`;
  if (userId !== null) await deleteUserLinks(db, userId);
  await db
    .insertInto('user_links')
    .values({ token_sha256: hashToken(token), user_id: userId, expires_ms: expiresMs })
    .execute();
  return `${publicUrl}${LINK_PATH}#${token}`;
}

/** Uses a link up. Returns `null` if it is unknown, expired or used already. */
export async function takeUserLink(
  db: Db,
  token: string,
  nowMs: number,
): Promise<{ readonly user_id: string | null } | null> {
  const row = await db
    .deleteFrom('user_links')
    .where('token_sha256', '=', hashToken(token))
    .returning(['user_id', 'expires_ms'])
    .executeTakeFirst();
  return row !== undefined && nowMs < row.expires_ms ? { user_id: row.user_id } : null;
}

/** Returns whether a link creates the first administrator. */
export async function isFirstLink(db: Db, token: string): Promise<boolean> {
  const row = await db
    .selectFrom('user_links')
    .select('user_id')
    .where('token_sha256', '=', hashToken(token))
    .executeTakeFirst();
  return row !== undefined && row.user_id === null;
}

/** No token has this hash. */
const FIRST_LINKS_LOCK = 'first-administrator';

/**
 * Waits until no other transaction uses a link that creates the first administrator: of two that insert the same row,
 * the second waits for the end of the first. The row must be deleted in the same transaction.
 */
export async function lockFirstLinks(trx: Db): Promise<void> {
  await trx
    .insertInto('user_links')
    .values({ token_sha256: FIRST_LINKS_LOCK, user_id: null, expires_ms: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** Deletes the row of `lockFirstLinks`. `deleteUserLinks` deletes it too. */
export async function unlockFirstLinks(trx: Db): Promise<void> {
  await trx.deleteFrom('user_links').where('token_sha256', '=', FIRST_LINKS_LOCK).execute();
}

/** Voids the links of a user; `null`: those that create the first administrator. */
export async function deleteUserLinks(db: Db, userId: string | null): Promise<void> {
  await db
    .deleteFrom('user_links')
    .where('user_id', userId === null ? 'is' : '=', userId)
    .execute();
}
