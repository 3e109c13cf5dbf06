import type { Kysely } from 'kysely';
import type { Row } from '../../platform/store/define-table.ts';
import type { StoreTables } from '../../platform/store/index.ts';
import type { ApiKey } from '../../runtime/access/settings.ts';
import type { Permission } from '../../runtime/config/permissions.ts';
import type { apiKeys } from './tables.ts';

type Db = Kysely<StoreTables>;

type KeyRow = Row<typeof apiKeys>;

/** An API key of the store, without the key itself. `null` does not restrict. */
export interface StoredApiKey extends Omit<KeyRow, 'tenants' | 'agents' | 'permissions' | 'may_act_for'> {
  readonly tenants: readonly string[] | null;
  readonly agents: readonly string[] | null;
  /** `null` for the default permissions of a key. */
  readonly permissions: readonly Permission[] | null;
  /** The people for whom it may act, `*` for any; `null` for none. */
  readonly may_act_for: readonly string[] | null;
}

/** Adds a key. Returns `false` if a usable key has its name, and `replaces` does not allow that. */
export async function insertApiKey(
  trx: Db,
  key: StoredApiKey,
  { replaces = null }: { readonly replaces?: string | null } = {},
): Promise<boolean> {
  const same = (await listStoredKeys(trx)).filter(
    (each) => each.name === key.name && isUsable(each, key.created_ms) && each.key_id !== replaces,
  );
  if (same.some(({ replaced_by }) => replaced_by === null)) return false;
  const { tenants, agents, permissions, may_act_for } = key;
  const lists = {
    tenants: writeList(tenants),
    agents: writeList(agents),
    permissions: writeList(permissions),
    may_act_for: writeList(may_act_for),
  };
  await trx
    .insertInto('api_keys')
    .values({ ...key, ...lists })
    .execute();
  return true;
}

/** Lists all keys by name, newest first within a name. */
export async function listStoredKeys(db: Db): Promise<readonly StoredApiKey[]> {
  const rows = await db
    .selectFrom('api_keys')
    .selectAll()
    .orderBy('name')
    .orderBy('created_ms', 'desc')
    .orderBy('key_id')
    .execute();
  return rows.map(readRow);
}

/** Returns a key, or `null`. */
export async function findStoredKey(db: Db, keyId: string): Promise<StoredApiKey | null> {
  const row = await db.selectFrom('api_keys').selectAll().where('key_id', '=', keyId).executeTakeFirst();
  return row === undefined ? null : readRow(row);
}

/** Lets a rotated key expire. A key that expires earlier keeps its time. Returns `false` if it was rotated already. */
export async function replaceApiKey(
  trx: Db,
  key: StoredApiKey,
  replacedBy: string,
  expiresMs: number,
): Promise<boolean> {
  const endsMs = key.expires_ms === null ? expiresMs : Math.min(key.expires_ms, expiresMs);
  const { numUpdatedRows: count } = await trx
    .updateTable('api_keys')
    .set({ replaced_by: replacedBy, expires_ms: endsMs })
    .where('key_id', '=', key.key_id)
    .where('replaced_by', 'is', null)
    .where('revoked_ms', 'is', null)
    .executeTakeFirst();
  return count > 0n;
}

/**
 * Revokes a key, and those before it in its rotation, which still work until their overlap ends. Returns `false` if it
 * was revoked already.
 */
export async function revokeApiKey(
  trx: Db,
  keyId: string,
  revokedBy: string,
  revokedMs: number,
): Promise<boolean> {
  const revoke = async (column: 'key_id' | 'replaced_by', id: string) => {
    const query = trx
      .updateTable('api_keys')
      .set({ revoked_by: revokedBy, revoked_ms: revokedMs })
      .where(column, '=', id);
    return query.where('revoked_ms', 'is', null).returning('key_id').execute();
  };
  const revoked = await revoke('key_id', keyId);
  const later = revoked.map((row) => row.key_id);
  for (let id = later.pop(); id !== undefined; id = later.pop())
    later.push(...(await revoke('replaced_by', id)).map((row) => row.key_id));
  return revoked.length > 0;
}

/** Returns the keys that are not revoked, as the authenticator uses them. It checks their expiry itself. */
export async function readUsableKeys(db: Db): Promise<readonly ApiKey[]> {
  const keys = await listStoredKeys(db);
  return keys
    .filter(({ revoked_ms }) => revoked_ms === null)
    .map(({ name, sha256, tenants, agents, permissions, may_act_for, expires_ms }) => ({
      id: name,
      sha256,
      is_stored: true,
      ...(tenants !== null && { tenants }),
      ...(agents !== null && { agents }),
      ...(permissions !== null && { permissions }),
      ...(may_act_for !== null && { may_act_for }),
      ...(expires_ms !== null && { expires_at: new Date(expires_ms).toISOString() }),
    }));
}

/** Returns whether a key is neither revoked nor expired. */
export function isUsable(
  { revoked_ms, expires_ms }: Pick<StoredApiKey, 'revoked_ms' | 'expires_ms'>,
  nowMs: number,
): boolean {
  return revoked_ms === null && (expires_ms === null || nowMs < expires_ms);
}

function writeList(list: readonly string[] | null): string | null {
  return list === null ? null : JSON.stringify(list);
}

function readRow(row: KeyRow): StoredApiKey {
  const parseList = (text: string | null) => (text === null ? null : (JSON.parse(text) as string[]));
  return {
    ...row,
    tenants: parseList(row.tenants),
    agents: parseList(row.agents),
    permissions: parseList(row.permissions) as readonly Permission[] | null,
    may_act_for: parseList(row.may_act_for),
  };
}
