import type { ApiKey } from './settings.ts';

/** The API keys of a process. A reload replaces them. */
export interface ApiKeys {
  readonly current: () => readonly ApiKey[];
  /** Replaces the keys at once. */
  readonly replace: (keys: readonly ApiKey[]) => void;
  /** Calls `listener` after each change, until the returned function is called. */
  readonly onChange: (listener: () => void) => () => void;
}

/** Opens the keys that the configuration lists. */
export function openApiKeys(first: readonly ApiKey[]): ApiKeys {
  let keys = first;
  const listeners = new Set<() => void>();
  return {
    current: () => keys,
    replace: (next) => {
      keys = next;
      for (const listener of listeners) listener();
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
