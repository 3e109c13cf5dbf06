import { hash, randomBytes } from 'node:crypto';
import type { MemorySchema, Tag } from '../../core/types/index.ts';
import type { Row } from '../../platform/store/define-table.ts';
import { decryptValue, encryptValue, type MasterKey } from './encryption.ts';
import type { MasterKeys } from './master-keys.ts';
import type { memoryEntries } from './tables.ts';

/** A row of the table of entries. */
export type EntryRow = Row<typeof memoryEntries>;

/** The owner of memory entries. */
export interface MemoryOwner {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly scope: MemorySchema['scope'];
  /** The session or the user; empty in the scope `global`, and if the caller names none. */
  readonly subject: string;
}

/** The position of an entry. Each slot holds one entry at most. */
export interface EntrySlot extends MemoryOwner {
  readonly schema_name: string;
  readonly field: string;
}

/** One decrypted entry. */
export interface MemoryEntry extends EntrySlot {
  readonly entry_id: string;
  readonly declared_tags: readonly Tag[];
  readonly data_tags: readonly Tag[];
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  /** The value as JSON. */
  readonly text: string;
}

/** Handles of earlier versions begin with `mem_` and remain valid. */
const HANDLE = /^(?:hdl|mem)_[0-9a-f]{32}$/;

/** Returns a random handle that cannot be guessed and reveals nothing about its entry. */
export function createHandle(): string {
  return `hdl_${randomBytes(16).toString('hex')}`;
}

/** Returns whether a text has the form of a handle. */
export function isHandle(text: string): boolean {
  return HANDLE.test(text);
}

/** Returns hashes of fixed length for slots and owners, whose names can exceed the length limit of an index. */
export function computeSlots({ tenant_id, agent_id, schema_name, scope, subject, field }: EntrySlot) {
  return {
    slot: computeSlot('entry', tenant_id, agent_id, schema_name, scope, subject, field),
    owner_slot: computeOwnerSlot({ tenant_id, agent_id, scope, subject }, schema_name),
    agent_slot: computeAgentSlot({ tenant_id, agent_id }),
  };
}

/** Returns the hash of a session, user or agent in one memory document. */
export function computeOwnerSlot(
  { tenant_id, agent_id, scope, subject }: MemoryOwner,
  schemaName: string,
): string {
  return computeSlot('owner', tenant_id, agent_id, schemaName, scope, subject);
}

/** Returns the hash of an agent over all of its entries. */
export function computeAgentSlot({
  tenant_id,
  agent_id,
}: Pick<MemoryOwner, 'tenant_id' | 'agent_id'>): string {
  return computeSlot('agent', tenant_id, agent_id);
}

function computeSlot(...names: readonly string[]): string {
  return hash('sha256', JSON.stringify(names), 'base64url');
}

/** Returns the row of an entry. The encryption binds the value to all other columns of the row. */
export function encryptEntry(entry: MemoryEntry, key: MasterKey): EntryRow {
  const { text, declared_tags, data_tags, ...rest } = entry;
  const unsealed = {
    ...rest,
    ...computeSlots(entry),
    declared_tags: JSON.stringify(declared_tags),
    data_tags: JSON.stringify(data_tags),
    value_bytes: Buffer.byteLength(text),
    key_id: key.key_id,
  };
  return { ...unsealed, sealed: encryptValue(text, unsealed, listBoundColumns(unsealed), key) };
}

/** Returns the entry of a row; `null` if no key decrypts it, or if any column was changed. */
export function decryptRow(row: EntryRow, keys: MasterKeys): MemoryEntry | null {
  const key = keys.by_id.get(row.key_id);
  const text = key === undefined ? null : decryptValue(row.sealed, row, listBoundColumns(row), key);
  if (text === null) return null;
  const { entry_id, tenant_id, agent_id, schema_name, subject, field, created_at_ms, expires_at_ms } = row;
  return {
    entry_id,
    tenant_id,
    agent_id,
    schema_name,
    scope: row.scope as MemorySchema['scope'],
    subject,
    field,
    declared_tags: JSON.parse(row.declared_tags) as Tag[],
    data_tags: JSON.parse(row.data_tags) as Tag[],
    created_at_ms,
    expires_at_ms,
    text,
  };
}

/** Returns all columns except the key's id, which is bound with the key, and the encrypted value. */
function listBoundColumns(row: Omit<EntryRow, 'key_id' | 'sealed'>): readonly unknown[] {
  return [
    row.entry_id,
    row.slot,
    row.owner_slot,
    row.agent_slot,
    row.tenant_id,
    row.agent_id,
    row.schema_name,
    row.scope,
    row.subject,
    row.field,
    row.declared_tags,
    row.data_tags,
    row.value_bytes,
    row.created_at_ms,
    row.expires_at_ms,
  ];
}
