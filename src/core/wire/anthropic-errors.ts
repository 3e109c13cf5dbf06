import { writeSseEvent } from './sse.ts';
import type { WireError } from './wire-format.ts';

/** Writes an error in Anthropic's format; its clients show the whole body. */
export function writeAnthropicErrorBody({ status, code, message, request_id, extra }: WireError): string {
  const error = { ...extra, type: getType(status), message, details: { error_code: code } };
  return JSON.stringify({ ...extra, type: 'error', error, request_id });
}

/** Writes the `error` event that ends a stream of messages. */
export function writeAnthropicErrorEvents(error: WireError): string {
  return writeSseEvent('error', writeAnthropicErrorBody(error));
}

const TYPES: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

function getType(status: number): string {
  return TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
}
