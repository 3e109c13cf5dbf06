/** A clock that never goes back, so that an expired entry stays expired. */
export interface MemoryClock {
  /** Milliseconds since 1970, UTC; never less than the previous result. */
  readonly now_ms: () => number;
}

/**
 * Opens a clock over the wall clock of the machine. If the wall clock is set back, time continues from the last value
 * at the rate of the steady clock. `latest_ms` is the latest time of any process, so that a restart makes no expired
 * entry valid again.
 */
export function openMemoryClock(
  wall_ms: () => number,
  steady_ms: () => number,
  latest_ms: number,
): MemoryClock {
  let time_ms = Math.max(wall_ms(), latest_ms);
  let seen_ms = steady_ms();
  return {
    now_ms: () => {
      const steady = steady_ms();
      time_ms = Math.max(wall_ms(), time_ms + steady - seen_ms);
      seen_ms = steady;
      return Math.floor(time_ms);
    },
  };
}
