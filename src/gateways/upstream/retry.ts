import { isUsualRetryStatus } from '../../core/wire/api-family.ts';
import { type ApiFamilyName, getApiFamily } from '../../core/wire/families/index.ts';
import type { UpstreamFailureCode } from './failure.ts';
import { findHeader } from './headers.ts';

/** The longest `retry-after` that is honoured, in milliseconds; the official clients use the same. */
const RETRY_AFTER_MS_MAX = 60_000;
const BACKOFF_MS_MAX = 8_000;

/** The outcome of an attempt, as far as retries depend on it. */
export type TryOutcome =
  | { readonly status: number; readonly headers: readonly string[] }
  | { readonly failure: UpstreamFailureCode };

/**
 * Returns whether the call may be retried, before any part of an answer was forwarded. The statuses and failures are those
 * that the official clients of the family retry.
 */
export function isRetryable(outcome: TryOutcome, family: ApiFamilyName | null): boolean {
  if ('failure' in outcome) return RETRYABLE_FAILURES.has(outcome.failure);
  const request = findHeader(outcome.headers, 'x-should-retry');
  if (request === 'true') return outcome.status >= 400;
  if (request === 'false') return false;
  const { status } = outcome;
  return family === null ? isUsualRetryStatus(status) : getApiFamily(family).isRetryableStatus(status);
}

const RETRYABLE_FAILURES: ReadonlySet<UpstreamFailureCode> = new Set([
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_broken',
]);

/** Returns whether the outcome counts as an outage of the provider, rather than of this call or key. */
export function isOutage(outcome: TryOutcome): boolean {
  return 'failure' in outcome ? RETRYABLE_FAILURES.has(outcome.failure) : outcome.status >= 500;
}

/** Returns whether the key is rate limited; another key may succeed. */
export function isKeyLimit(outcome: TryOutcome): boolean {
  return 'status' in outcome && outcome.status === 429;
}

/** Returns whether the provider rejects the key. */
export function isKeyRefusal(outcome: TryOutcome): boolean {
  return 'status' in outcome && (outcome.status === 401 || outcome.status === 403);
}

/**
 * Returns the delay before the next round of attempts, in milliseconds: the provider's `retry-after`, else a random time
 * up to a bound that doubles. `null` if the provider asks for more than the maximum.
 * @param round 0 for the first wait
 */
export function computeRetryDelay(
  round: number,
  outcome: TryOutcome,
  backoffFactor: number,
  random: () => number,
): number | null {
  const retryAfterMs = 'status' in outcome ? parseRetryAfter(outcome.headers) : null;
  if (retryAfterMs !== null) return retryAfterMs <= RETRY_AFTER_MS_MAX ? retryAfterMs : null;
  return random() * Math.min(BACKOFF_MS_MAX, backoffFactor * 1_000 * 2 ** round);
}

/** Returns the delay of `retry-after-ms` or `retry-after` in milliseconds; `null` if neither can be parsed. */
export function parseRetryAfter(headers: readonly string[]): number | null {
  const exact = findHeader(headers, 'retry-after-ms');
  if (exact !== null && /^\d{1,12}(?:\.\d{1,12})?$/.test(exact)) return Number(exact);
  const written = findHeader(headers, 'retry-after');
  if (written === null) return null;
  if (/^\d{1,9}(?:\.\d{1,12})?$/.test(written)) return Number(written) * 1_000;
  // A date refers to the provider's clock, which its `date` header shows.
  const waitMs = Date.parse(written) - Date.parse(findHeader(headers, 'date') ?? '');
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : null;
}
