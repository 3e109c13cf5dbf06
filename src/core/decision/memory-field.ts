import type { Json, MemoryField, MemorySchema, Policy } from '../types/index.ts';

/** A memory field and the schema that declares it. */
export interface DeclaredMemoryField {
  readonly schema: MemorySchema;
  readonly field: MemoryField;
}

/** Returns the memory schemas of a tenant: its own first, then the global ones, each in the order of definition. */
export function listMemorySchemas(policy: Policy, tenantId: string): readonly MemorySchema[] {
  const own = policy.memory_schemas.filter((schema) => schema.tenant_id === tenantId);
  return [...own, ...policy.memory_schemas.filter((schema) => schema.tenant_id === null)];
}

/**
 * Returns the field that a key names, from the schema of that name or else from the first that has the key; `null` if
 * no schema declares it. Undeclared fields are not stored.
 */
export function findMemoryField(
  policy: Policy,
  tenantId: string,
  key: string,
  schemaName: string | null,
): DeclaredMemoryField | null {
  for (const schema of listMemorySchemas(policy, tenantId)) {
    if (schemaName !== null && schema.name !== schemaName) continue;
    const field = schema.fields.find(({ name }) => name === key);
    if (field !== undefined) return { schema, field };
  }
  return null;
}

/** Returns whether a value has a field's type. An integer is also a `number`; `null` has no type. */
export function isMemoryValueOfType(value: Json, type: MemoryField['type']): boolean {
  if (type === 'list') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
