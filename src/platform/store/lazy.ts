import { createLazyValue } from '../lazy.ts';
import { describeFault, type Log } from '../log.ts';
import { StoreFailure } from './failure.ts';
import type { Store } from './open.ts';

/** The store of a process that may never use it, or that starts before the store is reachable. */
export interface LazyStore {
  /** Returns the store. The first call opens it; after a failure, the next call tries again. */
  readonly open: () => Promise<Store>;
  /** Returns whether the store opens and responds. Never rejects. */
  readonly isThere: () => Promise<boolean>;
  /** Closes the store if it is open. */
  readonly close: () => Promise<void>;
}

const REPORT_MS = 5_000;

/** @param openNow - opens the store; called again after a failure. Failures are logged at most every five seconds */
export function openLazyStore(openNow: () => Promise<Store>, log: Pick<Log, 'error' | 'info'>): LazyStore {
  let reported_ms = Number.NEGATIVE_INFINITY;
  let is_closed = false;
  let was_there = true;

  const report = (fault: unknown): void => {
    if (performance.now() - reported_ms < REPORT_MS) return;
    reported_ms = performance.now();
    log.error('the store cannot be opened, and what needs it is refused', describeStoreFault(fault));
  };
  const store = createLazyValue(() =>
    openNow().catch((fault: unknown) => {
      report(fault);
      throw fault;
    }),
  );
  const open = (): Promise<Store> =>
    is_closed ? Promise.reject(new StoreFailure('store_closed', 'The service is stopping.')) : store.open();
  return {
    open,
    isThere: async () => {
      const is_there = await open().then(
        (store) => store.isThere(),
        () => false,
      );
      if (was_there && !is_there && !is_closed)
        log.error('the store does not answer, and what needs it is refused');
      if (!was_there && is_there) log.info('the store answers again');
      was_there = is_there;
      return is_there;
    },
    close: async () => {
      is_closed = true;
      await store.ifOpened(({ close }) => close());
    },
  };
}

/** Describes a store failure for the log. */
export function describeStoreFault(fault: unknown): ReturnType<typeof describeFault> {
  if (!(fault instanceof StoreFailure)) return describeFault(fault);
  return { code: fault.code, system_code: fault.system_code, reason: fault.message };
}
