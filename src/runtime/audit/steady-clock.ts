/** The two clocks that a steady clock compares, both in milliseconds. */
export interface ClockPair {
  /** The wall clock, since 1970. Operators and programs can set it. */
  readonly now_ms: () => number;
  /** A monotonic clock, which cannot be set; that of the process by default. */
  readonly uptime_ms?: (() => number) | undefined;
}

/** The time for which both clocks must advance equally. An operator has this long to notice a wrong time. */
const STEADY_MS = 21_600_000;
/** The maximum difference between the clocks from one call to the next. */
const SLACK_MS = 60_000;

/**
 * Opens a clock for actions that cannot be undone, such as deleting old files. A clock that was set forward by mistake
 * must not make every file old at once.
 *
 * @returns a function that gives the time, or `null` until both clocks have advanced equally for six hours. Call it
 * regularly, because it compares the clocks only when it is called
 */
export function openSteadyClock({ now_ms, uptime_ms = readUptime }: ClockPair): () => number | null {
  let last = { now_ms: now_ms(), uptime_ms: uptime_ms() };
  let steadySinceMs = last.uptime_ms;
  return () => {
    const seen = { now_ms: now_ms(), uptime_ms: uptime_ms() };
    const partedMs = seen.now_ms - last.now_ms - (seen.uptime_ms - last.uptime_ms);
    if (!(Math.abs(partedMs) <= SLACK_MS)) steadySinceMs = seen.uptime_ms;
    last = seen;
    return seen.uptime_ms - steadySinceMs >= STEADY_MS ? seen.now_ms : null;
  };
}

function readUptime(): number {
  return performance.now();
}
