import { writeSseEvent } from './sse.ts';
import type { WireError } from './wire-format.ts';

/**
 * An error as OpenAI writes it. Its clients show no more than the `error` object, so what stands beside the
 * provider's fields is in there too; whoever reads the body finds it at the top as with any other answer.
 */
export function writeOpenAiErrorBody(error: WireError): string {
  return JSON.stringify({ ...error.extra, error: buildErrorObject(error), request_id: error.request_id });
}

/** A chunk with an `error`, at which clients of chat completions stop. */
export function writeOpenAiErrorEvents(error: WireError): string {
  return writeSseEvent('', writeOpenAiErrorBody(error));
}

/**
 * The same for a block: at the code `content_filter` no client tries again. Which one it is of this service's own codes stands
 * beside it.
 */
export function writeOpenAiDenialEvents({ code, extra, ...error }: WireError): string {
  return writeOpenAiErrorEvents({ ...error, code: 'content_filter', extra: { ...extra, error_code: code } });
}

/**
 * The `error` event of the Responses API, which says the same at the top and in an object: of its clients some
 * read the one and some the other.
 */
export function writeResponsesErrorEvents(error: WireError): string {
  const { code, message } = error;
  return writeSseEvent(
    'error',
    JSON.stringify({
      ...error.extra,
      type: 'error',
      sequence_number: 0,
      code,
      message,
      param: null,
      error: buildErrorObject(error),
      request_id: error.request_id,
    }),
  );
}

/** The `error` member of a body or of an event. */
export function buildErrorObject({ code, message, status, extra }: WireError): Record<string, unknown> {
  return { ...extra, message, type: typeOf(status, code), param: null, code };
}

/** OpenAI says `insufficient_quota` in both fields. */
function typeOf(status: number, code: string): string {
  if (code === 'insufficient_quota') return code;
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
