import { hash, randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { MemorySchema, Tag } from '../../core/types/index.ts';
import { decryptValue, encryptValue, type MasterKey } from './encryption.ts';
import type { MasterKeys } from './master-keys.ts';
import type { MemoryTables } from './tables.ts';

/** An entry as the store has it. */
export type EntryRow = Selectable<MemoryTables['memory_entries']>;

/** Whose memory it is. */
export interface MemoryOwner {
  readonly tenant_id: string;
  readonly agent_id: string;
  readonly scope: MemorySchema['scope'];
  /** The session or the user; empty in scope `global`, and where the caller names none. */
  readonly subject: string;
}

/** Where an entry belongs: there is at most one for each place. */
export interface EntrySlot extends MemoryOwner {
  readonly schema_name: string;
  readonly field: string;
}

/** One value, not yet or no longer encrypted. */
export interface MemoryEntry extends EntrySlot {
  readonly entry_id: string;
  readonly declared_tags: readonly Tag[];
  readonly data_tags: readonly Tag[];
  readonly created_at_ms: number;
  readonly expires_at_ms: number;
  /** The value as JSON. */
  readonly text: string;
}

/** Handles that were given out by earlier versions begin with `mem_`, and are still good. */
const HANDLE = /^(?:hdl|mem)_[0-9a-f]{32}$/;

/** A handle that nobody can guess, and that says nothing of what it stands for. */
export function createHandle(): string {
  return `hdl_${randomBytes(16).toString('hex')}`;
}

/** Whether a text has the form of a handle. */
export function isHandle(text: string): boolean {
  return HANDLE.test(text);
}

/** Short texts of one length for places and owners, whose names can be too long for an index. */
export function computeSlots({ tenant_id, agent_id, schema_name, scope, subject, field }: EntrySlot) {
  return {
    slot: computeSlot('entry', tenant_id, agent_id, schema_name, scope, subject, field),
    owner_slot: computeOwnerSlot({ tenant_id, agent_id, scope, subject }, schema_name),
    agent_slot: computeAgentSlot({ tenant_id, agent_id }),
  };
}

/** For the session, user or agent, in one document. */
export function computeOwnerSlot(
  { tenant_id, agent_id, scope, subject }: MemoryOwner,
  schema_name: string,
): string {
  return computeSlot('owner', tenant_id, agent_id, schema_name, scope, subject);
}

/** For all that an agent has. */
export function computeAgentSlot({
  tenant_id,
  agent_id,
}: Pick<MemoryOwner, 'tenant_id' | 'agent_id'>): string {
  return computeSlot('agent', tenant_id, agent_id);
}

function computeSlot(...names: readonly string[]): string {
  return hash('sha256', JSON.stringify(names), 'base64url');
}

/** The row for an entry: its value is encrypted, and bound to all that stands beside it. */
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

/** The entry of a row; `null` where no key opens it, or anything in the row is not as it was written. */
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

/** Every column but the key's id, which is bound with the key, and the value itself. */
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
