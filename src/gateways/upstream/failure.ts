/** Why there is no answer of a provider, or no more of it. */
export type UpstreamFailureCode =
  /** No provider is configured that speaks what the client speaks. */
  | 'not_configured'
  /** There are providers, and none serves the model. */
  | 'model_unknown'
  /** The request cannot be put into HTTP: a header or a path with characters that may not stand there. */
  | 'invalid_request'
  /** Nobody answers at its address, or it may not be called. */
  | 'upstream_unreachable'
  /** All that could serve it failed lately, and are left alone for a while. */
  | 'upstream_resting'
  | 'upstream_timeout'
  /** It broke off, or what it sent is no HTTP, has an unknown encoding, or leads elsewhere. */
  | 'upstream_broken'
  | 'answer_too_large'
  /** Whoever asked is gone. */
  | 'aborted';

export interface FailureContext {
  /** The provider that failed last; `null` where none was asked. */
  readonly provider: string | null;
  /** Tries in all. */
  readonly attempts: number;
  /** When a client may try again, in milliseconds from now; `null` if nothing is known of it. */
  readonly retry_after_ms?: number | null;
}

/** Why a provider gave no answer: a code for programs, and a sentence that holds nothing of request or answer. */
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

/** The same failure, with what is known of its circumstances. */
export function addFailureContext(
  { code, message }: UpstreamFailure,
  context: FailureContext,
): UpstreamFailure {
  return new UpstreamFailure(code, message, context);
}
