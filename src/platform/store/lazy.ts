import { lazy } from '../lazy.ts';
import { describeFault, type Log } from '../log.ts';
import { StoreFailure } from './failure.ts';
import type { Store } from './open.ts';

/** The store of a process that may never need it, or that starts before it is there. */
export interface LazyStore {
  /** The store; opened with the first call, and tried again with the next one where that failed. */
  readonly open: () => Promise<Store>;
  /** Whether it is open and answers now. Opens it. Never rejects. */
  readonly isThere: () => Promise<boolean>;
  /** Closes it where it was opened. */
  readonly close: () => Promise<void>;
}

const REPORT_MS = 5_000;

/** @param openNow is called again after each failure; what it fails with is told to the log, now and then */
export function openLazyStore(openNow: () => Promise<Store>, log: Pick<Log, 'error' | 'info'>): LazyStore {
  let reported_ms = Number.NEGATIVE_INFINITY;
  let is_closed = false;
  let was_there = true;

  const report = (fault: unknown): void => {
    if (performance.now() - reported_ms < REPORT_MS) return;
    reported_ms = performance.now();
    log.error('the store cannot be opened, and what needs it is refused', describeStoreFault(fault));
  };
  const store = lazy(() =>
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

/** What the log may hold of a failure. */
export function describeStoreFault(fault: unknown): ReturnType<typeof describeFault> {
  if (!(fault instanceof StoreFailure)) return describeFault(fault);
  return { code: fault.code, system_code: fault.system_code, reason: fault.message };
}
