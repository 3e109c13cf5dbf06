/** Counts wrong tokens per caller, to stop guessing. */
export interface WrongTokenCounter {
  /** Returns whether the caller presented so many wrong tokens that further ones are not checked for now. */
  readonly isThrottled: (who: string) => boolean;
  readonly note: (who: string) => void;
}

/** Wrong tokens per window. */
const WRONG_MAX = 20;
const WINDOW_MS = 60_000;
const CALLERS_MAX = 10_000;

/** @param nowMs a monotonic clock */
export function openWrongTokenCounter(nowMs: () => number): WrongTokenCounter {
  const wrong = new Map<string, { count: number; readonly until_ms: number }>();
  const current = (who: string) => {
    const entry = wrong.get(who);
    return entry !== undefined && nowMs() < entry.until_ms ? entry : null;
  };
  return {
    isThrottled: (who) => (current(who)?.count ?? 0) >= WRONG_MAX,
    note: (who) => {
      const entry = current(who);
      if (entry !== null) {
        entry.count += 1;
        return;
      }
      wrong.delete(who);
      // The oldest window is dropped first.
      for (const oldest of wrong.keys()) {
        if (wrong.size < CALLERS_MAX) break;
        wrong.delete(oldest);
      }
      wrong.set(who, { count: 1, until_ms: nowMs() + WINDOW_MS });
    },
  };
}
