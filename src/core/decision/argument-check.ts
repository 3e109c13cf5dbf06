import { format as formats, type Schema, validate } from '@cfworker/json-schema';
import { RE2JS } from 're2js';
import { parsePointer, resolvePointer } from '../json/pointer.ts';
import type { Json } from '../types/index.ts';

/** UTF-16 units of a string that a `pattern` is tried on; a longer one does not fit. */
export const PATTERN_TEXT_LENGTH_MAX = 65_536;
/** UTF-16 units of a string that has a `format`; no address, date or link is longer. */
export const FORMAT_TEXT_LENGTH_MAX = 8_192;
/** Items that `uniqueItems` compares; a longer list does not fit. */
export const UNIQUE_ITEMS_MAX = 1_000;

/** Values of arguments, counted at all depths, that are looked at; more do not fit. */
export const ARGUMENT_NODES_MAX = 50_000;

/** Where arguments do not fit their schema, in the notation of JSON pointers, and by which keyword. */
export interface ArgumentMismatch {
  readonly pointer: readonly string[];
  readonly keyword: string;
}

/** Says where arguments do not fit; an empty list when they do. Never throws. */
export type ArgumentCheck = (value: Json) => readonly ArgumentMismatch[];

const MISMATCHES_MAX = 20;

/**
 * Makes a check of a JSON Schema that `argumentSchemaProblems` had nothing against. The validator brings V8's
 * backtracking expressions and a quadratic `uniqueItems`; in the copy that it gets, both are replaced.
 */
export function compileArgumentCheck(schema: Json): ArgumentCheck {
  const bounded = boundSchema(schema) as Schema;
  const lookup = resolveReferences(bounded);
  return (value) => {
    if (hasMoreNodes(value, ARGUMENT_NODES_MAX)) return NOT_CHECKABLE;
    try {
      const { valid, errors } = validate(value, bounded, '2020-12', lookup, false);
      if (valid) return [];
      const misfits = errors.filter(({ keyword }) => !WRAPPERS.has(keyword)).slice(0, MISMATCHES_MAX);
      if (misfits.length === 0) return NOT_CHECKABLE;
      return misfits.map(({ instanceLocation, keyword }) => ({
        pointer: parsePointer(instanceLocation),
        keyword: KEYWORDS[keyword] ?? keyword,
      }));
    } catch {
      // Nesting or sheer number can exhaust the validator's stack, and it refuses lone surrogates in keys.
      // What it cannot look at does not fit.
      return NOT_CHECKABLE;
    }
  };
}

function hasMoreNodes(value: Json, nodes_max: number): boolean {
  const open: Json[] = [value];
  let nodes = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    nodes += 1;
    if (nodes + open.length > nodes_max) return true;
    if (at === null || typeof at !== 'object') continue;
    for (const member of Object.values(at)) open.push(member);
  }
  return false;
}

const NOT_CHECKABLE: readonly ArgumentMismatch[] = [{ pointer: [], keyword: 'schema' }];

/** What the validator calls a schema of `false`, which is what `additionalProperties: false` comes to. */
const KEYWORDS: Readonly<Record<string, string>> = { false: 'additionalProperties' };

/** Keywords whose error only says that there is another one below. */
const WRAPPERS = new Set([
  '$ref',
  'properties',
  'items',
  'prefixItems',
  'allOf',
  'additionalProperties',
  'patternProperties',
  'dependentSchemas',
  'if',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
]);

/** Keywords whose value is data and holds no schemas. */
const DATA_KEYWORDS = new Set(['const', 'enum', 'default', 'examples']);
/** Keywords whose value maps names to schemas. */
const MAP_KEYWORDS = new Set(['properties', 'patternProperties', '$defs', 'dependentSchemas']);

function boundSchema(schema: Json): Json {
  if (Array.isArray(schema)) return (schema as readonly Json[]).map(boundSchema);
  if (schema === null || typeof schema !== 'object') return schema;
  const copy: Record<string, Json> = {};
  const added: Json[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (DATA_KEYWORDS.has(keyword)) copy[keyword] = value;
    else if (MAP_KEYWORDS.has(keyword)) copy[keyword] = mapValues(value as JsonObject);
    else if (keyword === 'pattern') added.push({ format: patternFormat(value as string) });
    else if (keyword === 'format') copy.format = boundFormat(value as string);
    else if (keyword === 'uniqueItems' && value === true) added.push(UNIQUE_ITEMS);
    else copy[keyword] = boundSchema(value);
  }
  if (added.length > 0) copy.allOf = [...((copy.allOf as readonly Json[] | undefined) ?? []), ...added];
  return copy;
}

type JsonObject = { readonly [key: string]: Json };

function mapValues(schemas: JsonObject): Json {
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, boundSchema(schema)]));
}

// biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
const UNIQUE_ITEMS: Json = { if: { maxItems: UNIQUE_ITEMS_MAX }, then: { uniqueItems: true }, else: false };

/**
 * The validator looks formats up in one table. Ours stand in it beside its own under names that no document
 * can use; there are as many as patterns were ever configured.
 */
function patternFormat(pattern: string): string {
  const name = `service:pattern:${pattern}`;
  if (formats[name] === undefined) {
    const expression = RE2JS.compile(pattern);
    formats[name] = (text) => text.length <= PATTERN_TEXT_LENGTH_MAX && expression.matcher(text).find();
  }
  return name;
}

function boundFormat(format: string): string {
  const name = `service:format:${format}`;
  const check = formats[format];
  if (check !== undefined) formats[name] ??= (text) => text.length <= FORMAT_TEXT_LENGTH_MAX && check(text);
  return name;
}

/** Every `$ref` in the schema with what it stands for, so that the validator resolves none itself. */
function resolveReferences(root: Schema): Record<string, Schema | boolean> {
  const lookup: Record<string, Schema | boolean> = Object.create(null);
  const open: unknown[] = [root];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === null || typeof at !== 'object') continue;
    const reference = (at as { $ref?: unknown }).$ref;
    if (typeof reference === 'string') lookup[reference] = resolvePointer(root as Json, reference) as Schema;
    open.push(...Object.values(at));
  }
  return lookup;
}
