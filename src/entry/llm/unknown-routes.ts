import type { FastifyReply, FastifyRequest } from 'fastify';
import { apiFamilies } from '../../core/wire/families/index.ts';
import { wireFormats } from '../../core/wire/formats/index.ts';
import type { WireFormat } from '../../core/wire/wire-format.ts';

/**
 * Answers a request for a route of a provider's API that is not served, in the shape of that API, because SDKs show no other
 * message. Returns `null` for any other path, without an answer.
 */
export function answerUnknownRoute(request: FastifyRequest, reply: FastifyReply): FastifyReply | null {
  const path = (request.raw.url ?? '/').split('?', 1)[0]!;
  const write = findErrorWriter(path, request);
  if (write === null) return null;
  const message = UNVERSIONED.test(path) ? NO_VERSION : NOT_SERVED;
  const error = { status: 404, code: 'not_found', message, request_id: request.id, extra: {} };
  return reply
    .code(404)
    .header('content-type', 'application/json')
    .header('x-request-id', request.id)
    .send(write(error));
}

const NOT_SERVED =
  'This route of the provider’s API is not served. docs/reference/llm-proxy.md lists the routes that are.';
const NO_VERSION =
  'There is no such route: the base URL of an OpenAI client must end in `/v1`, and the one of an Anthropic client must not.';

/** Matches paths of a client whose base URL lacks the version or repeats it. */
const UNVERSIONED =
  /^\/(?:chat\/completions|completions|embeddings|responses|messages|models|v1\/v1\/.{1,256})$/;

function findErrorWriter(path: string, { headers }: FastifyRequest): WireFormat['errorBody'] | null {
  const family = apiFamilies.find(({ known_paths }) => known_paths.test(path))?.name;
  if (family === undefined) return null;
  // Both APIs have the path of the list of models, and only Anthropic's clients send this header.
  const isAnthropic = family === 'openai' && headers['anthropic-version'] !== undefined;
  const shown = isAnthropic ? 'anthropic' : family;
  return wireFormats.find((format) => format.family === shown)?.errorBody ?? null;
}
