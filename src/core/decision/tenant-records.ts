/** Builds the register of records by tenant and name. The last record for a tenant and a name counts. */
export function buildTenantRegister<Kind extends { readonly tenant_id: string | null }>(
  records: readonly Kind[],
  nameOf: (record: Kind) => string,
): ReadonlyMap<string, Kind> {
  return new Map(records.map((each) => [buildTenantKey(each.tenant_id, nameOf(each)), each]));
}

/** Returns the key of a record in a register: its tenant, `null` for all tenants, and its name. */
export function buildTenantKey(tenantId: string | null, name: string): string {
  return JSON.stringify([tenantId, name]);
}

/** Returns the tenant's own record, or else the global one. */
export function findTenantRecord<TenantRecord>(
  register: ReadonlyMap<string, TenantRecord>,
  tenantId: string,
  name: string,
): TenantRecord | null {
  if (register.size === 0) return null;
  return register.get(buildTenantKey(tenantId, name)) ?? register.get(buildTenantKey(null, name)) ?? null;
}
