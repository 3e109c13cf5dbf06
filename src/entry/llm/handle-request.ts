import type { FastifyReply, FastifyRequest } from 'fastify';
import { getApiFamily } from '../../core/wire/families/index.ts';
import { wireFormats } from '../../core/wire/formats/index.ts';
import type { WireFormat } from '../../core/wire/wire-format.ts';
import type { LlmCall, LlmProxy } from '../../gateways/llm/llm-call.ts';
import { Refusal } from '../../operations/operation.ts';
import type { Runtime } from '../../operations/runtime.ts';
import { dropBlankName, resolveSubject } from '../../operations/subject.ts';
import { ANONYMOUS_CALLER } from '../../runtime/access/callers.ts';
import type { ActorContext } from '../../runtime/enforcement/crossings.ts';
import type { ErrorLog } from '../web/errors.ts';
import { createDisconnectSignal, readNameHeader, readWorkContext } from '../web/routes.ts';
import { formatDenial, formatFault, formatRefusal } from './errors.ts';
import type { LlmRoute } from './routes.ts';
import { writeModelResponse } from './write-response.ts';

export interface ModelRequestPorts {
  readonly runtime: Runtime;
  readonly llm: () => Promise<LlmProxy>;
  readonly log: ErrorLog;
  /** Maximum time in milliseconds in which a client reads nothing of a stream. */
  readonly silent_ms: number;
}

/** Forwards a model call of an authenticated caller and writes the response. */
export async function handleModelRequest(
  routes: readonly LlmRoute[],
  request: FastifyRequest,
  reply: FastifyReply,
  parts: ModelRequestPorts,
): Promise<void> {
  const llm = await parts.llm();
  const path = request.raw.url ?? '/';
  const common = {
    path,
    headers: request.raw.rawHeaders,
    request_id: request.id,
    signal: createDisconnectSignal(reply),
  };
  const [route] = routes;
  if (route?.wire === null) {
    const model = route.url === undefined ? null : parseModelName(path);
    const answer = await llm.listModels({ ...common, format: selectModelsFormat(request), model });
    return writeModelResponse(answer, request, reply, parts);
  }
  const { wire, in_path } = resolveRoute(routes, path);
  const format = getFormat(wire);
  const answer = await llm.call({
    ...common,
    format,
    body: getBytes(request.body),
    in_path,
    acting: getActing(request, parts.runtime),
    user_id: readHeader(request, 'x-service-user'),
    caller: request.caller ?? ANONYMOUS_CALLER,
    approval_request_id: readHeader(request, 'x-service-approval'),
    capability_token: readHeader(request, 'x-service-capability', CAPABILITY_CHARS_MAX),
    describeDenial: (denial) => formatDenial(denial, request.id),
  });
  const errorEvents = () => format.errorEvents(formatFault(request));
  return writeModelResponse(answer, request, reply, { ...parts, errorEvents });
}

/** Answers an error in the shape of the API that was called. */
export function writeLlmError(
  routes: readonly LlmRoute[],
  refusal: Refusal | null,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const wire = routes[0]?.wire ?? null;
  const format = wire === null ? selectModelsFormat(request) : getFormat(wire);
  const error = refusal === null ? formatFault(request) : formatRefusal(refusal, request.id);
  return reply
    .code(error.status)
    .header('content-type', 'application/json')
    .headers(buildIdHeaders(format, request.id))
    .send(format.errorBody(error));
}

function buildIdHeaders({ family }: WireFormat, id: string): Record<string, string> {
  const { request_id_header } = getApiFamily(family);
  return { 'x-request-id': id, ...(request_id_header !== undefined && { [request_id_header]: id }) };
}

function getFormat(wire: NonNullable<LlmRoute['wire']>): WireFormat {
  const format = wireFormats.find(({ name }) => name === wire);
  if (format === undefined) throw new Refusal('not_found', 'There is no such route.');
  return format;
}

/**
 * Returns the format of the model list. Anthropic's clients send `anthropic-version`; all others get OpenAI's format.
 */
function selectModelsFormat({ headers }: FastifyRequest): WireFormat {
  return getFormat(headers['anthropic-version'] === undefined ? 'openai.chat' : 'anthropic.messages');
}

/** Returns the model in a path of `/v1/models/{model}`. */
function parseModelName(path: string): string {
  const bare = path.split('?', 1)[0]!;
  const model = decodePathPart(bare.slice(bare.indexOf(MODELS) + MODELS.length));
  if (!MODEL.test(model)) throw new Refusal('not_found', 'There is no such model.');
  return model;
}

const MODELS = '/v1/models/';

/** Returns the wire format that a path selects, and the model and method if the path contains them. */
function resolveRoute(
  routes: readonly LlmRoute[],
  path: string,
): { readonly wire: NonNullable<LlmRoute['wire']>; readonly in_path: LlmCall['in_path'] } {
  const bare = path.split('?', 1)[0]!;
  const route = routes.find(({ ending }) => ending === undefined || bare.endsWith(ending.text));
  if (route === undefined || route.wire === null) throw new Refusal('not_found', 'There is no such route.');
  const { wire, ending } = route;
  if (ending === undefined) return { wire, in_path: null };
  const model = decodePathPart(bare.slice(bare.lastIndexOf('/') + 1, -ending.text.length));
  // The path is forwarded to the provider unchanged, so the model must not change where it leads.
  if (!MODEL.test(model)) throw new Refusal('invalid_request', 'The path names no model.');
  if (ending.is_stream) requireEvents(path);
  return { wire, in_path: { model, is_stream: ending.is_stream } };
}

/**
 * Refuses a Gemini stream without server-sent events. Without them Gemini streams one growing JSON array, in which
 * nothing can be held back. If both `alt` and `$alt` are set, they must agree.
 */
function requireEvents(path: string): void {
  const query = path.includes('?') ? path.slice(path.indexOf('?') + 1) : '';
  const requested = [...new URLSearchParams(query)].filter(([name]) => /^\$?alt$/i.test(name));
  if (requested.length > 0 && requested.every(([, value]) => value === 'sse')) return;
  throw new Refusal('invalid_request', 'Request a stream with `?alt=sse`; other framings cannot be checked.');
}

const MODEL = /^(?!.*\.\.)[\w@][\w.@/:-]{0,255}$/;

function decodePathPart(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    throw new Refusal('invalid_request', 'The path is not a valid URL path.');
  }
}

function getBytes(body: unknown): Uint8Array {
  return body instanceof Uint8Array ? body : new Uint8Array();
}

const CAPABILITY_CHARS_MAX = 4_096;

/**
 * Returns the acting agent, tenant and session from the headers, within the credential's scope. In gateway mode the
 * agent must be known.
 */
function getActing(request: FastifyRequest, runtime: Runtime): ActorContext {
  const { tenant_id, agent_id, principal } = resolveSubject(
    { agent_id: readHeader(request, 'x-service-agent') },
    {
      caller: request.caller ?? ANONYMOUS_CALLER,
      tenant_id: readHeader(request, 'x-service-tenant'),
      user_id: readHeader(request, 'x-service-user'),
      ...readWorkContext(request),
    },
  );
  const sourceAgentId = agent_id === 'unknown' ? null : agent_id;
  if (runtime.mode === 'gateway' && sourceAgentId === null)
    throw new Refusal('agent_context_required', 'Say which agent calls: send its name as `x-service-agent`.');
  return {
    tenant_id,
    agent_id,
    source_agent_id: sourceAgentId,
    session_id: readHeader(request, 'x-service-session') ?? readHeader(request, 'x-claude-code-session-id'),
    ...(principal !== undefined && { principal }),
    declared_tags: [],
    now_ms: runtime.now_ms(),
  };
}

/** Returns the text of a header; `null` if it is absent or blank. */
function readHeader(request: FastifyRequest, name: string, charsMax?: number): string | null {
  return dropBlankName(readNameHeader(request, name, charsMax));
}
