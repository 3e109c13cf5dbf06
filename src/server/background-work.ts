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
  parts: MaintenanceParts & { readonly log: Log },
): Promise<Closeable[]> {
  const [{ buildMaintenanceJobs, buildOutboxQueues }, { startOutbox }] = await Promise.all([
    import('./maintenance-jobs.ts'),
    import('../platform/outbox/sender.ts'),
  ]);
  const now_ms = () => parts.ports().now_ms();
  return [
    startMaintenance(buildMaintenanceJobs(parts), parts.log),
    startOutbox({ ...parts, now_ms }, buildOutboxQueues(parts)),
  ];
}
