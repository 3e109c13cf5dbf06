import {
  type DeclaredMemoryField,
  findMemoryField,
  isMemoryValueOfType,
  listMemorySchemas,
} from '../../core/decision/memory-field.ts';
import { usesSessionTags } from '../../core/decision/taint.ts';
import { createContent, writeContentJson } from '../../core/json/source.ts';
import { isFactTag } from '../../core/tags.ts';
import type { Content, Crossing, Json, MemoryUse, Tag, Verdict } from '../../core/types/index.ts';
import type { BlockReason } from '../../runtime/enforcement/enforce.ts';
import { readSession } from '../../runtime/enforcement/sessions/sessions.ts';
import { crossingOf, type Desk, judged, ownerIn, refused, type Vault, withVault } from './desk.ts';
import { type Entry, newHandle, type Owner, sealEntry } from './entry.ts';
import { type NotStored, putRow } from './rows.ts';
import type { MemoryWrite, MemoryWritten } from './types.ts';

/** Judges a value as the arguments of a tool call, and keeps it as its document says. */
export async function write(desk: Desk, request: MemoryWrite): Promise<MemoryWritten> {
  const found = findMemoryField(desk.ports.policy, desk.asking.tenant_id, request.key, request.schema);
  const use = useOf(found);
  const owner = found === null ? null : ownerIn(found.schema.scope, desk);
  const content = createContent(request.value, request.source ?? null);
  const text = jsonOf(content);
  const no = objection(desk, found, owner, request.value, text);
  const crossing = crossingOf(desk, use, content, request.declared_tags);
  if (no !== null || found === null || owner === null) {
    return { ...NOTHING, crossing, ruling: await refused(desk, use, no ?? UNDECLARED) };
  }
  const ruling = await judged(desk, crossing);
  if (ruling.verdict.decision === 'block') return { ...NOTHING, crossing, ruling };
  const changed = ruling.verdict.decision === 'modify' ? ruling.verdict.content : null;
  const value = changed === null ? request.value : plain(changed);
  const misfit = changed === null ? null : misfitOf(found, value, jsonOf(changed));
  if (misfit !== null) return { ...NOTHING, crossing, ruling: await refused(desk, use, misfit) };
  const stored = await withVault(desk, use, (vault) =>
    store(desk, vault, {
      found,
      owner,
      crossing,
      entry_id: use.handle_id!,
      verdict: ruling.verdict,
      text: writeContentJson(changed ?? content),
    }),
  );
  if ('rule' in stored) return { ...NOTHING, crossing, ruling: await refused(desk, use, stored) };
  return { ruling, crossing, entry: stored, changed };
}

const NOTHING = { entry: null, changed: null } as const;

function useOf(found: DeclaredMemoryField | null): MemoryUse {
  return {
    operation: 'write',
    schema: found?.schema.name ?? null,
    key: found?.field.name ?? null,
    scope: found?.schema.scope ?? null,
    handle_id: found === null ? null : newHandle(),
    tag: found?.field.tag ?? null,
  };
}

const UNDECLARED: BlockReason = {
  rule: 'memory.undeclared',
  reason: 'No memory document of the tenant has a field of that name.',
};

const NOT_CONFIGURED: BlockReason = {
  rule: 'memory.not_configured',
  reason: 'Memory is not configured: there is no memory document for the tenant.',
};

/** Why no document has the key. */
export function unknownKey(desk: Desk): BlockReason {
  const some = listMemorySchemas(desk.ports.policy, desk.asking.tenant_id);
  return some.length > 0 ? UNDECLARED : NOT_CONFIGURED;
}

/** What a scope needs to be told in gateway mode. */
export function unnamedOwner({ schema }: DeclaredMemoryField): BlockReason {
  const name = schema.scope === 'user' ? 'user_id' : 'session_id';
  return {
    rule: 'memory.owner',
    reason: `The memory is of scope \`${schema.scope}\`, and the call names no \`${name}\`.`,
  };
}

function objection(
  desk: Desk,
  found: DeclaredMemoryField | null,
  owner: Owner | null,
  value: Json,
  text: string | null,
): BlockReason | null {
  if (found === null) return unknownKey(desk);
  return owner === null ? unnamedOwner(found) : misfitOf(found, value, text);
}

function misfitOf({ field }: DeclaredMemoryField, value: Json, text: string | null): BlockReason | null {
  if (!isMemoryValueOfType(value, field.type))
    return { rule: 'memory.type', reason: `The value is not of the field’s type, \`${field.type}\`.` };
  if (text !== null && Buffer.byteLength(text) <= field.value_bytes_max) return null;
  const reason = `The value has more than the ${field.value_bytes_max} bytes of \`value_bytes_max\` as JSON.`;
  return { rule: 'memory.value_bytes_max', reason };
}

/** `null` for one that nests too deeply to be written. */
function jsonOf(content: Content): string | null {
  try {
    return writeContentJson(content);
  } catch {
    return null;
  }
}

function plain(content: Content): Json {
  return content.kind === 'text' ? content.text : content.value;
}

/** The last moment that a date can name. */
const TIME_MAX_MS = 8_640_000_000_000_000;

interface ToStore {
  readonly found: DeclaredMemoryField;
  readonly owner: Owner;
  readonly crossing: Crossing;
  readonly entry_id: string;
  readonly verdict: Verdict;
  readonly text: string;
}

async function store(desk: Desk, vault: Vault, it: ToStore): Promise<Entry | BlockReason> {
  const { schema, field } = it.found;
  const created_at_ms = vault.clock.now_ms();
  const entry: Entry = {
    ...it.owner,
    schema_name: schema.name,
    field: field.name,
    entry_id: it.entry_id,
    declared_tags: [...it.crossing.declared_tags, ...(await provenance(desk, vault, it.crossing))],
    data_tags: it.verdict.data_tags,
    created_at_ms,
    expires_at_ms: Math.min(created_at_ms + field.retention_ms, TIME_MAX_MS),
    text: it.text,
  };
  const required = schema.fields.filter((each) => each.required).map(({ name }) => name);
  const room = { ...desk.parts.limits, max_entries: schema.max_entries, required };
  const kept_out = await putRow(vault.store, sealEntry(entry, vault.keys.current), room);
  if (kept_out === null) return entry;
  if (kept_out === 'key_replaced') throw new Error('another master key of memory is active');
  return { rule: `memory.${kept_out}`, reason: FULL[kept_out] };
}

/**
 * Where a value comes from, as far as its session has read: that goes along with it, so that memory takes no tag off.
 * Only facts do; rules that name them act, and no others.
 */
async function provenance({ ports }: Desk, vault: Vault, crossing: Crossing): Promise<readonly Tag[]> {
  if (ports.sessions === undefined || !usesSessionTags(ports.policy, crossing.tenant_id)) return [];
  const { limits, timeOf } = ports.sessions;
  const now_ms = timeOf(crossing.now_ms);
  const { tags } = await readSession(vault.store, { ...crossing, now_ms }, limits);
  return tags.filter(isFactTag);
}

const FULL: Readonly<Record<Exclude<NotStored, 'key_replaced'>, string>> = {
  max_entries: 'No further entry fits: `max_entries` of the memory document is reached.',
  agent_entries_max: 'The agent has as many entries as `memory.agent_entries_max` allows.',
  agent_bytes_max: 'The agent has as many bytes in memory as `memory.agent_bytes_max` allows.',
};
