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
import { createHandle, encryptEntry, type MemoryEntry, type MemoryOwner } from './entry.ts';
import {
  buildMemoryCrossing,
  judgeMemoryCrossing,
  type MemoryContext,
  type MemoryStore,
  refuseMemoryCall,
  resolveOwner,
  useMemoryStore,
} from './memory-context.ts';
import { type StoreRejection, storeRow } from './rows.ts';
import type { MemoryWriteRequest, MemoryWriteResult } from './types.ts';

/** Evaluates a value as the arguments of a tool call, and stores it as its document declares. */
export async function writeMemory(
  context: MemoryContext,
  request: MemoryWriteRequest,
): Promise<MemoryWriteResult> {
  const found = findMemoryField(context.ports.policy, context.subject.tenant_id, request.key, request.schema);
  const use = buildMemoryUse(found);
  const owner = found === null ? null : resolveOwner(found.schema.scope, context);
  const content = createContent(request.value, request.source ?? null);
  const text = writeJson(content);
  const no = findRestriction(context, found, owner, request.value, text);
  const crossing = buildMemoryCrossing(context, use, content, request.declared_tags);
  if (no !== null || found === null || owner === null) {
    return { ...NOT_WRITTEN, ruling: await refuseMemoryCall(context, use, no ?? UNDECLARED) };
  }
  const ruling = await judgeMemoryCrossing(context, crossing);
  if (ruling.verdict.decision === 'block') return { ...NOT_WRITTEN, ruling };
  const changed = ruling.verdict.decision === 'modify' ? ruling.verdict.content : null;
  const value = changed === null ? request.value : toPlainValue(changed);
  const misfit = changed === null ? null : findMisfit(found, value, writeJson(changed));
  if (misfit !== null) return { ...NOT_WRITTEN, ruling: await refuseMemoryCall(context, use, misfit) };
  const stored = await useMemoryStore(context, use, (opened) =>
    storeEntry(context, opened, {
      found,
      owner,
      crossing,
      entry_id: use.handle_id!,
      verdict: ruling.verdict,
      text: writeContentJson(changed ?? content),
    }),
  );
  if ('rule' in stored) return { ...NOT_WRITTEN, ruling: await refuseMemoryCall(context, use, stored) };
  return { ruling, entry: stored, changed };
}

const NOT_WRITTEN = { entry: null, changed: null } as const;

function buildMemoryUse(found: DeclaredMemoryField | null): MemoryUse {
  return {
    operation: 'write',
    schema: found?.schema.name ?? null,
    key: found?.field.name ?? null,
    scope: found?.schema.scope ?? null,
    handle_id: found === null ? null : createHandle(),
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

/** Explains why no document declares the key. */
export function explainUnknownKey(context: MemoryContext): BlockReason {
  const some = listMemorySchemas(context.ports.policy, context.subject.tenant_id);
  return some.length > 0 ? UNDECLARED : NOT_CONFIGURED;
}

/** Explains which name a scope requires in gateway mode. */
export function explainMissingOwner({ schema }: DeclaredMemoryField): BlockReason {
  const name = schema.scope === 'user' ? 'user_id' : 'session_id';
  return {
    rule: 'memory.owner',
    reason: `The memory is of scope \`${schema.scope}\`, and the call names no \`${name}\`.`,
  };
}

function findRestriction(
  context: MemoryContext,
  found: DeclaredMemoryField | null,
  owner: MemoryOwner | null,
  value: Json,
  text: string | null,
): BlockReason | null {
  if (found === null) return explainUnknownKey(context);
  return owner === null ? explainMissingOwner(found) : findMisfit(found, value, text);
}

function findMisfit({ field }: DeclaredMemoryField, value: Json, text: string | null): BlockReason | null {
  if (!isMemoryValueOfType(value, field.type))
    return { rule: 'memory.type', reason: `The value is not of the field’s type, \`${field.type}\`.` };
  if (text !== null && Buffer.byteLength(text) <= field.value_bytes_max) return null;
  const reason = `The value has more than the ${field.value_bytes_max} bytes of \`value_bytes_max\` as JSON.`;
  return { rule: 'memory.value_bytes_max', reason };
}

/** Returns the JSON text; `null` if the content is nested too deeply. */
function writeJson(content: Content): string | null {
  try {
    return writeContentJson(content);
  } catch {
    return null;
  }
}

function toPlainValue(content: Content): Json {
  return content.kind === 'text' ? content.text : content.value;
}

/** The last millisecond that a `Date` can represent. */
const TIME_MAX_MS = 8_640_000_000_000_000;

interface AllowedWrite {
  readonly found: DeclaredMemoryField;
  readonly owner: MemoryOwner;
  readonly crossing: Crossing;
  readonly entry_id: string;
  readonly verdict: Verdict;
  readonly text: string;
}

async function storeEntry(
  context: MemoryContext,
  opened: MemoryStore,
  it: AllowedWrite,
): Promise<MemoryEntry | BlockReason> {
  const { schema, field } = it.found;
  const createdAtMs = opened.clock.now_ms();
  const entry: MemoryEntry = {
    ...it.owner,
    schema_name: schema.name,
    field: field.name,
    entry_id: it.entry_id,
    declared_tags: [...it.crossing.declared_tags, ...(await findProvenance(context, opened, it.crossing))],
    data_tags: it.verdict.data_tags,
    created_at_ms: createdAtMs,
    expires_at_ms: Math.min(createdAtMs + field.retention_ms, TIME_MAX_MS),
    text: it.text,
  };
  const required = schema.fields.filter((each) => each.required).map(({ name }) => name);
  const quota = { ...context.parts.limits, max_entries: schema.max_entries, required };
  const keptOut = await storeRow(opened.store, encryptEntry(entry, opened.keys.current), quota);
  if (keptOut === null) return entry;
  if (keptOut === 'key_replaced') throw new Error('another master key of memory is active');
  return { rule: `memory.${keptOut}`, reason: FULL[keptOut] };
}

/**
 * Returns the provenance of a value from the taint tags of its session. It is stored with the value, so memory removes
 * no tag. Provenance holds only facts; a rule must name them to have an effect.
 */
async function findProvenance(
  { ports }: MemoryContext,
  opened: MemoryStore,
  crossing: Crossing,
): Promise<readonly Tag[]> {
  if (ports.sessions === undefined || !usesSessionTags(ports.policy, crossing.tenant_id)) return [];
  const { limits, timeOf } = ports.sessions;
  const nowMs = timeOf(crossing.now_ms);
  const { tags } = await readSession(opened.store, { ...crossing, now_ms: nowMs }, limits);
  return tags.filter(isFactTag);
}

const FULL: Readonly<Record<Exclude<StoreRejection, 'key_replaced'>, string>> = {
  max_entries: 'No further entry fits: `max_entries` of the memory document is reached.',
  agent_entries_max: 'The agent has as many entries as `memory.agent_entries_max` allows.',
  agent_bytes_max: 'The agent has as many bytes in memory as `memory.agent_bytes_max` allows.',
};
