import type { Kysely, Selectable } from 'kysely';
import type { StoreTables } from '../../platform/store/index.ts';
import type { ManagedAllowlistEntry } from '../../runtime/managed-policy/managed-policy.ts';

type Db = Kysely<StoreTables>;
export type AllowlistRow = Selectable<StoreTables['allowlist_entries']>;

/** Adds an entry. Returns `false` if there is one with its fingerprint and tenant. */
export async function insertAllowlistEntry(trx: Db, row: AllowlistRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows: count = 0n } = await trx
    .insertInto('allowlist_entries')
    .values(row)
    .onConflict((conflict) => conflict.columns(['fingerprint', 'tenant_id']).doNothing())
    .executeTakeFirst();
  return count > 0n;
}

/** Removes an entry. */
export async function deleteAllowlistEntry(
  trx: Db,
  { fingerprint, tenant_id }: Pick<AllowlistRow, 'fingerprint' | 'tenant_id'>,
): Promise<void> {
  await trx
    .deleteFrom('allowlist_entries')
    .where('fingerprint', '=', fingerprint)
    .where('tenant_id', '=', tenant_id)
    .execute();
}

/** Lists all entries, also expired ones, by fingerprint and tenant. */
export async function listAllowlistRows(db: Db): Promise<readonly AllowlistRow[]> {
  return db.selectFrom('allowlist_entries').selectAll().orderBy('fingerprint').orderBy('tenant_id').execute();
}

/** Returns the allowlist of the managed policy. Expired entries have no effect. */
export async function readManagedAllowlist(db: Db): Promise<readonly ManagedAllowlistEntry[]> {
  return (await listAllowlistRows(db)).map(buildManagedEntry);
}

/** Builds the entry of the managed policy from a row. */
export function buildManagedEntry({
  fingerprint,
  tenant_id,
  reason,
  created_by,
  expires_ms,
}: AllowlistRow): ManagedAllowlistEntry {
  const tenant = tenant_id === '' ? null : tenant_id;
  return { fingerprint, tenant_id: tenant, reason, owner: created_by, expires_ms };
}
