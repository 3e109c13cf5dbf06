import type { TSchema } from 'typebox';
import { PRODUCT_NAME } from '../../core/names.ts';
import { ACTIONS, BOUNDARIES, DECISIONS } from '../../core/types/index.ts';
import { addAliases } from '../../operations/check-body.ts';
import { type AnyOperation, getFullDescription, isDecisionOperation } from '../../operations/operation.ts';
import { STREAM_FIELDS } from '../../runtime/audit/events/types.ts';
import { type LlmRoute, llmRoutes } from '../llm/routes.ts';
import { type ErrorCode, FAULT, STATUS } from '../web/errors.ts';
import { type EventRoute, eventRoutes } from './events/routes.ts';

type Schema = TSchema & Readonly<Record<string, unknown>>;

/**
 * Returns the OpenAPI 3.1 description of the operations, which no configuration changes. Their schemas are JSON Schema
 * and appear in it unchanged.
 */
export function buildOpenApiDocument(operations: readonly AnyOperation[], version: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    const { path, method } = operation.http;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(operation) };
  }
  for (const route of llmRoutes) {
    const { path, method } = route.http;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeLlmRoute(route) };
  }
  for (const route of eventRoutes) {
    const { path, method } = route.http;
    paths[path] = { ...paths[path], [method.toLowerCase()]: describeEventRoute(route) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: `${PRODUCT_NAME} API`,
      version,
      description:
        'Decides allow, block or modify for what goes into an agent, comes out of it, or is about to be done by it. A blocked decision is a 200: read `decision`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '.' }],
    tags: [...getTags(operations), EVENTS, PROVIDERS].map((name) => ({ name })),
    paths,
    components: {
      schemas: { Error: ERROR, Event: EVENT, FaultOfCheck: FAULT_OF_CHECK },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

const PROVIDERS = 'model providers';

/** For a path that names the model. */
const EXAMPLE_MODEL = 'gemini-2.5-flash';

const LLM_ERRORS = {
  '400':
    'The policy blocks it: `policy_violation`, with the decision and its violations. A budget is used up: `budget_exceeded`.',
};

/** Describes an LLM route. Bodies and errors have the provider's format, which the provider documents. */
function describeLlmRoute({ http, wire, name, summary, example }: LlmRoute): object {
  const inPath = [...http.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
  const parameters = inPath.map((each) => ({
    name: each,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    example: EXAMPLE_MODEL,
  }));
  const free = { 'application/json': { schema: {} } };
  const errors = Object.entries(wire === null ? {} : LLM_ERRORS).map(([status, description]) => [
    status,
    { description, content: free },
  ]);
  return {
    operationId: name,
    tags: [PROVIDERS],
    summary,
    description:
      'Takes and gives what the provider does, so that its clients work unchanged. The credential of this service goes into `x-service-key`; every other one is the provider’s.',
    security: [{}, { bearer: [] }, { serviceKey: [] }],
    ...(parameters.length > 0 && { parameters }),
    ...(http.method === 'POST' && {
      requestBody: { required: true, content: { 'application/json': { schema: {}, example } } },
    }),
    responses: {
      '200': { description: 'The answer of the provider.', content: free },
      ...Object.fromEntries(errors),
      default: { description: 'An error, as the provider writes it.', content: free },
    },
  };
}

const EVENTS = 'events';

const EVENT = {
  type: 'object',
  required: [
    'timestamp',
    'action',
    'rule',
    'event_id',
    'boundary',
    'decision',
    'agent_id',
    'tenant_id',
    'data_tags',
  ],
  properties: {
    timestamp: { type: 'string' },
    action: { enum: ACTIONS },
    rule: { type: 'string', description: 'The rule that decided.' },
    event_id: { type: 'string', description: 'The audit event, and the position to continue after.' },
    boundary: { enum: [...BOUNDARIES, 'memory'] },
    decision: { enum: DECISIONS },
    agent_id: { type: 'string' },
    tenant_id: { type: 'string' },
    data_tags: { type: 'array', items: { type: 'string' } },
  },
};

/** Describes a WebSocket as a GET with the answer 101, because OpenAPI has no WebSockets. */
function describeEventRoute({ name, summary, description }: EventRoute): object {
  const isSocket = name === 'events_websocket';
  const parameters = [...STREAM_FIELDS, 'after', 'heartbeat'].map((each) => ({
    name: each,
    in: 'query',
    required: false,
    schema: each === 'heartbeat' ? { enum: ['text'] } : { type: 'string', maxLength: 256 },
  }));
  const error = { 'application/json': ERROR_CONTENT };
  return {
    operationId: name,
    tags: [EVENTS],
    summary,
    description,
    security: [{}, { bearer: [] }, { serviceKey: [] }],
    parameters,
    responses: {
      ...(isSocket
        ? {
            '101': {
              description: 'A WebSocket opens; each message is one event.',
              content: { 'application/json': { schema: { $ref: '#/components/schemas/Event' } } },
            },
            '426': { description: '`upgrade_required`', content: error },
          }
        : {
            '200': {
              description: 'Events without an end.',
              content: { 'text/event-stream': { schema: {} } },
            },
          }),
      '400': { description: '`invalid_request`', content: error },
      '401': { description: '`unauthenticated`', content: error },
      '403': { description: '`forbidden`', content: error },
      '404': { description: '`not_found`: the event `after`', content: error },
      '503': { description: '`unavailable`, `not_configured`', content: error },
      default: { description: 'Another error.', content: error },
    },
  };
}

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'A token, an API key or a JWT.' },
  serviceKey: { type: 'apiKey', in: 'header', name: 'x-service-key' },
};

const ERROR = {
  type: 'object',
  required: ['error', 'code', 'request_id'],
  properties: {
    error: { type: 'string', description: 'A sentence.' },
    code: { type: 'string', description: 'Stable, for programs: `invalid_request`, `forbidden` ...' },
    details: {
      type: 'array',
      items: {
        type: 'object',
        required: ['path', 'message'],
        properties: { path: { type: 'string' }, message: { type: 'string' } },
      },
    },
    request_id: { type: ['string', 'null'] },
  },
};

/** A check that ended with an internal error. A client that only reads `decision` gets `block`. */
const FAULT_OF_CHECK = {
  allOf: [
    { $ref: '#/components/schemas/Error' },
    { type: 'object', required: ['decision'], properties: { decision: { const: 'block' } } },
  ],
};

const TENANT_HEADER = {
  name: 'x-service-tenant',
  in: 'header',
  required: false,
  description: 'The tenant, if the body names none.',
  schema: { type: 'string', maxLength: 256 },
};

const USER_HEADER = {
  name: 'x-service-user',
  in: 'header',
  description: 'The user. The role of the user determines what is returned.',
  schema: { type: 'string', maxLength: 256 },
};

function describeOperation(operation: AnyOperation): object {
  const parameters = getParameters(operation);
  return {
    operationId: operation.name,
    tags: [getTag(operation)],
    summary: operation.summary,
    description: getFullDescription(operation),
    ...(operation.permission === null
      ? { security: [] }
      : { security: [{}, { bearer: [] }, { serviceKey: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.http.method !== 'GET' && { requestBody: getBody(operation) }),
    responses: getResponses(operation),
  };
}

/** Returns the tags in the order of the pages: checks come first. */
function getTags(operations: readonly AnyOperation[]): string[] {
  const checks = operations.filter(isDecisionOperation).map(getTag);
  return [...new Set([...checks.toSorted().toReversed(), ...operations.map(getTag)])];
}

/** Returns the second segment of the path: `scan`, `guard`, `policies`. */
function getTag({ http }: AnyOperation): string {
  return http.path.split('/')[2] ?? 'service';
}

function getParameters(operation: AnyOperation): object[] {
  const { http, input } = operation;
  const properties = ((input as Schema).properties ?? {}) as Record<string, object>;
  const inPath = parsePathNames(http).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: properties[name] ?? {},
  }));
  const rest = http.method === 'GET' ? Object.keys(omitMembers(properties, parsePathNames(http))) : [];
  const inQuery = rest.map((name) => ({ name, in: 'query', required: false, schema: properties[name] }));
  const parameters = [...getUserHeader(operation), ...inPath, ...inQuery];
  return isDecisionOperation(operation) ? [...parameters, TENANT_HEADER] : parameters;
}

function getUserHeader({ for_users }: AnyOperation): object[] {
  return for_users === undefined ? [] : [{ ...USER_HEADER, required: for_users === true }];
}

function parsePathNames({ path }: AnyOperation['http']): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
}

function omitMembers<Value>(record: Record<string, Value>, names: readonly string[]): Record<string, Value> {
  return Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));
}

function getBody({ input: own, example, http, check_body }: AnyOperation): object {
  const input = addAliases(own, check_body);
  const named = parsePathNames(http);
  const needed = ((own as Schema).required as string[] | undefined) ?? [];
  const inBody = needed.filter((name) => !named.includes(name));
  const required = inBody.length > 0 || http.upload === true;
  const schema =
    named.length === 0
      ? input
      : {
          ...input,
          required: inBody,
          properties: omitMembers(
            (own as Schema & { properties?: Record<string, object> }).properties ?? {},
            named,
          ),
        };
  const upload = {
    type: 'object',
    required: ['file'],
    properties: {
      file: { type: 'string', contentMediaType: 'application/octet-stream' },
      ...Object.fromEntries(
        ['agent_id', 'tenant_id', 'session_id', 'tool'].map((name) => [name, { type: 'string' }]),
      ),
    },
  };
  return {
    required,
    content: {
      'application/json': { schema, example: omitMembers(example as Record<string, unknown>, named) },
      ...(http.upload === true && { 'multipart/form-data': { schema: upload } }),
    },
  };
}

const ERROR_CONTENT = { schema: { $ref: '#/components/schemas/Error' } };
const EXAMPLE_REQUEST_ID = 'req_0123456789ab_1';

function getResponses(operation: AnyOperation): object {
  const { output, answer, http } = operation;
  const type = http.produces?.split(';', 1)[0] ?? 'application/json';
  return {
    '200': {
      description: 'The answer.',
      content: { [type]: { schema: output, ...(answer !== null && { example: answer }) } },
    },
    ...getErrors(operation),
    default: { description: 'Another error.', content: { 'application/json': ERROR_CONTENT } },
  };
}

/** Describes the errors by status, each with its codes. */
function getErrors(operation: AnyOperation): object {
  const byStatus = Map.groupBy(getCodes(operation), (code) => STATUS[code]);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => {
      const description = [...new Set(codes)].map((code) => `\`${code}\``).join(', ');
      return [
        status,
        { description, content: { 'application/json': buildErrorContent(codes[0]!, operation) } },
      ];
    }),
  );
}

/** Messages of codes that are the same on every route; a test compares them. */
const SENTENCES: Partial<Record<ErrorCode, string>> = {
  invalid_request: 'The body is not valid JSON.',
  unauthenticated: 'The credential is not known, or no longer valid.',
  too_large: 'The body has 2011 bytes, more than the limit of 1000 bytes (`server.body_bytes_max`).',
  unsupported_media_type: 'Send the body as `Content-Type: application/json`.',
  internal_error: FAULT,
};

function buildErrorContent(code: ErrorCode, operation: AnyOperation): object {
  const ofCheck = code === 'internal_error' && isDecisionOperation(operation);
  const sentence = SENTENCES[code];
  const decision = ofCheck ? { decision: 'block' } : {};
  return {
    schema: { $ref: `#/components/schemas/${ofCheck ? 'FaultOfCheck' : 'Error'}` },
    ...(sentence !== undefined && {
      example: { error: sentence, code, ...decision, request_id: EXAMPLE_REQUEST_ID },
    }),
  };
}

/**
 * Lists the codes of an operation: its own refusals, and those of every operation with a body, a credential or a store.
 */
function getCodes({ http, permission, needs, refusals = [] }: AnyOperation): ErrorCode[] {
  return [
    ...(http.method !== 'GET'
      ? (['invalid_request', 'too_large', 'unsupported_media_type', 'unavailable'] as const)
      : []),
    ...(permission === null ? [] : (['unauthenticated', 'forbidden'] as const)),
    ...(needs !== 'nothing' && needs !== 'plugins' && needs !== 'policy' ? (['unavailable'] as const) : []),
    ...refusals,
    'internal_error',
  ];
}
