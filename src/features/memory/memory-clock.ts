/** A clock that never goes back, so that an expired entry stays expired. */
export interface MemoryClock {
  /** Milliseconds since 1970, UTC; never less than the previous result. */
  readonly now_ms: () => number;
}

/**
 * Opens a clock over the wall clock of the machine. If the wall clock is set back, time continues from the last value
 * at the rate of the steady clock. `latestMs` is the latest time of any process, so that a restart makes no expired
 * entry valid again.
 */
export function openMemoryClock(wallMs: () => number, steadyMs: () => number, latestMs: number): MemoryClock {
  let timeMs = Math.max(wallMs(), latestMs);
  let seenMs = steadyMs();
  return {
    now_ms: () => {
      const steady = steadyMs();
      timeMs = Math.max(wallMs(), timeMs + steady - seenMs);
      seenMs = steady;
      return Math.floor(timeMs);
    },
  };
}
