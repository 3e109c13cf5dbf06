/** Returns the key of a record in a register: its tenant, `null` for all tenants, and its name. */
export function buildTenantKey(tenant_id: string | null, name: string): string {
  return JSON.stringify([tenant_id, name]);
}

/** Returns the tenant's own record, or else the global one. */
export function findTenantRecord<TenantRecord>(
  register: ReadonlyMap<string, TenantRecord>,
  tenant_id: string,
  name: string,
): TenantRecord | null {
  if (register.size === 0) return null;
  return register.get(buildTenantKey(tenant_id, name)) ?? register.get(buildTenantKey(null, name)) ?? null;
}
