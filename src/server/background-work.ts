import type { BackgroundParts } from '../operations/feature.ts';
import { startMaintenance } from '../platform/store/maintenance.ts';
import type { DeliveryMetrics } from '../runtime/observability/delivery-metrics.ts';
import type { Metric } from '../runtime/observability/metric.ts';
import { features } from './features.ts';

/** A part of the process that ends with it. */
export interface Closeable {
  readonly close: () => Promise<void>;
}

/** The work that one process does for the whole service. */
export interface BackgroundWork {
  readonly opened: readonly Closeable[];
  readonly listMetrics: () => Promise<readonly Metric[]>;
}

/**
 * Starts the maintenance jobs and the outbox. Loads them on demand, because they import every subject and all
 * detectors, which would delay the workers.
 */
export async function openBackgroundWork(
  parts: BackgroundParts & {
    readonly deliveries: Pick<DeliveryMetrics, 'countAttempt'>;
    /** Returns whether this node runs a job of the whole cluster now; absent without a cluster. */
    readonly takeJob?: (name: string) => Promise<boolean>;
  },
): Promise<BackgroundWork> {
  const [{ buildMaintenanceLoops }, { startOutbox }, ...own] = await Promise.all([
    import('./maintenance-jobs.ts'),
    import('../platform/outbox/sender.ts'),
    ...features.flatMap(({ openBackground }) => openBackground?.(parts) ?? []),
  ]);
  const nowMs = () => parts.ports().now_ms();
  return {
    opened: [
      ...own.map(({ close = async () => {} }) => ({ close })),
      ...buildMaintenanceLoops(parts, own).map((jobs) => startMaintenance(jobs, parts.log, parts.takeJob)),
      startOutbox(
        { ...parts, now_ms: nowMs, count: parts.deliveries.countAttempt },
        own.flatMap(({ queues = [] }) => queues),
      ),
    ],
    listMetrics: async () => (await Promise.all(own.map(({ listMetrics }) => listMetrics?.() ?? []))).flat(),
  };
}
