import type {
  AgentIdentity,
  DocumentProblem,
  Json,
  MemorySchema,
  Tag,
  ToolContract,
} from '../../types/index.ts';
import { contractSchema, identitySchema, memorySchema } from '../schemas.ts';
import { argumentSchemaProblems } from './argument-schema.ts';
import { durationMs } from './duration.ts';
import { below, type Place, problem } from './problems.ts';
import { shapeProblems } from './shape.ts';
import type { WrittenContract, WrittenIdentity, WrittenMemory } from './written.ts';

/** A record and where it stands. */
export interface Placed<T> {
  readonly record: T;
  readonly place: Place;
}

/** Reads one written tool contract; `null` where it is not used. */
export function readContract(
  written: Json,
  place: Place,
  problems: DocumentProblem[],
): Placed<ToolContract> | null {
  const shape = shapeProblems(written, contractSchema, place);
  const record = written as unknown as WrittenContract;
  const schema = (record?.arguments ?? null) as Json;
  const hasSchema = typeof schema === 'boolean' || (typeof schema === 'object' && schema !== null);
  const meaning = hasSchema ? argumentSchemaProblems(schema, below(place, 'arguments')) : [];
  problems.push(...shape, ...meaning);
  if (shape.length > 0 || meaning.length > 0 || record.enabled === false) return null;
  return { record: contractOf(record, schema), place };
}

function contractOf(written: WrittenContract, schema: Json): ToolContract {
  const { accepts, emits, stores = {}, side_effects } = written;
  return {
    tool_name: written.tool_name,
    description: written.description ?? '',
    arguments: schema,
    allowed_agents: written.allowed_agents ?? [],
    max_calls_per_minute: written.max_calls_per_minute ?? null,
    accepts: { tags: tagsOrNull(accepts.tags), fields: accepts.fields ?? [] },
    emits: {
      tags: tagsOrNull(emits.tags),
      fields: emits.fields ?? [],
      // Only where it is written, so that the hash of every other policy stays what it is.
      ...(emits.on_violation === 'redact' && { on_violation: emits.on_violation }),
    },
    stores: {
      fields: stores.fields ?? [],
      retention_ms: stores.retention === undefined ? null : durationMs(stores.retention),
    },
    side_effects: { ...side_effectsOf(side_effects) },
    tenant_id: written.tenant_id ?? null,
    enforcement: written.enforcement ?? 'enforce',
  };
}

function side_effectsOf({
  reversible,
  requires_approval,
  egress = false,
  description = '',
}: WrittenContract['side_effects']) {
  return { reversible, requires_approval, egress, description };
}

/** Reads one written identity; `null` where it is not used. */
export function readIdentity(
  written: Json,
  place: Place,
  problems: DocumentProblem[],
): Placed<AgentIdentity> | null {
  const shape = shapeProblems(written, identitySchema, place);
  const record = written as unknown as WrittenIdentity;
  problems.push(...shape);
  if (shape.length > 0 || record.enabled === false) return null;
  const identity: AgentIdentity = {
    agent_id: record.agent_id,
    description: record.description ?? '',
    tools: record.tools ?? [],
    clearance_tags: lowerCase(record.clearance_tags ?? []),
    tenant_id: record.tenant_id ?? null,
    enforcement: record.enforcement ?? 'enforce',
  };
  return { record: identity, place };
}

const RETENTION_DEFAULT = '24h';
const ENTRIES_DEFAULT = 100;
const VALUE_BYTES_DEFAULT = 65_536;

/** Reads one written memory schema; `null` where it is not used. */
export function readMemory(
  written: Json,
  place: Place,
  problems: DocumentProblem[],
): Placed<MemorySchema> | null {
  const shape = shapeProblems(written, memorySchema, place);
  const record = written as unknown as WrittenMemory;
  const meaning =
    shape.length > 0 ? [] : [...doubledFields(record, place), ...tooManyRequired(record, place)];
  problems.push(...shape, ...meaning);
  if (shape.length > 0 || meaning.length > 0 || record.enabled === false) return null;
  return { record: memoryOf(record), place };
}

function memoryOf(written: WrittenMemory): MemorySchema {
  const retention = written.default_retention ?? RETENTION_DEFAULT;
  const value_bytes_max = written.value_bytes_max ?? VALUE_BYTES_DEFAULT;
  return {
    name: written.name,
    scope: written.scope,
    fields: written.fields.map((field) => ({
      name: field.name,
      type: field.type,
      tag: field.tag.toLowerCase(),
      retention_ms: durationMs(field.retention ?? retention),
      value_bytes_max: field.value_bytes_max ?? value_bytes_max,
      encrypted: field.encrypted ?? false,
      required: field.required ?? false,
    })),
    max_entries: written.max_entries ?? ENTRIES_DEFAULT,
    tenant_id: written.tenant_id ?? null,
  };
}

function doubledFields({ fields }: WrittenMemory, place: Place): DocumentProblem[] {
  const names = fields.map((field) => field.name);
  return names.flatMap((name, at) =>
    names.indexOf(name) === at
      ? []
      : problem(below(place, 'fields', at, 'name'), 'names a field that is already defined above'),
  );
}

/** A required field always finds room, so there must be room for all of them. */
function tooManyRequired({ fields, max_entries }: WrittenMemory, place: Place): DocumentProblem[] {
  const count = fields.filter((field) => field.required === true).length;
  if (count <= (max_entries ?? ENTRIES_DEFAULT)) return [];
  return [problem(below(place, 'max_entries'), `is less than the number of required fields, ${count}`)];
}

function tagsOrNull(tags: readonly Tag[] | undefined): readonly Tag[] | null {
  return tags === undefined ? null : lowerCase(tags);
}

function lowerCase(tags: readonly Tag[]): readonly Tag[] {
  return [...new Set(tags.map((tag) => tag.toLowerCase()))];
}
