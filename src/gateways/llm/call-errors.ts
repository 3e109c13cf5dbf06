import type { WireError } from '../../core/wire/wire-format.ts';
import { UpstreamFailure, type UpstreamFailureCode } from '../upstream/failure.ts';

/** The status and the code by which a client hears that no answer could be had. */
const FAILURES: Readonly<Record<UpstreamFailureCode, readonly [status: number, code: string]>> = {
  not_configured: [503, 'not_configured'],
  model_unknown: [404, 'model_not_found'],
  invalid_request: [400, 'invalid_request'],
  upstream_unreachable: [502, 'upstream_unavailable'],
  upstream_resting: [503, 'upstream_unavailable'],
  upstream_timeout: [504, 'upstream_timeout'],
  upstream_broken: [502, 'upstream_invalid'],
  answer_too_large: [502, 'upstream_invalid'],
  aborted: [499, 'aborted'],
};

/** What a failure of the provider is for the client; a fault of ours is thrown again. */
export function buildFailureError(fault: unknown, request_id: string): WireError {
  if (!(fault instanceof UpstreamFailure)) throw fault;
  const [status, code] = FAILURES[fault.code];
  return { status, code, message: fault.message, request_id, extra: {} };
}

/** Tells clients when to try again after a failure, and not to if this service has tried again already. */
export function buildRetryHeaders(fault: unknown): readonly string[] {
  if (!(fault instanceof UpstreamFailure)) return [];
  const { attempts, retry_after_ms } = fault;
  return [
    ...(attempts > 1 ? ['x-should-retry', 'false'] : []),
    ...(retry_after_ms === null ? [] : ['retry-after', `${Math.ceil(retry_after_ms / 1_000)}`]),
  ];
}

/** What the client sent cannot be read, so that nothing of it is sent on. */
export function buildInvalidRequestError(message: string, request_id: string): WireError {
  return { status: 400, code: 'invalid_request', message, request_id, extra: {} };
}

/** What the provider sent cannot be read, so that nothing of it is handed out. */
export function buildUnreadableFailure(message: string): UpstreamFailure {
  return new UpstreamFailure('upstream_broken', message);
}
