import { writeSseEvent } from './sse.ts';
import type { WireError } from './wire-format.ts';

/**
 * An error as Google's services write it (AIP-193). `error` comes first: the Python SDK takes a chunk of a stream for an error
 * by its first characters alone.
 */
export function writeGeminiErrorBody({ status, code, message, request_id, extra }: WireError): string {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: code.toUpperCase() }];
  return JSON.stringify({
    error: { ...extra, code: status, message, status: statusOf(status), details },
    ...extra,
    request_id,
  });
}

/** An event with an error, at which clients of streams stop. */
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

function statusOf(status: number): string {
  return STATUSES[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT');
}
