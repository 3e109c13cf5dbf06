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
  let reportedMs = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  let wasThere = true;

  const report = (fault: unknown): void => {
    if (performance.now() - reportedMs < REPORT_MS) return;
    reportedMs = performance.now();
    log.error('the store cannot be opened, and what needs it is refused', describeStoreFault(fault));
  };
  const store = createLazyValue(() =>
    openNow().catch((fault: unknown) => {
      report(fault);
      throw fault;
    }),
  );
  const open = (): Promise<Store> =>
    isClosed ? Promise.reject(new StoreFailure('store_closed', 'The service is stopping.')) : store.open();
  return {
    open,
    isThere: async () => {
      const isThere = await open().then(
        (store) => store.isThere(),
        () => false,
      );
      if (wasThere && !isThere && !isClosed)
        log.error('the store does not answer, and what needs it is refused');
      if (!wasThere && isThere) log.info('the store answers again');
      wasThere = isThere;
      return isThere;
    },
    close: async () => {
      isClosed = true;
      await store.ifOpened(({ close }) => close());
    },
  };
}

/** Describes a store failure for the log. */
export function describeStoreFault(fault: unknown): ReturnType<typeof describeFault> {
  if (!(fault instanceof StoreFailure)) return describeFault(fault);
  return { code: fault.code, system_code: fault.system_code, reason: fault.message };
}
