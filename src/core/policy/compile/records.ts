import type {
  AgentIdentity,
  DocumentProblem,
  Json,
  JsonObject,
  MemorySchema,
  Tag,
  ToolContract,
} from '../../types/index.ts';
import { contractSchema, identitySchema, memorySchema } from '../schemas.ts';
import { findArgumentSchemaProblems } from './argument-schema.ts';
import type { ContractDocument, MemoryDocument } from './document-types.ts';
import { parseDurationMs } from './duration.ts';
import { buildFlowTerms, buildLabelTerms, findFlowProblems } from './flow.ts';
import { buildChildLocation, buildDocumentProblem, type DocumentLocation } from './problems.ts';
import { readShape } from './shape-problems.ts';

/** A record and its location. */
export interface LocatedRecord<T> {
  readonly record: T;
  readonly place: DocumentLocation;
}

/** A contract and its location. */
export interface LocatedContract extends LocatedRecord<ToolContract> {
  /** The names of the tool in calls. */
  readonly names: readonly string[];
  /** True if any other contract with one of these names replaces it there. */
  readonly is_fallback: boolean;
}

/** Parses one tool contract; returns `null` if it is disabled or has problems. */
export function parseContract(
  written: Json,
  place: DocumentLocation,
  problems: DocumentProblem[],
): LocatedContract | null {
  const { value: record, problems: shape } = readShape(written, contractSchema, place);
  const schema = (written as Partial<JsonObject> | null)?.arguments ?? null;
  const hasSchema = typeof schema === 'boolean' || (typeof schema === 'object' && schema !== null);
  const meaning = hasSchema ? findArgumentSchemaProblems(schema, buildChildLocation(place, 'arguments')) : [];
  const flow = record === null ? [] : findFlowProblems(record, place);
  problems.push(...shape, ...meaning, ...flow);
  if (record === null || meaning.length + flow.length > 0 || record.enabled === false) return null;
  const names = listToolNames(record);
  return { record: buildContract(record, schema), place, names, is_fallback: record.fallback ?? false };
}

/** Returns the names of a tool in calls: those of its MCP servers as coding agents and the MCP proxy write them. */
function listToolNames({ tool_name, servers }: ContractDocument): readonly string[] {
  if (servers === undefined) return [tool_name];
  return servers.flatMap((server) => [`mcp__${server}__${tool_name}`, `${server}__${tool_name}`]);
}

function buildContract(written: ContractDocument, schema: Json): ToolContract {
  const { accepts = {}, emits = {}, stores = {}, side_effects } = written;
  return {
    tool_name: written.tool_name,
    description: written.description ?? '',
    arguments: schema,
    allowed_agents: written.allowed_agents ?? [],
    max_calls_per_minute: written.max_calls_per_minute ?? null,
    ...buildPersonTerms(written),
    accepts: { tags: lowercaseOptionalTags(accepts.tags), fields: accepts.fields ?? [] },
    emits: {
      tags: lowercaseOptionalTags(emits.tags),
      fields: emits.fields ?? [],
      // Set only if it is written, so that the hash of every other policy does not change.
      ...(emits.on_violation === 'redact' && { on_violation: emits.on_violation }),
      ...buildLabelTerms(written),
    },
    ...buildFlowTerms(written),
    stores: {
      fields: stores.fields ?? [],
      retention_ms: stores.retention === undefined ? null : parseDurationMs(stores.retention),
    },
    side_effects: buildSideEffects(side_effects),
    tenant_id: written.tenant_id ?? null,
    enforcement: written.enforcement ?? 'enforce',
  };
}

/** Terms on the person are set only if they are written, so that every other policy keeps its hash. */
function buildPersonTerms({
  required_scopes,
  max_calls_per_minute_per_user,
}: ContractDocument): Partial<ToolContract> {
  return {
    ...(required_scopes !== undefined && { required_scopes }),
    ...(max_calls_per_minute_per_user !== undefined && { max_calls_per_minute_per_user }),
  };
}

/** Without `side_effects` a call needs no approval, and counts as one that cannot be undone. */
function buildSideEffects(written: ContractDocument['side_effects']): ToolContract['side_effects'] {
  const { reversible = false, requires_approval = false, egress = false, description = '' } = written ?? {};
  return { reversible, requires_approval, egress, description };
}

/** Parses one identity; returns `null` if it is disabled or has problems. */
export function parseIdentity(
  written: Json,
  place: DocumentLocation,
  problems: DocumentProblem[],
): LocatedRecord<AgentIdentity> | null {
  const { value: record, problems: shape } = readShape(written, identitySchema, place);
  problems.push(...shape);
  if (record === null || record.enabled === false) return null;
  const identity: AgentIdentity = {
    agent_id: record.agent_id,
    description: record.description ?? '',
    tools: record.tools ?? [],
    ...(record.users !== undefined && { users: record.users }),
    ...(record.groups !== undefined && { groups: record.groups }),
    clearance_tags: lowercaseTags(record.clearance_tags ?? []),
    ...(record.require_task === true && { require_task: true as const }),
    tenant_id: record.tenant_id ?? null,
    enforcement: record.enforcement ?? 'enforce',
  };
  return { record: identity, place };
}

const RETENTION_DEFAULT = '24h';
const ENTRIES_DEFAULT = 100;
const VALUE_BYTES_DEFAULT = 65_536;

/** Parses one memory schema; returns `null` if it is disabled or has problems. */
export function parseMemory(
  written: Json,
  place: DocumentLocation,
  problems: DocumentProblem[],
): LocatedRecord<MemorySchema> | null {
  const { value: record, problems: shape } = readShape(written, memorySchema, place);
  const meaning =
    record === null ? [] : [...findDuplicateFields(record, place), ...findExcessRequired(record, place)];
  problems.push(...shape, ...meaning);
  if (record === null || meaning.length > 0 || record.enabled === false) return null;
  return { record: buildMemorySchema(record), place };
}

function buildMemorySchema(written: MemoryDocument): MemorySchema {
  const retention = written.default_retention ?? RETENTION_DEFAULT;
  const valueBytesMax = written.value_bytes_max ?? VALUE_BYTES_DEFAULT;
  return {
    name: written.name,
    scope: written.scope,
    fields: written.fields.map((field) => ({
      name: field.name,
      type: field.type,
      tag: field.tag.toLowerCase(),
      retention_ms: parseDurationMs(field.retention ?? retention),
      value_bytes_max: field.value_bytes_max ?? valueBytesMax,
      encrypted: field.encrypted ?? false,
      required: field.required ?? false,
    })),
    max_entries: written.max_entries ?? ENTRIES_DEFAULT,
    tenant_id: written.tenant_id ?? null,
  };
}

function findDuplicateFields({ fields }: MemoryDocument, place: DocumentLocation): DocumentProblem[] {
  const names = fields.map((field) => field.name);
  return names.flatMap((name, at) =>
    names.indexOf(name) === at
      ? []
      : buildDocumentProblem(
          buildChildLocation(place, 'fields', at, 'name'),
          'names a field that is already defined above',
        ),
  );
}

/** Required fields are always stored, so `max_entries` must not be less than their number. */
function findExcessRequired(
  { fields, max_entries }: MemoryDocument,
  place: DocumentLocation,
): DocumentProblem[] {
  const count = fields.filter((field) => field.required === true).length;
  if (count <= (max_entries ?? ENTRIES_DEFAULT)) return [];
  return [
    buildDocumentProblem(
      buildChildLocation(place, 'max_entries'),
      `is less than the number of required fields, ${count}`,
    ),
  ];
}

function lowercaseOptionalTags(tags: readonly Tag[] | undefined): readonly Tag[] | null {
  return tags === undefined ? null : lowercaseTags(tags);
}

function lowercaseTags(tags: readonly Tag[]): readonly Tag[] {
  return [...new Set(tags.map((tag) => tag.toLowerCase()))];
}
