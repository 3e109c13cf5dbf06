import type { WireError } from '../../core/wire/wire-format.ts';
import { UpstreamFailure, type UpstreamFailureCode } from '../upstream/failure.ts';

/** The status and code that the client receives if no answer is available. */
const FAILURES: Readonly<Record<UpstreamFailureCode, readonly [status: number, code: string]>> = {
  not_configured: [503, 'not_configured'],
  model_unknown: [404, 'model_not_found'],
  invalid_request: [400, 'invalid_request'],
  upstream_unreachable: [502, 'upstream_unavailable'],
  upstream_circuit_open: [503, 'upstream_unavailable'],
  upstream_timeout: [504, 'upstream_timeout'],
  upstream_broken: [502, 'upstream_invalid'],
  answer_too_large: [502, 'upstream_invalid'],
  aborted: [499, 'aborted'],
};

/** Builds the client's error for a failure of the provider. Throws an internal fault again. */
export function buildFailureError(fault: unknown, requestId: string): WireError {
  if (!(fault instanceof UpstreamFailure)) throw fault;
  const [status, code] = FAILURES[fault.code];
  return { status, code, message: fault.message, request_id: requestId, extra: {} };
}

/** Returns headers with the time until the next retry. They forbid retries if this service has already retried. */
export function buildRetryHeaders(fault: unknown): readonly string[] {
  if (!(fault instanceof UpstreamFailure)) return [];
  const { attempts, retry_after_ms } = fault;
  return [
    ...(attempts > 1 ? ['x-should-retry', 'false'] : []),
    ...(retry_after_ms === null ? [] : ['retry-after', `${Math.ceil(retry_after_ms / 1_000)}`]),
  ];
}

/** Builds the error for an unreadable request. Nothing of such a request is sent. */
export function buildInvalidRequestError(message: string, requestId: string): WireError {
  return { status: 400, code: 'invalid_request', message, request_id: requestId, extra: {} };
}

/** Builds the failure for an unreadable answer of the provider. Nothing of such an answer is returned. */
export function buildUnreadableFailure(message: string): UpstreamFailure {
  return new UpstreamFailure('upstream_broken', message);
}
