import type { AlertMetrics } from '../features/alerts/alert-metrics.ts';
import type { AlertJobParts } from '../features/alerts/jobs.ts';
import type { Log } from '../platform/log.ts';
import { startMaintenance } from '../platform/store/maintenance.ts';
import type { MaintenanceParts } from './maintenance-jobs.ts';

/** A part of the process that ends with it. */
export interface Closeable {
  readonly close: () => Promise<void>;
}

/**
 * Starts the maintenance jobs and the outbox. Loads them on demand, because they import every subject and all
 * detectors, which would delay the workers.
 */
export async function openBackgroundWork(
  parts: MaintenanceParts & AlertJobParts & { readonly log: Log; readonly alert_metrics: AlertMetrics },
): Promise<Closeable[]> {
  const [{ buildMaintenanceJobs, buildOutboxQueues }, { buildAlertJobs }, { startOutbox }] =
    await Promise.all([
      import('./maintenance-jobs.ts'),
      import('../features/alerts/jobs.ts'),
      import('../platform/outbox/sender.ts'),
    ]);
  const now_ms = () => parts.ports().now_ms();
  return [
    startMaintenance(buildMaintenanceJobs(parts), parts.log),
    // Alerts do not wait for other jobs.
    startMaintenance(buildAlertJobs(parts), parts.log),
    startOutbox({ ...parts, now_ms, count: parts.alert_metrics.countAttempt }, buildOutboxQueues(parts)),
  ];
}
