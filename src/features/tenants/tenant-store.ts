import type { Kysely, Selectable, Transaction } from 'kysely';
import { hashJson } from '../../core/policy/compile/canonical-json.ts';
import type { JsonObject } from '../../core/types/index.ts';
import { hashText } from '../../platform/hash-text.ts';
import type { StoreTables } from '../../platform/store/index.ts';
import type { TenantPolicySet } from '../../runtime/managed-policy/managed-policy.ts';

type Db = Kysely<StoreTables>;
export type TenantRow = Selectable<StoreTables['tenants']>;

/** One version of the policy set of a tenant. */
export interface TenantPolicyVersion {
  readonly tenant_id: string;
  readonly version: number;
  readonly policies: readonly JsonObject[];
  readonly sha256: string;
  readonly note: string;
  readonly restored_from: number | null;
  readonly created_by: string;
  readonly created_ms: number;
}

/** The tenants that a caller may see; `*` for all. */
export type TenantScope = '*' | readonly string[];

/** Creates a tenant. Returns `false` if there is one with this ID. */
export async function insertTenant(trx: Db, row: TenantRow): Promise<boolean> {
  const { numInsertedOrUpdatedRows: count = 0n } = await trx
    .insertInto('tenants')
    .values(row)
    .onConflict((conflict) => conflict.column('tenant_id').doNothing())
    .executeTakeFirst();
  return count > 0n;
}

/** Lists the tenants in a scope, by ID. */
export async function listTenantRows(db: Db, scope: TenantScope): Promise<readonly TenantRow[]> {
  if (scope !== '*' && scope.length === 0) return [];
  const query = db.selectFrom('tenants').selectAll().orderBy('tenant_id');
  return (scope === '*' ? query : query.where('tenant_id', 'in', [...scope])).execute();
}

/** Returns a version of a tenant's policy set, by default the current one; `null` if there is none. */
export async function findTenantVersion(
  db: Db,
  tenantId: string,
  version: number | null = null,
): Promise<TenantPolicyVersion | null> {
  const query = db
    .selectFrom('tenant_policy_versions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('version', 'desc')
    .limit(1);
  const row = await (version === null ? query : query.where('version', '=', version)).executeTakeFirst();
  return row === undefined ? null : readRow(row);
}

/** Lists versions, newest first. `before` is the number of the last version of the previous page. */
export async function listTenantVersions(
  db: Db,
  tenantId: string,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<readonly TenantPolicyVersion[]> {
  const query = db
    .selectFrom('tenant_policy_versions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('version', 'desc')
    .limit(limit);
  const rows = await (before === null ? query : query.where('version', '<', before)).execute();
  return rows.map(readRow);
}

/** Adds a version. Returns `false` if another caller added one with this number first. */
export async function insertTenantVersion(
  trx: Transaction<StoreTables>,
  version: TenantPolicyVersion,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows: count = 0n } = await trx
    .insertInto('tenant_policy_versions')
    .values({ ...version, policies: JSON.stringify(version.policies) })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'version']).doNothing())
    .executeTakeFirst();
  return count > 0n;
}

/** Removes a version that could not be activated, if no later one follows it. */
export async function deleteTenantVersion(
  trx: Transaction<StoreTables>,
  { tenant_id, version }: Pick<TenantPolicyVersion, 'tenant_id' | 'version'>,
): Promise<void> {
  const current = await findTenantVersion(trx, tenant_id);
  if (current?.version !== version) return;
  await trx
    .deleteFrom('tenant_policy_versions')
    .where('tenant_id', '=', tenant_id)
    .where('version', '=', version)
    .execute();
}

/** Returns the current policy set of every tenant that has one, by ID. */
export async function readTenantSets(db: Db): Promise<readonly TenantPolicySet[]> {
  const rows = await db
    .selectFrom('tenant_policy_versions as each')
    .select(['each.tenant_id', 'each.version', 'each.policies'])
    .where('each.version', '=', ({ selectFrom }) =>
      selectFrom('tenant_policy_versions as same')
        .select(({ fn }) => fn.max('same.version').as('version'))
        .whereRef('same.tenant_id', '=', 'each.tenant_id'),
    )
    .orderBy('each.tenant_id')
    .execute();
  return rows.map(({ tenant_id, version, policies }) => ({
    tenant_id,
    version: Number(version),
    policies: JSON.parse(policies) as JsonObject[],
  }));
}

/** Returns the hash that identifies the content of a policy set. */
export function hashPolicySet(policies: readonly JsonObject[]): string {
  return hashJson(policies, hashText);
}

function readRow(row: Selectable<StoreTables['tenant_policy_versions']>): TenantPolicyVersion {
  return {
    ...row,
    policies: JSON.parse(row.policies) as JsonObject[],
  };
}
