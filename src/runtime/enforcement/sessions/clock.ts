/** So many times as fast as time passes the time of day is followed where it is ahead. */
const PACE = 2;

/**
 * The time by which sessions are forgotten. A clock that is set forward by mistake makes all of them old at once, and
 * what an agent has read would count no more; so this one follows at twice the pace of time, and whoever sets the
 * clock right in that time has lost nothing. A clock that is set back is followed at once: that forgets nothing.
 *
 * @param uptime_ms a clock that only runs, and that nobody sets
 * @returns gives the time for a time of day, both in milliseconds since 1970
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
