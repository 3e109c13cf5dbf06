import type { Json, JsonObject } from '../../../core/types/index.ts';
import { asObject } from './argument-roles.ts';
import { checkTools, type ToolsRead } from './read-tool-list.ts';
import { buildOwnResolver, type ReferenceResolver } from './simplify-schema.ts';
import {
  DESCRIPTION_UNITS_MAX,
  TOOLS_MAX,
  type ToolDescription,
  type ToolHints,
} from './tool-description.ts';

const METHODS = ['get', 'head', 'options', 'post', 'put', 'patch', 'delete', 'trace'];
const SAFE_METHODS = ['get', 'head', 'options', 'trace'];
/** References from one part to another that are followed, at most. */
const HOPS_MAX = 16;
const PARAMETERS_MAX = 200;
/** Headers that the HTTP client writes, so that no agent gives them. */
const OWN_HEADERS = ['accept', 'authorization', 'content-type', 'cookie'];

interface DocumentReading {
  readonly resolve: ReferenceResolver;
  readonly server: string | null;
}

/**
 * Reads the operations of an OpenAPI document, 3.0 or 3.1, as tools. `operationId` names a tool, and without it method and path.
 * Parameters and the members of a JSON body are its arguments; the first 2xx JSON answer is its result. References lead only
 * into the document.
 */
export function readOpenApi(document: Json): ToolsRead {
  const root = asObject(document);
  const paths = asObject(root?.paths);
  const version = root?.openapi;
  if (root === null || paths === null || typeof version !== 'string' || !/^3\.[01]\./.test(version))
    return {
      ok: false,
      message: 'It is no OpenAPI document of version 3.0 or 3.1: `openapi` and `paths` are needed.',
    };
  const title = asObject(root.info)?.title;
  const reading = { resolve: buildOwnResolver(root), server: typeof title === 'string' ? title : null };
  const tools: ToolDescription[] = [];
  for (const [path, item] of Object.entries(paths)) {
    const shared = follow(item, reading);
    for (const method of METHODS) {
      const operation = asObject(shared?.[method]);
      if (operation === null) continue;
      tools.push(describeOperation({ path, method, operation, shared: shared! }, reading));
      if (tools.length > TOOLS_MAX)
        return {
          ok: false,
          message: `It has more than ${TOOLS_MAX} operations, which is the limit for one draft.`,
        };
    }
  }
  return checkTools(tools);
}

/** Resolves the references of schemas in the same document. */
export function buildDocumentResolver(document: Json): ReferenceResolver {
  return buildOwnResolver(asObject(document) ?? {});
}

/** Follows a reference to a part of the document; `null` if it leads elsewhere or too far. */
function follow(value: Json | undefined, { resolve }: DocumentReading): JsonObject | null {
  let at = asObject(value);
  for (let hops = 0; at !== null && typeof at.$ref === 'string'; hops++)
    at = hops < HOPS_MAX ? resolve(at.$ref) : null;
  return at;
}

interface OperationPlace {
  readonly path: string;
  readonly method: string;
  readonly operation: JsonObject;
  readonly shared: JsonObject;
}

function describeOperation(place: OperationPlace, reading: DocumentReading): ToolDescription {
  const { path, method, operation } = place;
  const { operationId, summary, description } = operation;
  const given = typeof operationId === 'string' && operationId !== '' ? operationId : null;
  const name = given ?? `${method}_${path.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_|_$/g, '')}`;
  const words = [summary, description].filter((each) => typeof each === 'string').join('. ');
  return {
    name,
    tool_name: name,
    description: words.slice(0, DESCRIPTION_UNITS_MAX),
    input_schema: buildArguments(place, reading),
    output_schema: findResultSchema(operation, reading),
    hints: readMethod(method),
    server: reading.server,
  };
}

function readMethod(method: string): ToolHints {
  if (SAFE_METHODS.includes(method)) return { is_safe_method: true };
  return method === 'delete' ? { writes: true, destroys: true } : { writes: true };
}

/** Joins parameters and the members of the body. A parameter comes first if both have a name. */
function buildArguments({ operation, shared }: OperationPlace, reading: DocumentReading): JsonObject {
  const properties = new Map<string, Json>();
  const required = new Set<string>();
  const add = (name: string, schema: Json, isRequired: boolean): void => {
    if (properties.has(name)) return;
    properties.set(name, schema);
    if (isRequired) required.add(name);
  };
  for (const each of [...listItems(operation.parameters), ...listItems(shared.parameters)]) {
    const parameter = follow(each, reading);
    const name = parameter?.name;
    if (parameter === null || typeof name !== 'string' || isOwnHeader(parameter)) continue;
    const schema = asObject(parameter.schema) ?? findJsonSchema(parameter.content, reading) ?? {};
    const { description } = parameter;
    add(
      name,
      typeof description === 'string' ? { description, ...schema } : schema,
      parameter.required === true,
    );
  }
  const request = follow(operation.requestBody, reading);
  const body = findJsonSchema(request?.content, reading);
  const members = asObject(body?.properties);
  if (body !== null && members === null) add('body', body, request?.required === true);
  const needed = Array.isArray(body?.required) && request?.required === true ? body.required : [];
  for (const [name, schema] of Object.entries(members ?? {})) add(name, schema, needed.includes(name));
  return { type: 'object', properties: Object.fromEntries(properties), required: [...required] };
}

function listItems(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value.slice(0, PARAMETERS_MAX) : [];
}

function isOwnHeader({ in: place, name }: JsonObject): boolean {
  return place === 'cookie' || (place === 'header' && OWN_HEADERS.includes(String(name).toLowerCase()));
}

/** Returns the schema of JSON among media types, else that of a form. */
function findJsonSchema(content: Json | undefined, reading: DocumentReading): JsonObject | null {
  const types = Object.entries(asObject(content) ?? {});
  const found =
    types.find(([type]) => /^[\w.+-]+\/(?:[\w.-]+\+)?json\b/i.test(type)) ??
    types.find(([type]) => /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(type));
  return found === undefined ? null : follow(asObject(found[1])?.schema, reading);
}

function findResultSchema({ responses }: JsonObject, reading: DocumentReading): JsonObject | null {
  const codes = Object.entries(asObject(responses) ?? {}).filter(([code]) => /^2(?:\d\d|XX)$/i.test(code));
  for (const [, each] of codes) {
    const schema = findJsonSchema(follow(each, reading)?.content, reading);
    if (schema !== null) return schema;
  }
  return null;
}
