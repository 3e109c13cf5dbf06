/** The reason why a provider's answer is missing or incomplete. */
export type UpstreamFailureCode =
  /** No provider is configured for the client's API. */
  | 'not_configured'
  /** There are providers, but none serves the model. */
  | 'model_unknown'
  /** The request is not valid HTTP: a header or the path contains characters that are not allowed. */
  | 'invalid_request'
  /** The address does not respond, or must not be called. */
  | 'upstream_unreachable'
  /** The circuit breakers of all providers of the model are open. */
  | 'upstream_circuit_open'
  | 'upstream_timeout'
  /** The connection broke, or the answer is invalid HTTP, has an unknown encoding, or redirects. */
  | 'upstream_broken'
  | 'answer_too_large'
  /** The caller disconnected. */
  | 'aborted';

/** The circumstances of a failure. */
export interface FailureContext {
  /** The provider that failed last; `null` if none was called. */
  readonly provider: string | null;
  /** The number of attempts. */
  readonly attempts: number;
  /** The delay after which a client may retry, in milliseconds; `null` if it is unknown. */
  readonly retry_after_ms?: number | null;
}

/** The failure of a call to a provider: a code for programs, and a sentence without text of the request or answer. */
export class UpstreamFailure extends Error {
  readonly code: UpstreamFailureCode;
  readonly provider: string | null;
  readonly attempts: number;
  readonly retry_after_ms: number | null;
  constructor(code: UpstreamFailureCode, message: string, context: Partial<FailureContext> = {}) {
    super(message);
    this.name = 'UpstreamFailure';
    this.code = code;
    this.provider = context.provider ?? null;
    this.attempts = context.attempts ?? 0;
    this.retry_after_ms = context.retry_after_ms ?? null;
  }
}

/** Returns the same failure with its provider, attempts and retry delay. */
export function addFailureContext(
  { code, message }: UpstreamFailure,
  context: FailureContext,
): UpstreamFailure {
  return new UpstreamFailure(code, message, context);
}
