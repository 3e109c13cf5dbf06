/** A value that is opened on first use. */
export interface Lazy<Value> {
  /** Returns the value. The first call opens it. After a failure, the next call tries again. */
  readonly open: () => Promise<Value>;
  /** Calls `use` with the value if it is open or opening. Does nothing if it was never opened, or failed to open. */
  readonly ifOpened: (use: (value: Value) => unknown) => Promise<void>;
}

/**
 * Opens a value on demand, once for all callers. A failure is not cached, because its cause may be gone by the next
 * call.
 */
export function createLazyValue<Value>(openNow: () => Promise<Value>): Lazy<Value> {
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
