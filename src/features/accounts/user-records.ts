import type { Kysely, Selectable } from 'kysely';
import type { StoreTables } from '../../platform/store/index.ts';
import { ROLES, type Role } from '../../runtime/config/permissions.ts';
import type { Account } from './types.ts';

type Db = Kysely<StoreTables>;
/** A row of the table of users. */
export type UserRow = Selectable<StoreTables['users']>;

/** A new user, without a password. */
export interface NewUser {
  readonly user_id: string;
  readonly name: string;
  readonly roles: readonly Role[];
  readonly tenants: readonly string[];
  readonly created_by: string;
  readonly openid?: { readonly issuer: string; readonly subject: string };
}

/** Returns the key that all spellings of a user's name share. */
export function normalizeUserId(userId: string): string {
  return userId.trim().toLowerCase();
}

/** Adds a user. Returns `false` if the name is taken. */
export async function insertUser(db: Db, nowMs: number, user: NewUser): Promise<boolean> {
  const { numInsertedOrUpdatedRows: count = 0n } = await db
    .insertInto('users')
    .values({
      user_id: user.user_id,
      name: user.name,
      roles: JSON.stringify(user.roles),
      tenants: JSON.stringify(user.tenants),
      source: user.openid === undefined ? 'local' : 'oidc',
      issuer: user.openid?.issuer ?? null,
      subject: user.openid?.subject ?? null,
      password_hash: null,
      totp_secret: null,
      totp_confirmed: 0,
      totp_step: 0,
      disabled_ms: null,
      created_ms: nowMs,
      created_by: user.created_by,
      last_sign_in_ms: null,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  return count > 0n;
}

/** Finds the row of a user; `null` if there is none. */
export async function findUserRow(db: Db, userId: string): Promise<UserRow | null> {
  const row = await db.selectFrom('users').selectAll().where('user_id', '=', userId).executeTakeFirst();
  return row ?? null;
}

/** Lists users by name, from the one after `after` on. */
export async function listUserRows(db: Db, after: string, limit: number): Promise<readonly UserRow[]> {
  return db
    .selectFrom('users')
    .selectAll()
    .where('user_id', '>', after)
    .orderBy('user_id')
    .limit(limit)
    .execute();
}

/** Returns whether an enabled user with the role `admin` and access to all tenants exists. */
export async function hasAdministrator(db: Db): Promise<boolean> {
  const rows = await db
    .selectFrom('users')
    .select(['roles', 'tenants'])
    .where('disabled_ms', 'is', null)
    .where('roles', 'like', '%"admin"%')
    .execute();
  return rows.some((row) => readTenants(row.tenants) === '*' && readRoles(row.roles).includes('admin'));
}

/** Counts the passkeys of each of these users. */
export async function countPasskeys(
  db: Db,
  userIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (userIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('passkeys')
    .select((eb) => ['user_id', eb.fn.countAll().as('count')])
    .where('user_id', 'in', userIds)
    .groupBy('user_id')
    .execute();
  return new Map(rows.map(({ user_id, count }) => [user_id, Number(count)]));
}

/** Converts a row without its secrets. */
export function toAccount(row: UserRow, passkeyCount: number): Account {
  const { user_id, name, source, created_ms, last_sign_in_ms } = row;
  return {
    ...{ user_id, name, source, created_ms, last_sign_in_ms, passkey_count: passkeyCount },
    roles: readRoles(row.roles),
    tenants: readTenants(row.tenants),
    is_disabled: row.disabled_ms !== null,
    has_password: row.password_hash !== null,
    has_totp: row.totp_confirmed === 1,
  };
}

/** Reads the roles of a row. A name that this version does not know grants nothing. */
function readRoles(json: string): readonly Role[] {
  const names = JSON.parse(json) as readonly string[];
  return ROLES.filter((role) => names.includes(role));
}

function readTenants(json: string): Account['tenants'] {
  const tenants = JSON.parse(json) as readonly string[];
  return tenants.includes('*') ? '*' : tenants;
}
