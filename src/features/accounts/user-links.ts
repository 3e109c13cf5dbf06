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
  user_id: string | null,
  expires_ms: number,
  public_url: string,
): Promise<string> {
  const token = `svc_link_${randomBytes(32).toString('base64url')}`;
  if (user_id !== null) await deleteUserLinks(db, user_id);
  await db
    .insertInto('user_links')
    .values({ token_sha256: hashToken(token), user_id, expires_ms })
    .execute();
  return `${public_url}${LINK_PATH}#${token}`;
}

/** Uses a link up. Returns `null` if it is unknown, expired or used already. */
export async function takeUserLink(
  db: Db,
  token: string,
  now_ms: number,
): Promise<{ readonly user_id: string | null } | null> {
  const row = await db
    .deleteFrom('user_links')
    .where('token_sha256', '=', hashToken(token))
    .returning(['user_id', 'expires_ms'])
    .executeTakeFirst();
  return row !== undefined && now_ms < row.expires_ms ? { user_id: row.user_id } : null;
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
export async function deleteUserLinks(db: Db, user_id: string | null): Promise<void> {
  await db
    .deleteFrom('user_links')
    .where('user_id', user_id === null ? 'is' : '=', user_id)
    .execute();
}
