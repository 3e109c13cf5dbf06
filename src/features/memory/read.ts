import {
  type DeclaredMemoryField,
  findMemoryField,
  listMemorySchemas,
} from '../../core/decision/memory-field.ts';
import { createContent, parseJsonSource } from '../../core/json/source.ts';
import { getContentValue } from '../../core/json/value-source.ts';
import type { Json, MemoryField, MemoryUse, Tag } from '../../core/types/index.ts';
import type { BlockReason } from '../../runtime/enforcement/enforce.ts';
import { crossingOf, type Desk, judged, NO_VALUE, ownerIn, refused, type Vault, withVault } from './desk.ts';
import { type Entry, type EntryRow, isHandle, openRow } from './entry.ts';
import { rowAt, rowByHandle, rowsOf } from './rows.ts';
import type { MemoryListed, MemoryRead } from './types.ts';
import { unknownKey, unnamedOwner } from './write.ts';

/** What was read is data of unknown make: rules may forbid what follows it. */
const UNTRUSTED: Tag = 'untrusted.memory';

const UNREADABLE: BlockReason = {
  rule: 'memory.unreadable',
  reason: 'The entry is not as it was written, or its key is not here; it is not given out.',
};

/** Reads one key: the value, or for an encrypted field the handle in its place. */
export async function readKey(desk: Desk, key: string, schema: string | null): Promise<MemoryRead> {
  const found = findMemoryField(desk.ports.policy, desk.asking.tenant_id, key, schema);
  if (found === null) return refusal(desk, useOf('read', null, null), unknownKey(desk));
  const owner = ownerIn(found.schema.scope, desk);
  const use = useOf('read', found, null);
  if (owner === null) return refusal(desk, use, unnamedOwner(found));
  const place = { ...owner, schema_name: found.schema.name, field: key };
  const row = await withVault(desk, use, async ({ store, keys, clock }) => {
    const at = await rowAt(store, place);
    return at === undefined || at.expires_at_ms <= clock.now_ms() ? null : { at, entry: openRow(at, keys) };
  });
  if (row === null) {
    const crossing = crossingOf(desk, { ...use, tag: null }, NO_VALUE, []);
    const missing = found.field.required ? [key] : [];
    return { ...NOTHING, crossing, missing, ruling: await judged(desk, crossing) };
  }
  const entry = row.entry !== null && isAt(row.entry, place) ? row.entry : null;
  if (entry === null) return unreadable(desk, use, row.at);
  return give(desk, useOf('read', found, entry.entry_id), found, entry, found.field.encrypted);
}

/** Lists what the caller has, by the fields' names: metadata and handles, no values. */
export async function list(desk: Desk, schema_name: string | null, limit: number): Promise<MemoryRead> {
  const use = useOf('read', null, null);
  const schemas = listMemorySchemas(desk.ports.policy, desk.asking.tenant_id).filter(
    ({ name }) => schema_name === null || name === schema_name,
  );
  if (schemas.length === 0) return refusal(desk, use, unknownKey(desk));
  const crossing = crossingOf(desk, use, NO_VALUE, []);
  const ruling = await judged(desk, crossing);
  if (ruling.verdict.decision === 'block') return { ...NOTHING, ruling, crossing };
  const listed = await withVault(desk, use, async (vault) => {
    const all: { entries: MemoryListed[]; missing: string[] } = { entries: [], missing: [] };
    for (const schema of schemas) {
      const owner = ownerIn(schema.scope, desk);
      if (owner === null) continue;
      const rows = await rowsOf(vault.store, owner, schema.name, vault.clock.now_ms(), ROWS_MAX);
      const there = new Set(rows.map(({ field }) => field));
      all.entries.push(...rows.flatMap((row) => listedOf(desk, schema.fields, row, vault)));
      const missing = schema.fields.filter(({ name, required }) => required && !there.has(name));
      all.missing.push(...missing.map(({ name }) => name));
    }
    return all;
  });
  const { entries, missing } = listed;
  const truncated = entries.length > limit;
  return { ruling, crossing, value: null, entries: entries.slice(0, limit), truncated, missing };
}

/** Fields that one document can have. */
const ROWS_MAX = 1_000;

function listedOf(desk: Desk, fields: readonly MemoryField[], row: EntryRow, vault: Vault): MemoryListed[] {
  const field = fields.find(({ name }) => name === row.field);
  const entry = openRow(row, vault.keys);
  if (entry === null) warnOf(desk, row);
  return field === undefined || entry === null ? [] : [shown(entry, field)];
}

function shown(entry: Entry, field: MemoryField): MemoryListed {
  const { entry_id, schema_name, scope, data_tags, created_at_ms, expires_at_ms, text } = entry;
  const value_bytes = Buffer.byteLength(text);
  return { entry_id, schema_name, scope, field, data_tags, value_bytes, created_at_ms, expires_at_ms };
}

/**
 * Gives the value that a handle stands for to its owner, as far as the policy lets it. A handle of another owner is
 * answered as one that does not exist.
 */
export async function resolve(desk: Desk, handle_id: string): Promise<MemoryRead> {
  const use = { ...useOf('resolve', null, null), handle_id: isHandle(handle_id) ? handle_id : null };
  const { ports, asking } = desk;
  if (listMemorySchemas(ports.policy, asking.tenant_id).length === 0)
    return refusal(desk, use, unknownKey(desk));
  const row =
    use.handle_id === null ? null : await withVault(desk, use, (vault) => owned(desk, vault, handle_id));
  if (row === null) return refusal(desk, use, MISSING);
  const found = findMemoryField(desk.ports.policy, row.at.tenant_id, row.at.field, row.at.schema_name);
  if (found === null) return refusal(desk, use, MISSING);
  if (row.entry === null) return unreadable(desk, useOf('resolve', found, handle_id), row.at);
  return give(desk, useOf('resolve', found, handle_id), found, row.entry, false);
}

const MISSING: BlockReason = {
  rule: 'memory.missing',
  reason: 'The agent has no entry with this handle, or the entry has expired.',
};

interface Row {
  readonly at: EntryRow;
  /** `null` where it cannot be opened. */
  readonly entry: Entry | null;
}

/** The entry of a handle, where it is the caller's and has not expired. */
async function owned(desk: Desk, { store, keys, clock }: Vault, handle_id: string): Promise<Row | null> {
  const at = await rowByHandle(store, handle_id);
  if (at === undefined || at.expires_at_ms <= clock.now_ms()) return null;
  const owner = ownerIn(at.scope as Entry['scope'], desk);
  const is_own =
    owner !== null &&
    at.tenant_id === owner.tenant_id &&
    at.agent_id === owner.agent_id &&
    at.subject === owner.subject;
  if (is_own) return { at, entry: openRow(at, keys) };
  // For whoever runs the service alone: an agent may read its own audit events.
  desk.parts.log.warn('a handle was requested by an agent that does not own it', { handle_id });
  return null;
}

function isAt(
  entry: Entry,
  place: Pick<Entry, 'tenant_id' | 'agent_id' | 'scope' | 'subject' | 'field'>,
): boolean {
  return (
    entry.tenant_id === place.tenant_id &&
    entry.agent_id === place.agent_id &&
    entry.scope === place.scope &&
    entry.subject === place.subject &&
    entry.field === place.field
  );
}

/** Judges a value as the result of a tool, and gives what is left of it. With `as_handle` no value crosses. */
async function give(
  desk: Desk,
  use: MemoryUse,
  { field }: DeclaredMemoryField,
  entry: Entry,
  as_handle: boolean,
): Promise<MemoryRead> {
  const stored = JSON.parse(entry.text) as Json;
  const content = createContent(stored, parseJsonSource(entry.text, desk.ports.policy.limits));
  const crossing = as_handle
    ? crossingOf(desk, { ...use, tag: null }, NO_VALUE, [])
    : crossingOf(desk, use, content, [...entry.declared_tags, UNTRUSTED]);
  const ruling = await judged(desk, crossing);
  const { decision, content: changed } = ruling.verdict;
  if (decision === 'block') return { ...NOTHING, ruling, crossing };
  const left = decision === 'modify' && changed !== null ? changed : content;
  const value = as_handle ? entry.entry_id : getContentValue(left);
  return { ...NOTHING, ruling, crossing, value, entries: [shown(entry, field)] };
}

const NOTHING = { value: null, entries: [], truncated: false, missing: [] } as const;

function useOf(
  operation: 'read' | 'resolve',
  found: DeclaredMemoryField | null,
  handle_id: string | null,
): MemoryUse {
  return {
    operation,
    schema: found?.schema.name ?? null,
    key: found?.field.name ?? null,
    scope: found?.schema.scope ?? null,
    handle_id,
    tag: found?.field.tag ?? null,
  };
}

async function refusal(desk: Desk, use: MemoryUse, objected: BlockReason): Promise<MemoryRead> {
  const crossing = crossingOf(desk, { ...use, tag: null }, NO_VALUE, []);
  return { ...NOTHING, crossing, ruling: await refused(desk, use, objected) };
}

function unreadable(desk: Desk, use: MemoryUse, row: EntryRow): Promise<MemoryRead> {
  warnOf(desk, row);
  return refusal(desk, use, UNREADABLE);
}

function warnOf({ parts }: Desk, { entry_id, key_id }: EntryRow): void {
  parts.log.error('an entry of memory is not as it was written, or its key is not here', {
    entry_id,
    key_id,
  });
}
