/** The factor by which this clock follows a time of day that is ahead. */
const PACE = 2;

/**
 * Opens the clock by which sessions expire. A clock that is set forward by mistake would expire all sessions at
 * once, and their taint tags would be lost. So this clock follows at twice the pace of time, and nothing is
 * lost if the mistake is corrected in that time. A clock that is set back is followed at once, because that
 * expires nothing.
 *
 * @param uptimeMs - a monotonic clock
 * @returns a function from a time of day to the session time, both in milliseconds since 1970
 */
export function openSessionClock(
  uptimeMs: () => number = () => performance.now(),
): (nowMs: number) => number {
  let shownMs = Number.POSITIVE_INFINITY;
  let seenMs = uptimeMs();
  return (nowMs) => {
    const passedMs = uptimeMs() - seenMs;
    seenMs += passedMs;
    shownMs = Math.min(nowMs, shownMs + PACE * passedMs);
    return shownMs;
  };
}
