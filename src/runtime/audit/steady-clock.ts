/** What a steady clock is read from, both in milliseconds. */
export interface ClockPair {
  /** Time of day, since 1970: people and programs set it. */
  readonly now_ms: () => number;
  /** A clock that only runs, and that nobody sets; that of the process unless told. */
  readonly uptime_ms?: (() => number) | undefined;
}

/** How long both clocks must have run alike. Whoever has set a wrong time has so long to see it. */
const STEADY_MS = 21_600_000;
/** How far they may part between two looks. */
const SLACK_MS = 60_000;

/**
 * The time of day for what cannot be undone, as deleting what is old: a clock that is set forward by mistake must
 * not make everything old at once.
 *
 * @returns gives the time, or `null` while the clock has not run evenly for six hours; to be asked now and then,
 * for it knows only what it has seen
 */
export function openSteadyClock({ now_ms, uptime_ms = uptime }: ClockPair): () => number | null {
  let last = { now_ms: now_ms(), uptime_ms: uptime_ms() };
  let steady_since_ms = last.uptime_ms;
  return () => {
    const seen = { now_ms: now_ms(), uptime_ms: uptime_ms() };
    const parted_ms = seen.now_ms - last.now_ms - (seen.uptime_ms - last.uptime_ms);
    if (!(Math.abs(parted_ms) <= SLACK_MS)) steady_since_ms = seen.uptime_ms;
    last = seen;
    return seen.uptime_ms - steady_since_ms >= STEADY_MS ? seen.now_ms : null;
  };
}

function uptime(): number {
  return performance.now();
}
