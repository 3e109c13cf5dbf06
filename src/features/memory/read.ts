import {
  type DeclaredMemoryField,
  findMemoryField,
  listMemorySchemas,
} from '../../core/decision/memory-field.ts';
import { createContent, parseJsonSource } from '../../core/json/source.ts';
import { getContentValue } from '../../core/json/value-source.ts';
import type { Json, MemoryField, MemoryUse, Tag } from '../../core/types/index.ts';
import type { BlockReason } from '../../runtime/enforcement/enforce.ts';
import { decryptRow, type EntryRow, isHandle, type MemoryEntry } from './entry.ts';
import { buildMetadata, type MemoryEntryMetadata } from './entry-metadata.ts';
import {
  buildMemoryCrossing,
  judgeMemoryCrossing,
  type MemoryContext,
  type MemoryStore,
  NO_CONTENT,
  refuseMemoryCall,
  resolveOwner,
  useMemoryStore,
} from './memory-context.ts';
import { findRowByHandle, findRowBySlot, listOwnerRows } from './rows.ts';
import type { MemoryReadResult } from './types.ts';
import { explainMissingOwner, explainUnknownKey } from './write.ts';

/** A value from memory has an unknown origin, so it is tagged and rules can restrict later actions. */
const UNTRUSTED: Tag = 'untrusted.memory';

const UNREADABLE: BlockReason = {
  rule: 'memory.unreadable',
  reason: 'The entry is not as it was written, or its key is not here; it is not given out.',
};

/** Reads one key. Returns the value, or the handle if the field is encrypted. */
export async function readMemoryKey(
  context: MemoryContext,
  key: string,
  schema: string | null,
): Promise<MemoryReadResult> {
  const found = findMemoryField(context.ports.policy, context.subject.tenant_id, key, schema);
  if (found === null)
    return refuseRead(context, buildMemoryUse('read', null, null), explainUnknownKey(context));
  const owner = resolveOwner(found.schema.scope, context);
  const use = buildMemoryUse('read', found, null);
  if (owner === null) return refuseRead(context, use, explainMissingOwner(found));
  const place = { ...owner, schema_name: found.schema.name, field: key };
  const row = await useMemoryStore(context, use, async ({ store, keys, clock }) => {
    const at = await findRowBySlot(store, place);
    return at === undefined || at.expires_at_ms <= clock.now_ms()
      ? null
      : { at, entry: decryptRow(at, keys) };
  });
  if (row === null) {
    const crossing = buildMemoryCrossing(context, { ...use, tag: null }, NO_CONTENT, []);
    const missing = found.field.required ? [key] : [];
    return { ...NO_RESULT, missing, ruling: await judgeMemoryCrossing(context, crossing) };
  }
  const entry = row.entry !== null && isInSlot(row.entry, place) ? row.entry : null;
  if (entry === null) return refuseUnreadable(context, use, row.at);
  return giveValue(
    context,
    buildMemoryUse('read', found, entry.entry_id),
    found,
    entry,
    found.field.encrypted,
  );
}

/** Lists the caller's entries by field name: metadata and handles without values. */
export async function listMemory(
  context: MemoryContext,
  schemaName: string | null,
  limit: number,
): Promise<MemoryReadResult> {
  const use = buildMemoryUse('read', null, null);
  const schemas = listMemorySchemas(context.ports.policy, context.subject.tenant_id).filter(
    ({ name }) => schemaName === null || name === schemaName,
  );
  if (schemas.length === 0) return refuseRead(context, use, explainUnknownKey(context));
  const crossing = buildMemoryCrossing(context, use, NO_CONTENT, []);
  const ruling = await judgeMemoryCrossing(context, crossing);
  if (ruling.verdict.decision === 'block') return { ...NO_RESULT, ruling };
  const listed = await useMemoryStore(context, use, async (opened) => {
    const all: { entries: MemoryEntryMetadata[]; missing: string[] } = { entries: [], missing: [] };
    for (const schema of schemas) {
      const owner = resolveOwner(schema.scope, context);
      if (owner === null) continue;
      const rows = await listOwnerRows(opened.store, owner, schema.name, opened.clock.now_ms(), ROWS_MAX);
      const there = new Set(rows.map(({ field }) => field));
      all.entries.push(...rows.flatMap((row) => listRow(context, schema.fields, row, opened)));
      const missing = schema.fields.filter(({ name, required }) => required && !there.has(name));
      all.missing.push(...missing.map(({ name }) => name));
    }
    return all;
  });
  const { entries, missing } = listed;
  const truncated = entries.length > limit;
  return { ruling, value: null, entries: entries.slice(0, limit), truncated, missing };
}

/** The fields of one document at most. */
const ROWS_MAX = 1_000;

function listRow(
  context: MemoryContext,
  fields: readonly MemoryField[],
  row: EntryRow,
  opened: MemoryStore,
): MemoryEntryMetadata[] {
  const field = fields.find(({ name }) => name === row.field);
  const entry = decryptRow(row, opened.keys);
  if (entry === null) logUnreadable(context, row);
  return field === undefined || entry === null ? [] : [buildMetadata(entry, field)];
}

/**
 * Returns the value of a handle to its owner, as the policy allows. A handle of another owner gets the same response as
 * an unknown handle.
 */
export async function resolveHandle(context: MemoryContext, handleId: string): Promise<MemoryReadResult> {
  const use = { ...buildMemoryUse('resolve', null, null), handle_id: isHandle(handleId) ? handleId : null };
  const { ports, subject } = context;
  if (listMemorySchemas(ports.policy, subject.tenant_id).length === 0)
    return refuseRead(context, use, explainUnknownKey(context));
  const foundRow =
    use.handle_id === null
      ? null
      : await useMemoryStore(context, use, (opened) => findOwnRow(context, opened, handleId));
  if (foundRow === null) return refuseRead(context, use, MISSING);
  const found = findMemoryField(
    context.ports.policy,
    foundRow.row.tenant_id,
    foundRow.row.field,
    foundRow.row.schema_name,
  );
  if (found === null) return refuseRead(context, use, MISSING);
  if (foundRow.entry === null)
    return refuseUnreadable(context, buildMemoryUse('resolve', found, handleId), foundRow.row);
  return giveValue(context, buildMemoryUse('resolve', found, handleId), found, foundRow.entry, false);
}

const MISSING: BlockReason = {
  rule: 'memory.missing',
  reason: 'The agent has no entry with this handle, or the entry has expired.',
};

interface FoundRow {
  readonly row: EntryRow;
  /** `null` if the row cannot be decrypted. */
  readonly entry: MemoryEntry | null;
}

/** Returns the entry of a handle if it belongs to the caller and has not expired. */
async function findOwnRow(
  context: MemoryContext,
  { store, keys, clock }: MemoryStore,
  handleId: string,
): Promise<FoundRow | null> {
  const row = await findRowByHandle(store, handleId);
  if (row === undefined || row.expires_at_ms <= clock.now_ms()) return null;
  const owner = resolveOwner(row.scope as MemoryEntry['scope'], context);
  const isOwn =
    owner !== null &&
    row.tenant_id === owner.tenant_id &&
    row.agent_id === owner.agent_id &&
    row.subject === owner.subject;
  if (isOwn) return { row, entry: decryptRow(row, keys) };
  // This goes to the service log only, because an agent may read its own audit events.
  context.parts.log.warn('a handle was requested by an agent that does not own it', { handle_id: handleId });
  return null;
}

function isInSlot(
  entry: MemoryEntry,
  place: Pick<MemoryEntry, 'tenant_id' | 'agent_id' | 'scope' | 'subject' | 'field'>,
): boolean {
  return (
    entry.tenant_id === place.tenant_id &&
    entry.agent_id === place.agent_id &&
    entry.scope === place.scope &&
    entry.subject === place.subject &&
    entry.field === place.field
  );
}

/**
 * Evaluates a value as a tool result and returns what the policy leaves of it. With `asHandle` the value is not
 * returned.
 */
async function giveValue(
  context: MemoryContext,
  use: MemoryUse,
  { field }: DeclaredMemoryField,
  entry: MemoryEntry,
  asHandle: boolean,
): Promise<MemoryReadResult> {
  const stored = JSON.parse(entry.text) as Json;
  const content = createContent(stored, parseJsonSource(entry.text, context.ports.policy.limits));
  const crossing = asHandle
    ? buildMemoryCrossing(context, { ...use, tag: null }, NO_CONTENT, [])
    : buildMemoryCrossing(context, use, content, [...entry.declared_tags, UNTRUSTED]);
  const ruling = await judgeMemoryCrossing(context, crossing);
  const { decision, content: changed } = ruling.verdict;
  if (decision === 'block') return { ...NO_RESULT, ruling };
  const left = decision === 'modify' && changed !== null ? changed : content;
  const value = asHandle ? entry.entry_id : getContentValue(left);
  return { ...NO_RESULT, ruling, value, entries: [buildMetadata(entry, field)] };
}

const NO_RESULT = { value: null, entries: [], truncated: false, missing: [] } as const;

function buildMemoryUse(
  operation: 'read' | 'resolve',
  found: DeclaredMemoryField | null,
  handleId: string | null,
): MemoryUse {
  return {
    operation,
    schema: found?.schema.name ?? null,
    key: found?.field.name ?? null,
    scope: found?.schema.scope ?? null,
    handle_id: handleId,
    tag: found?.field.tag ?? null,
  };
}

async function refuseRead(
  context: MemoryContext,
  use: MemoryUse,
  objected: BlockReason,
): Promise<MemoryReadResult> {
  return { ...NO_RESULT, ruling: await refuseMemoryCall(context, use, objected) };
}

function refuseUnreadable(context: MemoryContext, use: MemoryUse, row: EntryRow): Promise<MemoryReadResult> {
  logUnreadable(context, row);
  return refuseRead(context, use, UNREADABLE);
}

function logUnreadable({ parts }: MemoryContext, { entry_id, key_id }: EntryRow): void {
  parts.log.error('an entry of memory is not as it was written, or its key is not here', {
    entry_id,
    key_id,
  });
}
