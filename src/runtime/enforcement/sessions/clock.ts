/** The factor by which this clock follows a time of day that is ahead. */
const PACE = 2;

/**
 * Opens the clock by which sessions expire. A clock that is set forward by mistake would expire all sessions at
 * once, and their taint tags would be lost. So this clock follows at twice the pace of time, and nothing is
 * lost if the mistake is corrected in that time. A clock that is set back is followed at once, because that
 * expires nothing.
 *
 * @param uptime_ms - a monotonic clock
 * @returns a function from a time of day to the session time, both in milliseconds since 1970
 */
export function openSessionClock(
  uptime_ms: () => number = () => performance.now(),
): (now_ms: number) => number {
  let shown_ms = Number.POSITIVE_INFINITY;
  let seen_ms = uptime_ms();
  return (now_ms) => {
    const passed_ms = uptime_ms() - seen_ms;
    seen_ms += passed_ms;
    shown_ms = Math.min(now_ms, shown_ms + PACE * passed_ms);
    return shown_ms;
  };
}
