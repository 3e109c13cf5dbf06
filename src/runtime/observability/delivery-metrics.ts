import type { AttemptOutcome } from '../../platform/outbox/deliver.ts';
import { countPending } from '../../platform/outbox/messages.ts';
import type { Store } from '../../platform/store/index.ts';
import { buildCounter, buildGauge, type Metric } from './metric.ts';

/** Counts the attempts to deliver messages. */
export interface DeliveryMetrics {
  /** `queue` is a queue of the outbox: `alerts/<channel>` or `approvals`. */
  readonly countAttempt: (queue: string, outcome: AttemptOutcome) => void;
  /** Returns the metrics. Queue lengths come from the store, and are left out while it does not respond. */
  readonly list: (store: Store) => Promise<readonly Metric[]>;
}

/** Opens the counters. The process that sends messages opens them. */
export function openDeliveryMetrics(): DeliveryMetrics {
  const attempts = new Map<string, { queue: string; outcome: AttemptOutcome; count: number }>();
  return {
    countAttempt: (queue, outcome) => {
      const key = `${outcome} ${queue}`;
      const known = attempts.get(key) ?? { queue, outcome, count: 0 };
      known.count += 1;
      attempts.set(key, known);
    },
    list: async (store) => [
      buildCounter(
        'service_deliveries_total',
        'Attempts to deliver messages to channels: sent, failed (tried again) or dead (given up).',
        [...attempts.values()].map(({ queue, outcome, count }) => ({
          value: count,
          labels: { queue, outcome },
        })),
      ),
      ...(await listQueues(store)),
    ],
  };
}

async function listQueues(store: Store): Promise<readonly Metric[]> {
  try {
    const queues = await store.db.selectFrom('outbox_messages').select('queue').distinct().execute();
    const values = await Promise.all(
      queues.map(async ({ queue }) => ({ value: await countPending(store.db, queue), labels: { queue } })),
    );
    return [
      buildGauge('service_deliveries_pending', 'Messages that wait for delivery, by queue.', values, 'max'),
    ];
  } catch {
    return [];
  }
}
