import { format as formats, type Schema, validate } from '@cfworker/json-schema';
import { RE2JS } from 're2js';
import { parsePointer, resolvePointer } from '../json/pointer.ts';
import type { Json } from '../types/index.ts';

/** Maximum UTF-16 units of a string to which a `pattern` is applied. A longer string is a mismatch. */
export const PATTERN_TEXT_LENGTH_MAX = 65_536;
/** Maximum UTF-16 units of a string with a `format`. No valid address, date or link is longer. */
export const FORMAT_TEXT_LENGTH_MAX = 8_192;
/** Maximum items that `uniqueItems` compares. A longer list is a mismatch. */
export const UNIQUE_ITEMS_MAX = 1_000;

/** Maximum values in the arguments, counted at all depths. More are a mismatch. */
export const ARGUMENT_NODES_MAX = 50_000;

/** Position and keyword of a schema mismatch. `pointer` holds the steps of a JSON pointer. */
export interface ArgumentMismatch {
  readonly pointer: readonly string[];
  readonly keyword: string;
}

/** Returns the mismatches of arguments with their schema; empty if they match. Never throws. */
export type ArgumentCheck = (value: Json) => readonly ArgumentMismatch[];

const MISMATCHES_MAX = 20;

/**
 * Compiles a check from a JSON Schema that policy compilation accepted. The validator uses V8's backtracking regular
 * expressions and a quadratic `uniqueItems`, so this function replaces both in the copy that the validator receives.
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
      // Deep nesting or many values can exhaust the validator's stack, and it throws on lone surrogates in keys.
      // Arguments that cannot be checked count as a mismatch.
      return NOT_CHECKABLE;
    }
  };
}

function hasMoreNodes(value: Json, nodesMax: number): boolean {
  const open: Json[] = [value];
  let nodes = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    nodes += 1;
    if (nodes + open.length > nodesMax) return true;
    if (at === null || typeof at !== 'object') continue;
    for (const member of Object.values(at)) open.push(member);
  }
  return false;
}

const NOT_CHECKABLE: readonly ArgumentMismatch[] = [{ pointer: [], keyword: 'schema' }];

/** Maps the validator's keyword for a schema of `false` to `additionalProperties`, its usual cause. */
const KEYWORDS: Readonly<Record<string, string>> = { false: 'additionalProperties' };

/** Keywords whose error only repeats that a nested schema failed. */
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

/** Keywords whose value is data and contains no schemas. */
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
    else if (keyword === 'pattern') added.push({ format: registerPatternFormat(value as string) });
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
 * Registers a pattern as a format. The validator has one global table of formats; the prefix in the name cannot occur
 * in a document. The table grows with the number of patterns that were ever configured.
 */
function registerPatternFormat(pattern: string): string {
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

/** Resolves every `$ref` of the schema in advance, so that the validator resolves none itself. */
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
