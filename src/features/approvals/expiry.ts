import { OPEN_STATUSES } from './lifecycle.ts';
import type { ApprovalsParts } from './parts.ts';
import { hasExpired, lockRequestRow } from './rows.ts';
import { CLOCK_ACTOR, transitionRequest } from './transitions.ts';

/** Rows per batch. */
const BATCH = 100;

/** Stores the expiry of a batch of requests. Returns `true` if there may be more. */
export async function expireRequests(parts: ApprovalsParts): Promise<boolean> {
  const { db } = await parts.store();
  const due = await db
    .selectFrom('approval_requests')
    .select('request_id')
    .where('status', 'in', OPEN_STATUSES)
    .where('expires_ms', '<=', parts.now_ms())
    .limit(BATCH)
    .execute();
  for (const { request_id } of due) await expireRequest(request_id, parts);
  return due.length === BATCH;
}

/**
 * Deletes a batch of requests that ended long ago. The journal keeps their events for its own retention time.
 * Returns `true` if there may be more.
 */
export async function deleteOldRequests(parts: ApprovalsParts): Promise<boolean> {
  const { transaction } = await parts.store();
  const beforeMs = parts.now_ms() - parts.limits.keep_ms;
  return transaction(async (trx) => {
    const old = await trx
      .selectFrom('approval_requests')
      .select('request_id')
      .where('status', 'not in', OPEN_STATUSES)
      .where('expires_ms', '<', beforeMs)
      .limit(BATCH)
      .execute();
    if (old.length === 0) return false;
    const ids = old.map(({ request_id }) => request_id);
    await trx.deleteFrom('approval_votes').where('request_id', 'in', ids).execute();
    await trx.deleteFrom('approval_requests').where('request_id', 'in', ids).execute();
    return old.length === BATCH;
  });
}

/** Stores the expiry of a request that has expired, so that it stays expired if the clock is set back. */
export async function expireRequest(requestId: string, parts: ApprovalsParts): Promise<boolean> {
  const store = await parts.store();
  return store.transaction(async (trx) => {
    const row = await lockRequestRow(trx, requestId);
    if (row === null || !hasExpired(row, parts.now_ms())) return false;
    await transitionRequest(trx, row, 'expired', CLOCK_ACTOR, parts);
    return true;
  });
}
