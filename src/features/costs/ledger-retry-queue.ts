import type { SpendRequest } from '../../operations/model-costs.ts';
import type { Log } from '../../platform/log.ts';
import type { LedgerEntry } from './ledger.ts';

/** Ledger entries that failed because the store was unavailable. */
export interface LedgerRetryQueue {
  readonly add: (booking: LedgerEntry, spendRequest: SpendRequest) => void;
  /** Tries all waiting entries once more. */
  readonly close: () => Promise<void>;
}

const RETRY_MS = 1_000;
/**
 * The number of waiting entries. Beyond it entries are dropped, and their reservations are charged in full when they
 * expire.
 */
const WAITING_MAX = 10_000;

/**
 * Opens the queue, which retries entries until the store accepts them. Settling a reservation twice charges it once.
 */
export function openLedgerRetryQueue(
  apply: (booking: LedgerEntry, spendRequest: SpendRequest) => Promise<unknown>,
  log: Pick<Log, 'error'>,
): LedgerRetryQueue {
  let waiting: (readonly [LedgerEntry, SpendRequest])[] = [];
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  const add = (booking: LedgerEntry, spendRequest: SpendRequest): void => {
    if (waiting.length < WAITING_MAX) waiting.push([booking, spendRequest]);
    else log.error('a booking is given up: too many wait for the store');
    if (isClosed) return;
    timer ??= setTimeout(() => void tryAll(), RETRY_MS).unref();
  };
  const tryAll = async (): Promise<void> => {
    timer = null;
    const tried = waiting;
    waiting = [];
    await Promise.all(
      tried.map(([booking, spendRequest]) =>
        apply(booking, spendRequest).catch(() => add(booking, spendRequest)),
      ),
    );
  };
  return {
    add,
    close: async () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await tryAll();
    },
  };
}
