import type { Kysely } from 'kysely';
import type { StoreTables } from '../../platform/store/index.ts';
import type { Role } from '../../runtime/config/permissions.ts';
import { deleteDelays } from './attempts.ts';
import { forgetDevices } from './known-devices.ts';
import { type AccountPhase, recordAccountEvent } from './record-account-event.ts';
import { revokeSessions } from './sessions.ts';
import type { Account, AccountParts } from './types.ts';
import { createUserLink, deleteUserLinks } from './user-links.ts';
import {
  countPasskeys,
  findUserRow,
  hasAdministrator,
  insertUser,
  listUserRows,
  normalizeUserId,
  toAccount,
} from './user-records.ts';

/** The input of a new user. */
export interface AddedUser {
  readonly user_id: string;
  readonly name: string | null;
  readonly roles: readonly Role[];
  readonly tenants: readonly string[];
}

/** Adds a user. Returns the one-time link for the password; `null` if the name is taken. */
export async function addUser(
  parts: AccountParts,
  added: AddedUser,
  callerId: string,
): Promise<{ readonly user: Account; readonly link: string } | null> {
  const { db } = await parts.store();
  const userId = normalizeUserId(added.user_id);
  const { roles, tenants } = added;
  if ((await findUserRow(db, userId)) !== null) return null;
  await recordUserChange(parts, 'user_add', userId, callerId, 'A user was added.', { roles, tenants });
  const user = { user_id: userId, name: added.name ?? userId, roles, tenants, created_by: callerId };
  if (!(await insertUser(db, parts.ports().now_ms(), user))) return null;
  const link = await linkFor(parts, db, userId);
  return { user: (await findAccount(parts, userId))!, link };
}

/** Lists accounts in the order of their names, from the one after `after` on. */
export async function listAccounts(
  { store }: AccountParts,
  after: string,
  limit: number,
): Promise<readonly Account[]> {
  const { db } = await store();
  const rows = await listUserRows(db, after, limit);
  const counts = await countPasskeys(
    db,
    rows.map(({ user_id }) => user_id),
  );
  return rows.map((row) => toAccount(row, counts.get(row.user_id) ?? 0));
}

/** Finds an account; `null` if there is no such user. */
export async function findAccount({ store }: AccountParts, name: string): Promise<Account | null> {
  const { db } = await store();
  const row = await findUserRow(db, normalizeUserId(name));
  if (row === null) return null;
  return toAccount(row, (await countPasskeys(db, [row.user_id])).get(row.user_id) ?? 0);
}

/** Replaces the roles, the tenants, or both. The next request of the user has them. */
export async function changeUser(
  parts: AccountParts,
  name: string,
  change: { readonly roles?: readonly Role[]; readonly tenants?: readonly string[] },
  callerId: string,
): Promise<Account | null> {
  const { db } = await parts.store();
  const userId = normalizeUserId(name);
  if ((await findUserRow(db, userId)) === null) return null;
  const { roles, tenants } = change;
  await recordUserChange(
    parts,
    'user_change',
    userId,
    callerId,
    'The roles or tenants of a user were changed.',
    {
      ...(roles && { roles }),
      ...(tenants && { tenants }),
    },
  );
  await db
    .updateTable('users')
    .set({
      ...(roles && { roles: JSON.stringify(roles) }),
      ...(tenants && { tenants: JSON.stringify(tenants) }),
    })
    .where('user_id', '=', userId)
    .execute();
  return findAccount(parts, userId);
}

/** Disables a user, which ends the sessions at once, or enables the user again. */
export async function setUserDisabled(
  parts: AccountParts,
  name: string,
  isDisabled: boolean,
  callerId: string,
): Promise<Account | null> {
  const { db } = await parts.store();
  const userId = normalizeUserId(name);
  if ((await findUserRow(db, userId)) === null) return null;
  const phase = isDisabled ? 'user_disable' : 'user_enable';
  await recordUserChange(
    parts,
    phase,
    userId,
    callerId,
    `A user was ${isDisabled ? 'disabled' : 'enabled'}.`,
  );
  const disabledMs = isDisabled ? parts.ports().now_ms() : null;
  await db.updateTable('users').set({ disabled_ms: disabledMs }).where('user_id', '=', userId).execute();
  if (isDisabled) await endAccess(db, userId);
  return findAccount(parts, userId);
}

/** Removes the password and all second factors, ends the sessions, and returns a one-time link. */
export async function resetUser(
  parts: AccountParts,
  name: string,
  callerId: string,
): Promise<{ readonly user: Account; readonly link: string } | null> {
  const { db } = await parts.store();
  const userId = normalizeUserId(name);
  if ((await findUserRow(db, userId)) === null) return null;
  const reason = 'The password and the second factors of a user were removed.';
  await recordUserChange(parts, 'user_reset', userId, callerId, reason);
  await db
    .updateTable('users')
    .set({ password_hash: null, totp_secret: null, totp_confirmed: 0, totp_step: 0 })
    .where('user_id', '=', userId)
    .execute();
  await db.deleteFrom('passkeys').where('user_id', '=', userId).execute();
  await deleteDelays(db, userId);
  await endAccess(db, userId);
  const link = await linkFor(parts, db, userId);
  return { user: (await findAccount(parts, userId))!, link };
}

/** Ends the delays of sign-in after wrong proofs, of a user and of all addresses. */
export async function unlockUser(
  parts: AccountParts,
  name: string,
  callerId: string,
): Promise<Account | null> {
  const userId = normalizeUserId(name);
  const account = await findAccount(parts, userId);
  if (account === null) return null;
  const reason = 'The delays of sign-in were ended for a user and for all addresses.';
  await recordUserChange(parts, 'user_unlock', userId, callerId, reason);
  await deleteDelays((await parts.store()).db, userId);
  return account;
}

/** Ends sessions of a user: one, or all. Returns their number. */
export async function endUserSessions(
  parts: AccountParts,
  name: string,
  sessionId: string | null,
  callerId: string,
): Promise<number> {
  const { db } = await parts.store();
  const userId = normalizeUserId(name);
  const count = await revokeSessions(db, userId, sessionId === null ? {} : { session_id: sessionId });
  if (count > 0)
    await recordUserChange(parts, 'session_revoke', userId, callerId, 'Sessions of a user were ended.', {
      count,
    });
  return count;
}

/**
 * Returns a one-time link that creates the first administrator; `null` if there is one. Links of earlier starts stay
 * valid until they expire, because another replica may have printed them.
 */
export async function createFirstLink({
  store,
  ports,
  settings,
}: Omit<AccountParts, 'wait'>): Promise<string | null> {
  const { db } = await store();
  if (await hasAdministrator(db)) return null;
  return createUserLink(db, null, ports().now_ms() + settings.link_ms, settings.public_url);
}

function linkFor(
  { ports, settings }: AccountParts,
  db: Kysely<StoreTables>,
  userId: string,
): Promise<string> {
  return createUserLink(db, userId, ports().now_ms() + settings.link_ms, settings.public_url);
}

async function endAccess(db: Kysely<StoreTables>, userId: string): Promise<void> {
  await revokeSessions(db, userId);
  await deleteUserLinks(db, userId);
  await forgetDevices(db, userId);
  await db.deleteFrom('sign_in_challenges').where('user_id', '=', userId).execute();
}

async function recordUserChange(
  { ports }: AccountParts,
  phase: AccountPhase,
  userId: string,
  callerId: string,
  reason: string,
  more: Readonly<Record<string, readonly string[] | number>> = {},
): Promise<void> {
  await recordAccountEvent(ports, {
    phase,
    reason,
    caller_id: callerId,
    metadata: { user_id: userId, ...more },
  });
}
