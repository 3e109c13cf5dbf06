import type { Static } from 'typebox';
import { Type } from '../../core/schema.ts';
import type { MemoryField } from '../../core/types/index.ts';
import type { MemoryEntry } from './entry.ts';

/** An entry without its value, as agents see it. */
export const memoryEntrySchema = Type.Object({
  key: Type.String(),
  memory: Type.String({ description: 'The memory document.' }),
  scope: Type.Enum(['session', 'user', 'global']),
  type: Type.String(),
  tag: Type.String({ description: 'That of the field.' }),
  data_tags: Type.Array(Type.String(), { description: 'All that the value had when it was written.' }),
  encrypted: Type.Boolean({ description: 'A read gives the handle in place of the value.' }),
  handle_id: Type.String(),
  value_bytes: Type.Integer(),
  created_at: Type.String(),
  expires_at: Type.String(),
});
export type MemoryEntryMetadata = Static<typeof memoryEntrySchema>;

/** Returns what an agent may know about an entry without its value. */
export function buildMetadata(entry: MemoryEntry, field: MemoryField): MemoryEntryMetadata {
  return {
    key: field.name,
    memory: entry.schema_name,
    scope: entry.scope,
    type: field.type,
    tag: field.tag,
    data_tags: entry.data_tags,
    encrypted: field.encrypted,
    handle_id: entry.entry_id,
    value_bytes: Buffer.byteLength(entry.text),
    created_at: new Date(entry.created_at_ms).toISOString(),
    expires_at: new Date(entry.expires_at_ms).toISOString(),
  };
}
