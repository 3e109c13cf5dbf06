/** One at a time, in the order in which they came. */
export interface WriteTurns {
  /** Resolves when it is the caller's turn; rejects with `late()` when that has not come in time. */
  readonly take: () => Promise<void>;
  /** Ends the turn. */
  readonly give: () => void;
}

/** @param late makes what a caller hears who waited for `patience_ms` */
export function openWriteTurns(patience_ms: number, late: () => Error): WriteTurns {
  const waiting = new Set<() => void>();
  let taken = false;
  return {
    take: () => {
      if (!taken) {
        taken = true;
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const begin = (): void => {
          clearTimeout(timer);
          resolve();
        };
        const timer = setTimeout(() => {
          waiting.delete(begin);
          reject(late());
        }, patience_ms);
        waiting.add(begin);
      });
    },
    give: () => {
      const [next] = waiting;
      if (next === undefined) taken = false;
      else {
        waiting.delete(next);
        next();
      }
    },
  };
}
