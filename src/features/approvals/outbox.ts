import type { OutboxQueue } from '../../platform/outbox/deliver.ts';
import { type ApprovalWebhook, postWebhook } from './webhook.ts';

/** The queue of messages to the webhook of approvals. */
export const APPROVAL_QUEUE = 'approvals';

/** The number of messages that are sent at a time. */
const CONCURRENCY = 8;

/** Builds the queue of the outbox that sends to the webhook of approvals. */
export function buildApprovalQueue(webhook: ApprovalWebhook, nowMs: () => number): OutboxQueue {
  return {
    name: APPROVAL_QUEUE,
    timeout_ms: webhook.timeout_ms,
    attempts_max: webhook.max_attempts,
    concurrency: CONCURRENCY,
    per_minute_max: null,
    send: async ({ delivery_id, body }) => {
      const timestampS = Math.floor(nowMs() / 1_000);
      const posted = await postWebhook({ message_id: delivery_id, body, timestamp_s: timestampS }, webhook);
      return posted.taken ? { sent: true } : { sent: false, reason: posted.reason, permanent: false };
    },
  };
}
