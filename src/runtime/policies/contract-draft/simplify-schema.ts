import type { Json, JsonObject } from '../../../core/types/index.ts';
import { asObject } from './argument-roles.ts';
import { NAME_UNITS_MAX, WORDS_UNITS_MAX } from './tool-description.ts';

/** Schemas in one tool's description, references written out, at most. Further ones accept everything. */
const SCHEMAS_MAX = 500;
const DEPTH_MAX = 12;
const MEMBERS_MAX = 100;
const MEMBER_UNITS_MAX = 200;

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const NUMBERS = ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'];
const COUNTS = ['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'];

/** Resolves a `$ref` in the document that it is in; `null` if it leads elsewhere or nowhere. */
export type ReferenceResolver = (reference: string) => JsonObject | null;

interface Reading {
  readonly resolve: ReferenceResolver;
  readonly open: Set<string>;
  schemas: number;
}

/**
 * Rewrites a schema from outside with the keywords that drafts read and contracts accept, and with its references written
 * out. Everything else is left out, so that the result accepts at least the same values. It keeps the beginning of each
 * description for `findArgumentRole`.
 */
export function simplifySchema(schema: JsonObject, resolve: ReferenceResolver): JsonObject {
  return simplify(schema, 0, { resolve, open: new Set(), schemas: 0 });
}

/** Returns the resolver for a schema whose references lead into itself. */
export function buildOwnResolver(root: JsonObject): ReferenceResolver {
  return (reference) => {
    if (!reference.startsWith('#')) return null;
    let at: Json | undefined = root;
    for (const step of reference.slice(1).split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      const holder: JsonObject | null = asObject(at);
      at = holder !== null && Object.hasOwn(holder, name) ? holder[name] : undefined;
    }
    return asObject(at);
  };
}

function simplify(schema: JsonObject, depth: number, reading: Reading): JsonObject {
  reading.schemas += 1;
  if (depth > DEPTH_MAX || reading.schemas > SCHEMAS_MAX) return {};
  if (typeof schema.$ref === 'string') return simplifyReference(schema.$ref, depth, reading);
  const written: Record<string, Json> = {};
  if (typeof schema.description === 'string')
    written.description = schema.description.slice(0, WORDS_UNITS_MAX);
  const types = listTypes(schema);
  if (types.length > 0) written.type = types.length === 1 ? types[0]! : types;
  Object.assign(written, pickScalars(schema), pickParts(schema, depth, reading));
  return mergeAlternatives(written, schema, depth, reading);
}

function simplifyReference(reference: string, depth: number, reading: Reading): JsonObject {
  if (reading.open.has(reference)) return {};
  const target = reading.resolve(reference);
  if (target === null) return {};
  reading.open.add(reference);
  const simple = simplify(target, depth + 1, reading);
  reading.open.delete(reference);
  return simple;
}

/** Returns the types. OpenAPI 3.0 writes `nullable: true` for the type `null`. */
function listTypes({ type, nullable, enum: members }: JsonObject): readonly string[] {
  const types = [type ?? null].flat().filter((each): each is string => TYPES.includes(each as string));
  const isNullable = nullable === true && types.length > 0 && !types.includes('null');
  return isNullable && !Array.isArray(members) ? [...types, 'null'] : types;
}

function pickScalars(schema: JsonObject): JsonObject {
  const picked: Record<string, Json> = {};
  for (const keyword of NUMBERS) {
    const value = schema[keyword];
    if (typeof value === 'number' && Number.isFinite(value)) picked[keyword] = value;
  }
  for (const keyword of COUNTS) {
    const value = schema[keyword];
    if (Number.isSafeInteger(value) && (value as number) >= 0) picked[keyword] = value as number;
  }
  if (isShortScalar(schema.const)) picked.const = schema.const!;
  const members = schema.enum;
  const isList = Array.isArray(members) && members.length > 0 && members.length <= MEMBERS_MAX;
  if (isList && members.every(isShortScalar))
    picked.enum = schema.nullable === true ? [...new Set([...members, null])] : members;
  if (typeof schema.format === 'string' && /^[a-z-]{1,32}$/.test(schema.format))
    picked.format = schema.format;
  return picked;
}

function isShortScalar(value: Json | undefined): boolean {
  if (typeof value === 'string') return value.length <= MEMBER_UNITS_MAX;
  return (
    value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}

function pickParts(schema: JsonObject, depth: number, reading: Reading): JsonObject {
  const picked: Record<string, Json> = {};
  const written = asObject(schema.properties);
  const properties = simplifyMembers(written ?? {}, depth, reading);
  if (written !== null) {
    picked.properties = properties;
    const required = Array.isArray(schema.required) ? schema.required : [];
    const known = [...new Set(required)].filter((name) => Object.hasOwn(properties, String(name)));
    if (known.length > 0) picked.required = known;
  }
  const items = asObject(schema.items);
  if (items !== null) picked.items = simplify(items, depth + 1, reading);
  const others = asObject(schema.additionalProperties);
  if (others !== null) picked.additionalProperties = simplify(others, depth + 1, reading);
  else if (schema.additionalProperties === false && isClosed(schema, properties))
    picked.additionalProperties = false;
  return picked;
}

/** Simplifies members until the limit. A contract's others follow `flow.others`. */
function simplifyMembers(members: JsonObject, depth: number, reading: Reading): JsonObject {
  const simple: [string, Json][] = [];
  for (const [name, each] of Object.entries(members)) {
    if (reading.schemas >= SCHEMAS_MAX) break;
    if (name === '' || name.length > NAME_UNITS_MAX) continue;
    simple.push([name, simplify(asObject(each) ?? {}, depth + 1, reading)]);
  }
  return Object.fromEntries(simple);
}

/** Returns whether the kept members are all that there may be. */
function isClosed({ properties, allOf, patternProperties }: JsonObject, kept: JsonObject): boolean {
  const members = Object.keys(asObject(properties) ?? {});
  return (
    allOf === undefined && patternProperties === undefined && members.length === Object.keys(kept).length
  );
}

/**
 * Adds alternatives. `oneOf` becomes `anyOf`, because two parts that were left out may make alternatives alike. One
 * alternative with `null`, which is how optional values are written, becomes a type.
 */
function mergeAlternatives(
  written: Record<string, Json>,
  schema: JsonObject,
  depth: number,
  reading: Reading,
): JsonObject {
  const all = listSchemas(schema.allOf).map((each) => simplify(each, depth + 1, reading));
  const any = [
    ...listSchemas(schema.anyOf),
    ...(schema.anyOf === undefined ? listSchemas(schema.oneOf) : []),
  ].map((each) => simplify(each, depth + 1, reading));
  const isMerged = all.length === 1 && written.properties === undefined;
  const merged: JsonObject = isMerged ? { ...all[0], ...written } : written;
  const more = all.length > 0 && !isMerged ? { allOf: all } : {};
  const others = any.filter((each) => each.type !== 'null');
  const only = others[0];
  if (others.length === 1 && any.length === 2 && typeof only?.type === 'string' && !hasMembers(only))
    return { ...only, ...merged, ...more, type: [only.type, 'null'] };
  return { ...merged, ...more, ...(any.length > 0 && { anyOf: any }) };
}

function hasMembers(schema: JsonObject): boolean {
  return schema.enum !== undefined || schema.const !== undefined;
}

function listSchemas(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.slice(0, MEMBERS_MAX).map((each) => asObject(each) ?? {}) : [];
}

/** The formats that contracts check. Others only say a role. */
const CHECKED_FORMATS = [
  'date',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'time',
  'uri',
  'uri-reference',
  'uuid',
];

/** Returns a simplified schema as a contract has it: without descriptions. */
export function writeArgumentSchema(schema: JsonObject): JsonObject {
  const written: Record<string, Json> = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'description' || (keyword === 'format' && !CHECKED_FORMATS.includes(value as string)))
      continue;
    if (keyword === 'properties')
      written.properties = Object.fromEntries(
        Object.entries(value as JsonObject).map(([name, each]) => [
          name,
          writeArgumentSchema(each as JsonObject),
        ]),
      );
    else if (keyword === 'allOf' || keyword === 'anyOf')
      written[keyword] = (value as readonly JsonObject[]).map(writeArgumentSchema);
    else if (keyword === 'items' || keyword === 'additionalProperties')
      written[keyword] = typeof value === 'boolean' ? value : writeArgumentSchema(value as JsonObject);
    else written[keyword] = value;
  }
  return written;
}
