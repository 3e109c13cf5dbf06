/**
 * A time window in spans of 1/500 of its length, each with its calls' exact sum. A span counts until all of it is
 * outside the window, so a sum is never too low, and includes calls that are up to 0.2 % of the window too old.
 */
import { addDecimals, formatDecimal, parseDecimal } from '../../../core/policy/conditions/decimal.ts';

const SPANS_PER_WINDOW = 500;

/** A span's number since 1970, and the sum of its calls; `null` if a call in it has a value that is no number. */
type TimeSpan = readonly [span: number, sum: string | null];

/** Returns a window's sum; `null` if a call in it has a value that is no number. */
export function sumSpans(written: string, windowMs: number, nowMs: number): string | null {
  return listLiveSpans(written, windowMs, nowMs).reduce<string | null>(
    (sum, [, value]) => addSums(sum, value),
    '0',
  );
}

/** Adds a call, and drops spans outside the window. */
export function addToSpans(written: string, windowMs: number, nowMs: number, value: string | null): string {
  const span = Math.floor(nowMs / getSpanMs(windowMs));
  const live = listLiveSpans(written, windowMs, nowMs);
  const before = live.find(([each]) => each === span);
  const others = live.filter(([each]) => each !== span);
  return JSON.stringify([...others, [span, before === undefined ? value : addSums(before[1], value)]]);
}

function getSpanMs(windowMs: number): number {
  return Math.ceil(windowMs / SPANS_PER_WINDOW);
}

/** A span later than the window comes from a clock that was wrong and has been set back. */
function listLiveSpans(written: string, windowMs: number, nowMs: number): readonly TimeSpan[] {
  const spanMs = getSpanMs(windowMs);
  return (JSON.parse(written) as readonly TimeSpan[]).filter(
    ([span]) => (span + 1) * spanMs > nowMs - windowMs && span * spanMs < nowMs + windowMs,
  );
}

function addSums(one: string | null, other: string | null): string | null {
  const [a, b] = [one, other].map((sum) => (sum === null ? null : parseDecimal(sum)));
  return a == null || b == null ? null : formatDecimal(addDecimals(a, b));
}
