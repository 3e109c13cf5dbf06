import type { Json, MemoryField, MemorySchema, Policy } from '../types/index.ts';

/** A field of memory, and the document that declares it. */
export interface DeclaredMemoryField {
  readonly schema: MemorySchema;
  readonly field: MemoryField;
}

/** The memory documents that hold for a tenant, its own first, in the order of definition. */
export function listMemorySchemas(policy: Policy, tenant_id: string): readonly MemorySchema[] {
  const own = policy.memory_schemas.filter((schema) => schema.tenant_id === tenant_id);
  return [...own, ...policy.memory_schemas.filter((schema) => schema.tenant_id === null)];
}

/**
 * The field that a key names: in the document of that name, or in the first that has it. `null` where no document
 * declares it: nothing is kept that nobody has declared.
 */
export function findMemoryField(
  policy: Policy,
  tenant_id: string,
  key: string,
  schema_name: string | null,
): DeclaredMemoryField | null {
  for (const schema of listMemorySchemas(policy, tenant_id)) {
    if (schema_name !== null && schema.name !== schema_name) continue;
    const field = schema.fields.find(({ name }) => name === key);
    if (field !== undefined) return { schema, field };
  }
  return null;
}

/** Whether a value is of a field's type. A whole number is a `number` too; `null` is of no type. */
export function isMemoryValueOfType(value: Json, type: MemoryField['type']): boolean {
  if (type === 'list') return Array.isArray(value);
  if (type === 'object') return typeof value === 'object' && value !== null && !Array.isArray(value);
  if (type === 'integer') return Number.isInteger(value);
  return typeof value === type;
}
