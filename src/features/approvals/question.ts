import type { ApprovalRequestRow, StoreTransaction } from './rows.ts';

/** Equal requests that are approved before a rule is proposed. */
const APPROVED_MIN = 5;
const WITHIN_MS = 7 * 86_400_000;
/** Equal requests that are read. */
const READ_MAX = 100;

/** Returns whether equal questions were approved often within seven days, and never denied. */
export async function wasOftenApproved(
  db: StoreTransaction,
  { question_key, requested_ms }: Pick<ApprovalRequestRow, 'question_key' | 'requested_ms'>,
): Promise<boolean> {
  if (question_key === null) return false;
  const answered = await db
    .selectFrom('approval_requests')
    .select('status')
    .where('question_key', '=', question_key)
    .where('requested_ms', '>', requested_ms - WITHIN_MS)
    .where('status', 'in', ['approved', 'consumed', 'denied', 'expired'])
    // An expired request that no approver decided says nothing.
    .where('decided_ms', 'is not', null)
    .orderBy('requested_ms', 'desc')
    .limit(READ_MAX)
    .execute();
  const isDenied = answered.some(({ status }) => status === 'denied');
  return !isDenied && answered.length >= APPROVED_MIN;
}
