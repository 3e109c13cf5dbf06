import { RE2JS } from 're2js';
import { resolvePointer } from '../../json/pointer.ts';
import type { DocumentProblem, Json } from '../../types/index.ts';
import {
  buildChildLocation,
  buildDocumentProblem,
  type DocumentLocation,
  formatNames,
  suggestName,
} from './problems.ts';

const SUBSCHEMAS_MAX = 2_000;
const DEPTH_MAX = 32;
const PATTERN_LENGTH_MAX = 1_000;

/** The formats that are checked, all in linear time. */
const FORMATS = [
  'date',
  'date-time',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
  'json-pointer',
  'relative-json-pointer',
  'time',
  'uri',
  'uri-reference',
  'uri-template',
  'uuid',
];

const TYPES = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

/** The form that the value of a keyword must have. */
type Form =
  | 'schema'
  | 'schemas'
  | 'named_schemas'
  | 'patterned_schemas'
  | 'number'
  | 'count'
  | 'positive'
  | 'boolean'
  | 'names'
  | 'named_names'
  | 'type'
  | 'format'
  | 'pattern'
  | 'reference'
  | 'list'
  | 'anything';

const KEYWORDS: Readonly<Record<string, Form>> = {
  type: 'type',
  const: 'anything',
  enum: 'list',
  $ref: 'reference',
  $defs: 'named_schemas',
  properties: 'named_schemas',
  patternProperties: 'patterned_schemas',
  additionalProperties: 'schema',
  unevaluatedProperties: 'schema',
  propertyNames: 'schema',
  required: 'names',
  minProperties: 'count',
  maxProperties: 'count',
  dependentRequired: 'named_names',
  dependentSchemas: 'named_schemas',
  prefixItems: 'schemas',
  items: 'schema',
  unevaluatedItems: 'schema',
  contains: 'schema',
  minContains: 'count',
  maxContains: 'count',
  minItems: 'count',
  maxItems: 'count',
  uniqueItems: 'boolean',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'positive',
  minLength: 'count',
  maxLength: 'count',
  pattern: 'pattern',
  format: 'format',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  not: 'schema',
  if: 'schema',
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
  then: 'schema',
  else: 'schema',
  $schema: 'anything',
  $comment: 'anything',
  title: 'anything',
  description: 'anything',
  default: 'anything',
  examples: 'anything',
  deprecated: 'anything',
  readOnly: 'anything',
  writeOnly: 'anything',
};

/**
 * Returns everything that makes a JSON Schema of arguments unusable: keywords that are not checked (a misspelt
 * keyword would accept everything), references out of the schema or to itself, patterns that do not run in linear
 * time, and too many parts.
 */
export function findArgumentSchemaProblems(
  schema: Json,
  place: DocumentLocation,
): readonly DocumentProblem[] {
  const reading: SchemaReading = { root: schema, problems: [], subschemas: 0 };
  readSchema(reading, schema, place, 0);
  if (reading.problems.length > 0) return reading.problems;
  const wrong = findExpansionProblem(schema);
  return wrong === null ? [] : [buildDocumentProblem(place, wrong)];
}

interface SchemaReading {
  readonly root: Json;
  readonly problems: DocumentProblem[];
  subschemas: number;
}

function readSchema(reading: SchemaReading, schema: Json, place: DocumentLocation, depth: number): void {
  if (typeof schema === 'boolean') return;
  const wrong = findSchemaProblem(reading, schema, depth);
  if (wrong !== null) {
    reading.problems.push(buildDocumentProblem(place, wrong));
    return;
  }
  for (const [keyword, value] of Object.entries(schema as JsonObject)) {
    if (keyword.startsWith('x-')) continue;
    const here = buildChildLocation(place, keyword);
    const form = getForm(keyword);
    if (form !== undefined) readKeyword(reading, form, value, here, depth);
    else {
      const hint = suggestName(keyword, Object.keys(KEYWORDS));
      reading.problems.push(buildDocumentProblem(here, `is not a supported keyword${hint}`));
    }
  }
}

function findSchemaProblem(reading: SchemaReading, schema: Json, depth: number): string | null {
  reading.subschemas += 1;
  if (!isObject(schema)) return 'must be a JSON Schema: a mapping, `true` or `false`';
  if (reading.subschemas > SUBSCHEMAS_MAX)
    return `is more than the ${SUBSCHEMAS_MAX} schemas that there may be`;
  return depth > DEPTH_MAX ? `is nested deeper than ${DEPTH_MAX} schemas` : null;
}

function getForm(keyword: string): Form | undefined {
  return Object.hasOwn(KEYWORDS, keyword) ? KEYWORDS[keyword] : undefined;
}

function readKeyword(
  reading: SchemaReading,
  form: Form,
  value: Json,
  place: DocumentLocation,
  depth: number,
): void {
  const wrong = findValueProblem(form, value, reading.root);
  if (wrong !== null) {
    reading.problems.push(buildDocumentProblem(place, wrong));
    return;
  }
  for (const [step, schema] of listSubschemas(form, value)) {
    const here = step === null ? place : buildChildLocation(place, step);
    if (form === 'patterned_schemas' && !isLinearKeyPattern(String(step))) {
      reading.problems.push(buildDocumentProblem(here, NOT_LINEAR));
    }
    readSchema(reading, schema, here, depth + 1);
  }
}

/** Returns the schemas in the value of a keyword, each with the path step that leads to it. */
function listSubschemas(
  form: Form | undefined,
  value: Json,
): readonly (readonly [string | number | null, Json])[] {
  if (form === 'schema') return [[null, value]];
  if (form === 'schemas') return (value as readonly Json[]).map((schema, at) => [at, schema] as const);
  if (form === 'named_schemas' || form === 'patterned_schemas') return Object.entries(value as JsonObject);
  return [];
}

function findValueProblem(form: Form, value: Json, root: Json): string | null {
  if (form === 'schemas') return isFilled(value) ? null : 'must be a list of schemas';
  if (form === 'named_schemas' || form === 'patterned_schemas') {
    return isObject(value) ? null : 'must be a mapping of schemas';
  }
  if (form === 'type') return findTypeProblem(value);
  if (form === 'format') return findFormatProblem(value);
  if (form === 'pattern') return findPatternProblem(value);
  if (form === 'reference') return findReferenceProblem(value, root);
  if (form === 'number' || form === 'count' || form === 'positive') return findNumberProblem(form, value);
  if (form === 'boolean') return typeof value === 'boolean' ? null : 'must be `true` or `false`';
  if (form === 'list') return isFilled(value) ? null : 'must be a list of values';
  if (form === 'names') return isNames(value) ? null : 'must be a list of names';
  if (form === 'named_names') {
    return isObject(value) && Object.values(value).every(isNames)
      ? null
      : 'must be a mapping of lists of names';
  }
  return null;
}

function findNumberProblem(form: Form, value: Json): string | null {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 'must be a number';
  if (form === 'count')
    return Number.isSafeInteger(value) && value >= 0 ? null : 'must be a whole number from 0';
  return form === 'positive' && value <= 0 ? 'must be greater than 0' : null;
}

function findTypeProblem(value: Json): string | null {
  const types = [value].flat() as readonly Json[];
  const unknown = types.find((type) => !TYPES.includes(type as string));
  if (types.length > 0 && unknown === undefined) return null;
  return `must be one of ${formatNames(TYPES)}, or a list of them${typeof unknown === 'string' ? suggestName(unknown, TYPES) : ''}`;
}

function findFormatProblem(value: Json): string | null {
  if (typeof value === 'string' && FORMATS.includes(value)) return null;
  return `must be one of ${formatNames(FORMATS)}${typeof value === 'string' ? suggestName(value, FORMATS) : ''}`;
}

function findPatternProblem(value: Json): string | null {
  if (typeof value !== 'string') return 'must be a regular expression';
  if (value.length > PATTERN_LENGTH_MAX) return `is longer than ${PATTERN_LENGTH_MAX} characters`;
  try {
    RE2JS.compile(value);
    return null;
  } catch {
    return 'is no regular expression that runs in linear time (RE2: no look-around, no back-references, repeats up to 1,000)';
  }
}

function findReferenceProblem(value: Json, root: Json): string | null {
  if (typeof value !== 'string') return 'must be a reference such as `#/$defs/address`';
  try {
    if (resolvePointer(root, value) !== undefined) return null;
  } catch {
    return 'is not written as a reference must be';
  }
  return value.startsWith('#')
    ? 'refers to nothing in this schema'
    : 'refers out of this schema; only `#/...` is followed';
}

const NOT_LINEAR =
  'is no pattern for keys that surely runs in linear time: begin with `^`, use no groups or `|`, and at most one of `*` and `+`';

/** Keys are matched with V8's regular expressions, so only forms that cannot backtrack are accepted. */
function isLinearKeyPattern(pattern: string): boolean {
  if (pattern.length > PATTERN_LENGTH_MAX || !/^\^[^()|{}?]*$/.test(pattern)) return false;
  const withoutClasses = pattern.replace(/\[(?:[^\]\\]|\\.)*\]/g, 'x').replace(/\\./g, 'x');
  if ((withoutClasses.match(/[*+]/g) ?? []).length > 1) return false;
  try {
    return new RegExp(pattern, 'u').source.length > 0;
  } catch {
    return false;
  }
}

/**
 * With a recursive schema the author of the arguments could choose how much work the check is, and chained
 * references multiply that work. References must therefore not form a cycle, and the schema is measured with them
 * expanded.
 */
function findExpansionProblem(root: Json): string | null {
  const sizes = new Map<Json, number>();
  const open = new Set<Json>();
  const size = (schema: Json): number => {
    if (!isObject(schema)) return 0;
    if (open.has(schema)) return Number.POSITIVE_INFINITY;
    const known = sizes.get(schema);
    if (known !== undefined) return known;
    open.add(schema);
    const total = listAppliedSchemas(schema, root).reduce((sum: number, each) => sum + size(each), 1);
    open.delete(schema);
    sizes.set(schema, total);
    return total;
  };
  const total = size(root);
  if (total === Number.POSITIVE_INFINITY)
    return 'refers to itself; write the nesting out as deep as it is needed';
  return total > WRITTEN_OUT_MAX
    ? `is larger than ${WRITTEN_OUT_MAX} parts with its references written out`
    : null;
}

/** Returns the schemas that a schema applies, references included. */
function listAppliedSchemas(schema: JsonObject, root: Json): readonly Json[] {
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === '$defs') return [];
    if (keyword === '$ref') return [resolvePointer(root, value as string) ?? null];
    return listSubschemas(getForm(keyword), value).map(([, each]) => each);
  });
}

const WRITTEN_OUT_MAX = 20_000;

type JsonObject = { readonly [key: string]: Json };

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function isNames(value: Json): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string');
}

function isFilled(value: Json): boolean {
  return Array.isArray(value) && value.length > 0;
}
