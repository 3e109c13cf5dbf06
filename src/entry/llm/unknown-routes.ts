import type { FastifyReply, FastifyRequest } from 'fastify';
import { writeAnthropicErrorBody } from '../../core/wire/anthropic-errors.ts';
import { writeGeminiErrorBody } from '../../core/wire/gemini-errors.ts';
import { writeOpenAiErrorBody } from '../../core/wire/openai-errors.ts';
import type { WireError } from '../../core/wire/wire-format.ts';

/**
 * Answers a request for a route of a provider's API that is not served, in the shape of that API, because SDKs show no other
 * message. Returns `null` for any other path, without an answer.
 */
export function answerUnknownRoute(request: FastifyRequest, reply: FastifyReply): FastifyReply | null {
  const path = (request.raw.url ?? '/').split('?', 1)[0]!;
  const write = writerFor(path, request);
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

const GEMINI = /^\/(?:upload\/)?v1(?:beta|alpha)\//;
const ANTHROPIC = /^(?:\/v1)*\/(?:messages|complete|skills)(?:\/|$)/;
const OPENAI =
  /^(?:\/openai)?(?:\/v1)*(?:\/(?:openai|deployments|engines)\/[^/]{1,256})?(?:\/v1)*\/(?:assistants|audio|batches|chat|completions|containers|conversations|embeddings|evals|files|fine_tuning|images|models|moderations|realtime|rerank|responses|threads|uploads|vector_stores|videos)(?:\/|$)/;
/** Matches paths of a client whose base URL lacks the version or repeats it. */
const UNVERSIONED =
  /^\/(?:chat\/completions|completions|embeddings|responses|messages|models|v1\/v1\/.{1,256})$/;

function writerFor(path: string, { headers }: FastifyRequest): ((error: WireError) => string) | null {
  if (GEMINI.test(path)) return writeGeminiErrorBody;
  if (ANTHROPIC.test(path)) return writeAnthropicErrorBody;
  if (!OPENAI.test(path)) return null;
  return headers['anthropic-version'] === undefined ? writeOpenAiErrorBody : writeAnthropicErrorBody;
}
