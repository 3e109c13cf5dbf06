import type { Static } from 'typebox';
import { Type } from '../../core/schema.ts';
import type { Context } from '../../operations/operation.ts';
import { coversName } from '../../runtime/access/scope.ts';
import { listTenantRows, readTenantSets, type TenantScope } from './tenant-store.ts';

/** A tenant as operators see it. */
export const tenantSummarySchema = Type.Object({
  tenant_id: Type.String(),
  name: Type.String(),
  version: Type.Nullable(
    Type.Integer({ description: 'The current version of its saved policies; `null` if it has none.' }),
  ),
  rules_active: Type.Integer({
    description: 'Rules of the active policy that apply to this tenant alone, saved and configured.',
  }),
  created_by: Type.Nullable(
    Type.String({ description: '`null` for a tenant that only the configuration has.' }),
  ),
  created_at: Type.Nullable(Type.String()),
});

/** Lists the tenants of the store and of the active policy that the caller may see, by ID. */
export async function listTenants({
  runtime,
  caller,
}: Context): Promise<Static<typeof tenantSummarySchema>[]> {
  const { db } = await runtime.store();
  const scope: TenantScope = caller.tenants;
  const rows = new Map((await listTenantRows(db, scope)).map((row) => [row.tenant_id, row] as const));
  const versions = new Map((await readTenantSets(db)).map((each) => [each.tenant_id, each.version] as const));
  const rules = countRules(runtime.policy().rules.map(({ tenant_id }) => tenant_id));
  const ids = [...new Set([...rows.keys(), ...versions.keys(), ...rules.keys()])].filter((tenantId) =>
    coversName(scope, tenantId),
  );
  return ids.sort().map((tenantId) => {
    const row = rows.get(tenantId);
    return {
      tenant_id: tenantId,
      name: row?.name ?? tenantId,
      version: versions.get(tenantId) ?? null,
      rules_active: rules.get(tenantId) ?? 0,
      created_by: row?.created_by ?? null,
      created_at: row === undefined ? null : new Date(row.created_ms).toISOString(),
    };
  });
}

function countRules(tenants: readonly (string | null)[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const tenantId of tenants)
    if (tenantId !== null) counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
  return counts;
}
