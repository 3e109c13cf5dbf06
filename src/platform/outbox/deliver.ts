import type { Log } from '../log.ts';
import type { Store } from '../store/index.ts';
import type { OutboxMessage } from './messages.ts';

/** The outcome of one attempt. `permanent`: another attempt would fail too. `reason` is one sentence for operators. */
export type SendResult =
  | { readonly sent: true }
  | {
      readonly sent: false;
      readonly reason: string;
      readonly permanent: boolean;
      readonly retry_after_ms?: number;
    };

/** Sends the messages of one receiver. */
export interface OutboxQueue {
  readonly name: string;
  /** Makes one attempt. Should end when `signal` is aborted. */
  readonly send: (message: OutboxMessage, signal: AbortSignal) => Promise<SendResult>;
  /** The time limit of one attempt, in milliseconds. */
  readonly timeout_ms: number;
  readonly attempts_max: number;
  /** The number of messages that are sent at a time. */
  readonly concurrency: number;
  /** The number of attempts in a minute; `null` for no limit. */
  readonly per_minute_max: number | null;
  readonly close?: () => void | Promise<void>;
}

export type AttemptOutcome = 'sent' | 'failed' | 'dead';

export interface OutboxParts {
  readonly store: () => Promise<Store>;
  readonly now_ms: () => number;
  readonly log: Pick<Log, 'warn'>;
  /** Counts an attempt for metrics. */
  readonly count?: (queue: string, outcome: AttemptOutcome) => void;
}

const PAUSE_MS_MIN = 1_000;
const PAUSE_MS_MAX = 3_600_000;
/** The longest pause that a receiver can ask for. */
const RETRY_AFTER_MS_MAX = 86_400_000;
/** The time after the limit of an attempt in which a sender that ignores its signal may still answer. */
const GRACE_MS = 1_000;

/**
 * Claims due messages of a queue, the most urgent or the oldest first, each for one attempt, so that another service on this store does not send it too. A
 * process that ends before it has written the outcome leaves the message to a later attempt.
 */
export async function claimMessages(
  { store, now_ms }: OutboxParts,
  queue: OutboxQueue,
  count: number,
  first: 'urgent' | 'oldest' = 'urgent',
): Promise<{ readonly claimed: readonly OutboxMessage[]; readonly found: number }> {
  const { db } = await store();
  const due = await db
    .selectFrom('outbox_messages as message')
    .selectAll()
    .where('queue', '=', queue.name)
    .where('status', '=', 'pending')
    .where('next_attempt_ms', '<=', now_ms())
    .where((eb) =>
      eb.or([
        eb('order_key', 'is', null),
        eb.not(
          eb.exists(
            eb
              .selectFrom('outbox_messages as earlier')
              .select('earlier.delivery_id')
              .whereRef('earlier.order_key', '=', 'message.order_key')
              .whereRef('earlier.queue', '=', 'message.queue')
              .where('earlier.status', '=', 'pending')
              .whereRef('earlier.delivery_id', '<', 'message.delivery_id'),
          ),
        ),
      ]),
    )
    .$if(first === 'urgent', (query) => query.orderBy('urgency', 'desc'))
    .orderBy('next_attempt_ms')
    .orderBy('delivery_id')
    .limit(count)
    .execute();
  const claimed = await Promise.all(due.map((message) => claimMessage(db, message, queue, now_ms())));
  return { claimed: claimed.filter((each) => each !== null), found: due.length };
}

async function claimMessage(
  db: Store['db'],
  message: OutboxMessage,
  { timeout_ms }: OutboxQueue,
  nowMs: number,
): Promise<OutboxMessage | null> {
  const attempts = message.attempts + 1;
  const nextAttemptMs = nowMs + timeout_ms + computePauseMs(attempts);
  const changed = await db
    .updateTable('outbox_messages')
    .set({ attempts, next_attempt_ms: nextAttemptMs })
    .where('delivery_id', '=', message.delivery_id)
    .where('attempts', '=', message.attempts)
    .where('status', '=', 'pending')
    .executeTakeFirst();
  return changed.numUpdatedRows === 1n ? { ...message, attempts, next_attempt_ms: nextAttemptMs } : null;
}

/** Makes one attempt for a claimed message and writes its outcome. */
export async function attemptMessage(
  parts: OutboxParts,
  queue: OutboxQueue,
  message: OutboxMessage,
  stopped: AbortSignal | null = null,
): Promise<SendResult> {
  const result = await sendInTime(queue, message, stopped);
  // A stop is no failure of the receiver: the message is attempted again after the claim.
  if (!result.sent && stopped?.aborted === true) return result;
  const { db } = await parts.store();
  const nowMs = parts.now_ms();
  const outcome = getOutcome(result, message, queue);
  parts.count?.(queue.name, outcome);
  if (!result.sent) reportFailure(parts, message, outcome, result.reason);
  const retryMs = result.sent ? 0 : Math.min(result.retry_after_ms ?? 0, RETRY_AFTER_MS_MAX);
  await db
    .updateTable('outbox_messages')
    .set(
      outcome === 'failed'
        ? {
            reason: result.sent ? null : result.reason,
            next_attempt_ms: Math.max(message.next_attempt_ms, nowMs + retryMs),
          }
        : { status: outcome, finished_ms: nowMs, reason: result.sent ? null : result.reason },
    )
    .where('delivery_id', '=', message.delivery_id)
    .where('status', '=', 'pending')
    .execute();
  return result;
}

function getOutcome(result: SendResult, { attempts }: OutboxMessage, queue: OutboxQueue): AttemptOutcome {
  if (result.sent) return 'sent';
  return result.permanent || attempts >= queue.attempts_max ? 'dead' : 'failed';
}

function reportFailure(
  { log }: OutboxParts,
  { queue, subject_id, delivery_id, attempts }: OutboxMessage,
  outcome: AttemptOutcome,
  reason: string,
): void {
  const said =
    outcome === 'dead'
      ? 'a message could not be delivered; no more attempts'
      : 'a message could not be delivered yet';
  log.warn(said, { queue, subject_id, delivery_id, attempts, reason });
}

/** Limits an attempt in time, also if the sender ignores its signal. A sender that throws has failed. */
async function sendInTime(
  { send, timeout_ms }: OutboxQueue,
  message: OutboxMessage,
  stopped: AbortSignal | null,
): Promise<SendResult> {
  const limit = new AbortController();
  const abort = () => limit.abort();
  stopped?.addEventListener('abort', abort, { once: true });
  const late = Promise.withResolvers<SendResult>();
  const timers = [
    setTimeout(abort, timeout_ms),
    setTimeout(
      () => late.resolve({ sent: false, reason: 'It did not answer in time.', permanent: false }),
      timeout_ms + GRACE_MS,
    ),
  ];
  try {
    return await Promise.race([send(message, limit.signal), late.promise]);
  } catch {
    // The error may hold an address with a credential.
    return { sent: false, reason: 'Sending failed because of an internal error.', permanent: false };
  } finally {
    for (const timer of timers) clearTimeout(timer);
    stopped?.removeEventListener('abort', abort);
  }
}

/** Returns the pause before the next attempt. It doubles; half of it is random, so that retries spread out. */
export function computePauseMs(attempts: number): number {
  const whole = Math.min(PAUSE_MS_MAX, PAUSE_MS_MIN * 2 ** attempts);
  return Math.round(whole / 2 + (Math.random() * whole) / 2);
}

/** Attempts one batch of due messages and waits for all. Returns `true` if more may be due. */
export async function deliverBatch(parts: OutboxParts, queue: OutboxQueue): Promise<boolean> {
  const { claimed, found } = await claimMessages(parts, queue, queue.concurrency);
  await Promise.all(claimed.map((message) => attemptMessage(parts, queue, message)));
  return found === queue.concurrency;
}
