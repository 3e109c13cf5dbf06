import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../../platform/store/index.ts';

/** A slow database must not delay the other metrics. */
const COUNT_MS_MAX = 1_000;

/** Counts the requests that are pending and have not expired; `null` if the store does not answer in a second. */
export async function countPendingApprovals(
  store: () => Promise<Store>,
  nowMs: number,
): Promise<number | null> {
  const late = new AbortController();
  try {
    return await Promise.race([
      store()
        .then((opened) => queryPendingCount(opened, nowMs))
        .catch(() => null),
      sleep(COUNT_MS_MAX, null, { signal: late.signal }),
    ]);
  } finally {
    late.abort();
  }
}

async function queryPendingCount(store: Store, nowMs: number): Promise<number> {
  const row = await store.db
    .selectFrom('approval_requests')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('status', '=', 'pending')
    .where('expires_ms', '>', nowMs)
    .executeTakeFirstOrThrow();
  return row.count;
}
