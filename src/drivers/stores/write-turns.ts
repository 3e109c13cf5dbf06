/** A mutex that serves callers in the order of their calls. */
export interface WriteTurns {
  /** Resolves when it is the caller's turn; rejects with `late()` after `patienceMs`. */
  readonly take: () => Promise<void>;
  /** Ends the turn. */
  readonly give: () => void;
}

/** @param late - builds the error for a caller that timed out after `patienceMs` */
export function openWriteTurns(patienceMs: number, late: () => Error): WriteTurns {
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
        }, patienceMs);
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
