import type { Log } from '../../platform/log.ts';
import type { LedgerEntry } from './ledger.ts';
import type { SpendRequest } from './types.ts';

/** Bookings that met a store that was away. */
export interface LedgerRetryQueue {
  readonly add: (booking: LedgerEntry, ask: SpendRequest) => void;
  /** Tries all of them a last time. */
  readonly close: () => Promise<void>;
}

const RETRY_MS = 1_000;
/** Past it bookings are given up: what was put aside for their calls is counted as spent when its time is over. */
const WAITING_MAX = 10_000;

/** Tries them again until they are booked. What is settled twice is booked once. */
export function openLedgerRetryQueue(
  book: (booking: LedgerEntry, ask: SpendRequest) => Promise<unknown>,
  log: Pick<Log, 'error'>,
): LedgerRetryQueue {
  let waiting: (readonly [LedgerEntry, SpendRequest])[] = [];
  let timer: NodeJS.Timeout | null = null;
  let is_closed = false;

  const add = (booking: LedgerEntry, ask: SpendRequest): void => {
    if (waiting.length < WAITING_MAX) waiting.push([booking, ask]);
    else log.error('a booking is given up: too many wait for the store');
    if (is_closed) return;
    timer ??= setTimeout(() => void tryAll(), RETRY_MS).unref();
  };
  const tryAll = async (): Promise<void> => {
    timer = null;
    const tried = waiting;
    waiting = [];
    await Promise.all(tried.map(([booking, ask]) => book(booking, ask).catch(() => add(booking, ask))));
  };
  return {
    add,
    close: async () => {
      is_closed = true;
      if (timer !== null) clearTimeout(timer);
      await tryAll();
    },
  };
}
