import { writeSseEvent } from './sse.ts';
import type { WireError } from './wire-format.ts';

/**
 * Writes an error as Google's services do (AIP-193). `error` is the first member, because the Python SDK recognizes
 * an error in a stream by the first characters of a chunk.
 */
export function writeGeminiErrorBody({ status, code, message, request_id, extra }: WireError): string {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code.toUpperCase() }];
  return JSON.stringify({
    error: { ...extra, code: status, message, status: getStatus(status), details },
    ...extra,
    request_id,
  });
}

/** Writes an event with an error, at which clients stop the stream. */
export function writeGeminiErrorEvents(error: WireError): string {
  return writeSseEvent('', writeGeminiErrorBody(error));
}

const STATUSES: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'ABORTED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

function getStatus(status: number): string {
  return STATUSES[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT');
}
