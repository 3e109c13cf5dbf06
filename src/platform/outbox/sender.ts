import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { describeStoreFault } from '../store/lazy.ts';
import { attemptMessage, claimMessages, type OutboxParts, type OutboxQueue } from './deliver.ts';

export interface OutboxSender {
  /** Claims no more messages and aborts the current attempts. Resolves when they have ended, or after five seconds. */
  readonly close: () => Promise<void>;
}

/** The interval between two looks for due messages, in milliseconds. */
const POLL_MS = 1_000;
/** Every so many looks send the oldest message, so that urgent ones never hold back all others. */
const OLDEST_EVERY = 4;
const CLOSE_MS = 5_000;
const MINUTE_MS = 60_000;
/** The longest time for which one answer stops a whole queue. */
const PAUSE_MS_MAX = 900_000;

interface SenderParts extends OutboxParts {
  readonly log: Pick<Log, 'warn' | 'error'>;
  /** Returns whether this node sends the queue of that name now. Default: it does. */
  readonly takeJob?: (name: string) => Promise<boolean>;
}

/** Sends the messages of all queues until it is closed. Each queue has its own pace, so none delays another. */
export function startOutbox(parts: SenderParts, queues: readonly OutboxQueue[]): OutboxSender {
  const senders = queues.map((queue) => startQueue(parts, queue));
  return {
    close: async () => {
      await Promise.all(senders.map(({ close }) => close()));
    },
  };
}

function startQueue(parts: SenderParts, queue: OutboxQueue): OutboxSender {
  const stopped = new AbortController();
  const running = new Set<Promise<unknown>>();
  const claim = openClaims(parts, queue);
  const budget = openRateLimit(queue.per_minute_max);
  let pausedUntil = 0;
  let timer: NodeJS.Timeout | null = null;
  let isLooking = false;

  const plan = (delayMs: number): void => {
    if (stopped.signal.aborted) return;
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(() => void look(), delayMs).unref();
  };
  const attempt = (message: Parameters<typeof attemptMessage>[2]): void => {
    const attempting = attemptMessage(parts, queue, message, stopped.signal)
      .then((result) => {
        // A receiver that names a time is overloaded, so the other messages wait as well.
        if (!result.sent && result.retry_after_ms !== undefined)
          pausedUntil = performance.now() + Math.min(result.retry_after_ms, PAUSE_MS_MAX);
      })
      .catch((fault) => parts.log.error(FAULT, { queue: queue.name, ...describeStoreFault(fault) }))
      .finally(() => {
        running.delete(attempting);
        plan(0);
      });
    running.add(attempting);
  };
  async function look(): Promise<void> {
    if (isLooking || stopped.signal.aborted) return;
    isLooking = true;
    let found = 0;
    const free = performance.now() < pausedUntil ? 0 : budget.take(queue.concurrency - running.size);
    try {
      const isSender = free > 0 && (await isOwn(queue, parts));
      if (!isSender) budget.giveBack(free);
      else {
        const due = await claim(free);
        found = due.found;
        budget.giveBack(free - due.claimed.length);
        if (!stopped.signal.aborted) for (const message of due.claimed) attempt(message);
      }
    } catch (fault) {
      parts.log.error(FAULT, { queue: queue.name, ...describeStoreFault(fault) });
    }
    isLooking = false;
    plan(found > 0 && running.size < queue.concurrency ? 0 : POLL_MS);
  }

  plan(POLL_MS);
  return {
    close: async () => {
      stopped.abort();
      if (timer !== null) clearTimeout(timer);
      const late = new AbortController();
      const waited = sleep(CLOSE_MS, null, { signal: late.signal }).catch(() => {});
      await Promise.race([Promise.allSettled(running), waited]);
      late.abort();
      await queue.close?.();
    },
  };
}

/** One node sends a queue, so that its limit of attempts holds for all nodes together. */
async function isOwn({ name }: OutboxQueue, { takeJob }: SenderParts): Promise<boolean> {
  return takeJob === undefined || takeJob(`outbox: ${name}`);
}

function openClaims(parts: SenderParts, queue: OutboxQueue) {
  let looks = 0;
  return (free: number) => {
    looks += 1;
    return looks % OLDEST_EVERY === 0
      ? claimMessages(parts, queue, 1, 'oldest')
      : claimMessages(parts, queue, free);
  };
}

const FAULT = 'messages of the outbox could not be read or written, and are tried again';

interface RateLimit {
  /** Returns how many of the wanted attempts may be made now. */
  readonly take: (wanted: number) => number;
  readonly giveBack: (unused: number) => void;
}

/** Opens a token bucket that holds a tenth of a minute's attempts, at least one. */
function openRateLimit(perMinuteMax: number | null): RateLimit {
  if (perMinuteMax === null) return { take: (wanted) => Math.max(0, wanted), giveBack: () => {} };
  const capacity = Math.max(1, perMinuteMax / 10);
  let tokens = capacity;
  let at = performance.now();
  return {
    take: (wanted) => {
      const now = performance.now();
      tokens = Math.min(capacity, tokens + ((now - at) * perMinuteMax) / MINUTE_MS);
      at = now;
      const taken = Math.max(0, Math.min(wanted, Math.floor(tokens)));
      tokens -= taken;
      return taken;
    },
    giveBack: (unused) => {
      tokens += unused;
    },
  };
}
