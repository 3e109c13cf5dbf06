import type { ApprovalRecord, WaitResult } from './types.ts';

/** The polling interval: one query serves all waiting callers. */
const LOOK_MS = 250;
/** The number of waiting callers in one process. */
const WAITERS_MAX = 1_000;

interface Waiter {
  readonly request_id: string;
  /** `late`: the deadline passed, so read the current record. */
  readonly settle: (record: ApprovalRecord | null | 'late') => void;
  readonly fail: (fault: unknown) => void;
}

export interface WaitList {
  readonly wait: (requestId: string, waitMs: number, signal: AbortSignal | null) => Promise<WaitResult>;
  /** Reads the request immediately if a caller waits for it, because another process has changed it. */
  readonly look: (requestId: string) => void;
  readonly release: () => void;
}

/**
 * Lets callers wait for requests to be decided. While at least one waits, the store is polled every 250 ms, because a
 * hint from another process may be lost. A failed query rejects all waiting calls.
 *
 * @param look reads the requests with these ids; a missing request is left out
 */
export function openWaitList(
  look: (requestIds: readonly string[]) => Promise<readonly ApprovalRecord[]>,
): WaitList {
  const waiters = new Set<Waiter>();
  let timer: NodeJS.Timeout | null = null;
  let isReleased = false;
  let isLooking = false;
  let mustLookAgain = false;

  async function lookOnce(): Promise<void> {
    const request = [...waiters];
    isLooking = true;
    try {
      const records = await look([...new Set(request.map(({ request_id }) => request_id))]);
      const known = new Map(records.map((record) => [record.request_id, record]));
      for (const waiter of request) {
        const record = known.get(waiter.request_id) ?? null;
        if (record?.status !== 'pending') waiter.settle(record);
      }
    } catch (fault) {
      for (const waiter of request) waiter.fail(fault);
    }
    isLooking = false;
    scheduleNext(mustLookAgain ? 0 : LOOK_MS);
    mustLookAgain = false;
  }

  function scheduleNext(delayMs: number): void {
    timer = waiters.size === 0 || isReleased ? null : setTimeout(() => void lookOnce(), delayMs).unref();
  }

  function lookFor(requestId: string): void {
    if (isReleased || ![...waiters].some((waiter) => waiter.request_id === requestId)) return;
    // The present look may be older than the change.
    if (isLooking) mustLookAgain = true;
    else {
      if (timer !== null) clearTimeout(timer);
      scheduleNext(0);
    }
  }

  async function readNow(requestId: string): Promise<WaitResult> {
    return { waited: true, record: (await look([requestId]))[0] ?? null };
  }

  return {
    wait: async (requestId, waitMs, signal) => {
      const first = await readNow(requestId);
      const isOver = isReleased || waitMs === 0 || signal?.aborted === true;
      if (isOver || !first.waited || first.record?.status !== 'pending') return first;
      if (waiters.size >= WAITERS_MAX) return { waited: false, cause: 'too_many' };
      const { promise, resolve, reject } = Promise.withResolvers<ApprovalRecord | null | 'late'>();
      const waiter: Waiter = { request_id: requestId, settle: resolve, fail: reject };
      const giveUp = () => resolve('late');
      const deadline = setTimeout(giveUp, waitMs);
      signal?.addEventListener('abort', giveUp, { once: true });
      waiters.add(waiter);
      if (timer === null && !isLooking) scheduleNext(LOOK_MS);
      try {
        const record = await promise;
        return record === 'late' ? await readNow(requestId) : { waited: true, record };
      } finally {
        waiters.delete(waiter);
        clearTimeout(deadline);
        signal?.removeEventListener('abort', giveUp);
      }
    },
    look: lookFor,
    release: () => {
      isReleased = true;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      for (const waiter of waiters) waiter.settle('late');
    },
  };
}
