import type { Log } from '../../platform/log.ts';
import type { Store } from '../../platform/store/index.ts';
import { describeStoreFault } from '../../platform/store/lazy.ts';
import { addFigures, addSpending, hashSpendingKey } from './spending.ts';
import type { SpendingRow } from './types.ts';

/** A buffer for spending that no budget depends on. It collects rows and writes them together. */
export interface SpendingBuffer {
  readonly add: (line: SpendingRow) => void;
  /** Writes the buffered rows; resolves after one attempt. Never rejects. */
  readonly flush: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The time that a row waits at most, which is what a killed process may lose. */
const FLUSH_MS = 250;
/**
 * The rows that wait while the store is unavailable; rows with the same key are merged. Beyond it rows with new keys
 * are lost, and the service log reports how many.
 */
const LINES_MAX = 10_000;
/** The rows that one transaction writes. */
const CHANGE_MAX = 500;
const RETRY_MS = 2_000;

/** Opens the buffer. */
export function openSpendingBuffer(store: () => Promise<Store>, log: Pick<Log, 'error'>): SpendingBuffer {
  const lines = new Map<string, SpendingRow>();
  let lost = 0;
  let timer: NodeJS.Timeout | null = null;
  let last: Promise<void> = Promise.resolve();

  const plan = (delayMs: number): void => {
    timer ??= setTimeout(() => void flush(), delayMs).unref();
  };
  const put = (line: SpendingRow): void => {
    const id = hashSpendingKey(line);
    const known = lines.get(id);
    if (known !== undefined) lines.set(id, { ...line, ...addFigures(known, line) });
    else if (lines.size < LINES_MAX) lines.set(id, line);
    else lost += 1;
  };
  const writeAll = async (): Promise<void> => {
    const taken = [...lines.values()];
    lines.clear();
    for (let at = 0; at < taken.length; at += CHANGE_MAX) {
      try {
        const part = taken.slice(at, at + CHANGE_MAX);
        const open = await store();
        await open.transaction((trx) => addSpending(trx, part));
      } catch (fault) {
        for (const line of taken.slice(at)) put(line);
        log.error('spending cannot be recorded yet', {
          lines: lines.size,
          lost,
          ...describeStoreFault(fault),
        });
        plan(RETRY_MS);
        return;
      }
    }
  };
  const flush = (): Promise<void> => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    last = last.then(writeAll);
    return last;
  };
  return {
    add: (line) => {
      put(line);
      plan(FLUSH_MS);
    },
    flush,
    close: async () => {
      await flush();
      if (timer !== null) clearTimeout(timer);
    },
  };
}
