import type { ProviderFamily } from '../../core/wire/wire-format.ts';
import type { UpstreamFailureCode } from './failure.ts';
import { findHeader } from './headers.ts';

/** Longest wait that a provider may ask for before a next try; as the official clients have it. */
const RETRY_AFTER_MS_MAX = 60_000;
const BACKOFF_MS_MAX = 8_000;

/** What a try came to, as far as another one depends on it. */
export type TryOutcome =
  | { readonly status: number; readonly headers: readonly string[] }
  | { readonly failure: UpstreamFailureCode };

/**
 * Whether the same call may be made again, before any of an answer was passed on. The statuses are those after which
 * the official clients of a family try again, and so is that a connection that failed or was silent is tried again.
 */
export function isRetryable(outcome: TryOutcome, family: ProviderFamily | null): boolean {
  if ('failure' in outcome) return RETRYABLE_FAILURES.has(outcome.failure);
  const asked = findHeader(outcome.headers, 'x-should-retry');
  if (asked === 'true') return outcome.status >= 400;
  if (asked === 'false') return false;
  const { status } = outcome;
  if (family === 'gemini') return GEMINI_STATUSES.has(status);
  return status === 408 || status === 409 || status === 429 || (status >= 500 && status <= 599);
}

const GEMINI_STATUSES: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

const RETRYABLE_FAILURES: ReadonlySet<UpstreamFailureCode> = new Set([
  'upstream_unreachable',
  'upstream_timeout',
  'upstream_broken',
]);

/** Whether it speaks against the provider, and not only against this call or this key. */
export function isOutage(outcome: TryOutcome): boolean {
  return 'failure' in outcome ? RETRYABLE_FAILURES.has(outcome.failure) : outcome.status >= 500;
}

/** Whether the key has used up what it may; another key may do. */
export function isKeyLimit(outcome: TryOutcome): boolean {
  return 'status' in outcome && outcome.status === 429;
}

/** Whether the provider does not take the key. */
export function isKeyRefusal(outcome: TryOutcome): boolean {
  return 'status' in outcome && (outcome.status === 401 || outcome.status === 403);
}

/**
 * How long to wait before a further round of tries, in milliseconds: what the provider asks for, else a time drawn
 * at random from nothing to a bound that doubles. `null` where the provider asks for more than anyone waits.
 * @param round 0 for the first wait
 */
export function computeRetryDelay(
  round: number,
  outcome: TryOutcome,
  backoff_factor: number,
  random: () => number,
): number | null {
  const asked_ms = 'status' in outcome ? parseRetryAfter(outcome.headers) : null;
  if (asked_ms !== null) return asked_ms <= RETRY_AFTER_MS_MAX ? asked_ms : null;
  return random() * Math.min(BACKOFF_MS_MAX, backoff_factor * 1_000 * 2 ** round);
}

/** What `retry-after-ms` or `retry-after` asks for, in milliseconds; `null` where they say nothing that can be read. */
export function parseRetryAfter(headers: readonly string[]): number | null {
  const exact = findHeader(headers, 'retry-after-ms');
  if (exact !== null && /^\d{1,12}(?:\.\d{1,12})?$/.test(exact)) return Number(exact);
  const written = findHeader(headers, 'retry-after');
  if (written === null) return null;
  if (/^\d{1,9}(?:\.\d{1,12})?$/.test(written)) return Number(written) * 1_000;
  // A date is one of the provider's clock, which its own `date` shows.
  const wait_ms = Date.parse(written) - Date.parse(findHeader(headers, 'date') ?? '');
  return Number.isFinite(wait_ms) ? Math.max(0, wait_ms) : null;
}
