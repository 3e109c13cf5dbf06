/** Something that is opened with its first use. */
export interface Lazy<Value> {
  /** The value. Opens it with the first call, and again with the next call after a failure. */
  readonly open: () => Promise<Value>;
  /** Runs `use` on what was opened, or is being opened; does nothing where nobody asked, or where that failed. */
  readonly ifOpened: (use: (value: Value) => unknown) => Promise<void>;
}

/**
 * Opens a value on demand, once for all callers. A failed opening is forgotten: kept, it would refuse every later
 * call although the cause is gone.
 */
export function lazy<Value>(openNow: () => Promise<Value>): Lazy<Value> {
  let opened: Promise<Value> | null = null;
  const begin = (): Promise<Value> => {
    const opening = openNow();
    opened = opening;
    opening.catch(() => {
      if (opened === opening) opened = null;
    });
    return opening;
  };
  return {
    open: () => opened ?? begin(),
    ifOpened: async (use) => {
      const outcome = await opened?.then(
        (value) => ({ value }),
        () => null,
      );
      if (outcome) await use(outcome.value);
    },
  };
}
