/** A clock that never goes back. What it has called expired stays so. */
export interface MemoryClock {
  /** Milliseconds since 1970, UTC; never less than before. */
  readonly now_ms: () => number;
}

/**
 * Opens a clock over the wall clock of the machine. Where that is set back, time goes on from where it was, at the pace
 * of the steady clock. `latest_ms` is how far any process had come, so that a restart does not bring anything back.
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
