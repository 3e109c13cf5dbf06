import { resolvePointer } from '../../json/pointer.ts';
import type { Json } from '../../types/index.ts';
import type { ArgumentPath } from './arguments.ts';

/** An argument's type, as its contract shows it; `any` if it is open, `unknown` if the contract does not have it. */
export type SchemaType =
  | 'any'
  | 'unknown'
  | 'string'
  | 'number'
  | 'boolean'
  | 'null'
  | 'object'
  | 'list'
  | 'list of strings'
  | 'list of numbers';

/** An argument that a schema does not name, and the names that it has there. */
export interface UnknownArgument {
  readonly name: string;
  readonly known: readonly string[];
}

type SchemaObject = { readonly [keyword: string]: Json };

/** Returns the type that a JSON Schema gives an argument. */
export function getArgumentType(schema: Json, path: ArgumentPath): SchemaType {
  const found = findSchema(schema, path);
  return found === null ? 'any' : 'known' in found ? 'unknown' : getType(found.schema, schema);
}

/** Returns the first step in a path that the schema does not name, if it names others there. */
export function findUnknownArgument(schema: Json, path: ArgumentPath): UnknownArgument | null {
  const found = findSchema(schema, path);
  return found !== null && 'known' in found ? found : null;
}

function findSchema(root: Json, path: ArgumentPath): { readonly schema: Json } | UnknownArgument | null {
  let at: Json = root;
  for (const step of path) {
    const schema = resolve(at, root);
    if (schema === null) return null;
    if (typeof step === 'number') {
      if (schema.prefixItems !== undefined || schema.items === undefined) return null;
      at = schema.items;
      continue;
    }
    const properties = (schema.properties ?? {}) as SchemaObject;
    const known = Object.keys(properties);
    if (known.includes(step)) at = properties[step] as Json;
    else if (known.length === 0 || schema.patternProperties !== undefined) return null;
    else return { name: step, known };
  }
  return { schema: at };
}

/** Keywords whose schemas could add members or types. */
const COMBINING = ['allOf', 'anyOf', 'oneOf', 'not', 'if', 'dependentSchemas'];

/** Returns a schema after its references; `null` if it is open. */
function resolve(written: Json, root: Json): SchemaObject | null {
  let schema: Json = written;
  for (let references = 0; references < 10; references += 1) {
    if (schema === null || typeof schema !== 'object' || Array.isArray(schema)) return null;
    const { $ref } = schema as SchemaObject;
    if (typeof $ref !== 'string')
      return COMBINING.some((keyword) => keyword in (schema as object)) ? null : (schema as SchemaObject);
    schema = resolvePointer(root, $ref) as Json;
  }
  return null;
}

const TYPES: Readonly<Record<string, SchemaType>> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
  object: 'object',
  array: 'list',
};

function getType(written: Json, root: Json): SchemaType {
  const schema = resolve(written, root);
  const type = schema?.type;
  const one = Array.isArray(type) && type.length === 1 ? type[0] : type;
  const found = typeof one === 'string' ? (TYPES[one] ?? 'any') : 'any';
  if (found !== 'list' || schema?.items === undefined || schema.prefixItems !== undefined) return found;
  const item = getType(schema.items, root);
  return item === 'string' || item === 'number' ? `list of ${item}s` : 'list';
}
