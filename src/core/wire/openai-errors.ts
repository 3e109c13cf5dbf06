import { writeSseEvent } from './sse.ts';
import type { WireError } from './wire-format.ts';

/**
 * Writes an error in OpenAI's format. Its clients show only the `error` object, so additional fields are inside it
 * too. Programs that read the body find them at the top level, as in any other answer.
 */
export function writeOpenAiErrorBody(error: WireError): string {
  return JSON.stringify({ ...error.extra, error: buildErrorObject(error), request_id: error.request_id });
}

/** Writes a chunk with an `error`, at which clients of chat completions stop. */
export function writeOpenAiErrorEvents(error: WireError): string {
  return writeSseEvent('', writeOpenAiErrorBody(error));
}

/**
 * Writes the error event of a block with the code `content_filter`, at which no client retries. The service's own
 * code is in `error_code`.
 */
export function writeOpenAiDenialEvents({ code, extra, ...error }: WireError): string {
  return writeOpenAiErrorEvents({ ...error, code: 'content_filter', extra: { ...extra, error_code: code } });
}

/**
 * Writes the `error` event of the Responses API. It states the error at the top level and in an object, because
 * clients differ in which of them they read.
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

/** Returns the `error` member of a body or of an event. */
export function buildErrorObject({ code, message, status, extra }: WireError): Record<string, unknown> {
  return { ...extra, message, type: getType(status), param: null, code };
}

function getType(status: number): string {
  if (status === 429) return 'rate_limit_error';
  return status >= 500 ? 'server_error' : 'invalid_request_error';
}
