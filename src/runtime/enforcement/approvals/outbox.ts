import type { Selectable } from 'kysely';
import type { Log } from '../../../platform/log.ts';
import type { Store, StoreTables } from '../../../platform/store/index.ts';
import { type ApprovalWebhook, postWebhook } from './webhook.ts';

export interface OutboxParts {
  readonly store: () => Promise<Store>;
  readonly now_ms: () => number;
  readonly webhook: ApprovalWebhook;
  readonly log: Pick<Log, 'warn'>;
}

type Message = Selectable<StoreTables['approval_outbox']>;

/** The number of messages that are sent at a time. */
const BATCH = 8;
const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 3_600_000;

/**
 * Sends a batch of due messages, each at least once. A delivered message is deleted, a failed one is retried
 * later, and dropped after the last attempt. Returns `true` if more may be due.
 */
export async function deliverWebhooks(parts: OutboxParts): Promise<boolean> {
  const { db } = await parts.store();
  const due = await db
    .selectFrom('approval_outbox')
    .selectAll()
    .where('next_attempt_ms', '<=', parts.now_ms())
    .orderBy('next_attempt_ms')
    .limit(BATCH)
    .execute();
  const claimed = await Promise.all(due.map((message) => claim(db, message, parts)));
  await Promise.all(claimed.map((message) => message && send(db, message, parts)));
  return due.length === BATCH;
}

/** Claims a message for one attempt, so that another service on this store does not send it too. */
async function claim(db: Store['db'], message: Message, parts: OutboxParts): Promise<Message | null> {
  const attempts = message.attempts + 1;
  const next_attempt_ms = parts.now_ms() + parts.webhook.timeout_ms + pauseMs(attempts);
  const changed = await db
    .updateTable('approval_outbox')
    .set({ attempts, next_attempt_ms })
    .where('message_id', '=', message.message_id)
    .where('attempts', '=', message.attempts)
    .executeTakeFirst();
  return changed.numUpdatedRows === 1n ? { ...message, attempts } : null;
}

async function send(db: Store['db'], message: Message, parts: OutboxParts): Promise<void> {
  const { webhook, log, now_ms } = parts;
  const { message_id, body, attempts, request_id } = message;
  const timestamp_s = Math.floor(now_ms() / 1_000);
  const sent = await postWebhook({ message_id, body, timestamp_s }, webhook);
  const isLast = attempts >= webhook.max_attempts;
  if (!sent.taken) {
    const reported = { request_id, message_id, attempts, reason: sent.reason };
    log.warn(
      isLast ? 'approvers could not be notified; no more attempts' : 'approvers could not be notified yet',
      reported,
    );
  }
  if (!sent.taken && !isLast) return;
  await db.deleteFrom('approval_outbox').where('message_id', '=', message_id).execute();
}

/** Doubles with each attempt. Half of it is random, so that retries of many messages spread out. */
function pauseMs(attempts: number): number {
  const whole = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** attempts);
  return Math.round(whole / 2 + (Math.random() * whole) / 2);
}
