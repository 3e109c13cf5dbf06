import type { FeatureBackground } from '../operations/feature.ts';
import type { Log } from '../platform/log.ts';
import { deleteOldMessages } from '../platform/outbox/messages.ts';
import type { Store } from '../platform/store/index.ts';
import type { MaintenanceJob } from '../platform/store/maintenance.ts';
import type { Config } from '../runtime/config/index.ts';
import { buildSessionJobs } from '../runtime/enforcement/sessions/jobs.ts';
import type { EnforcementPorts } from '../runtime/enforcement/types.ts';

/** The dependencies of maintenance jobs. */
export interface MaintenanceParts {
  readonly config: Config;
  readonly log: Log;
  readonly store: () => Promise<Store>;
  /** Returns the present policy, clock and journal of the parent. */
  readonly ports: () => EnforcementPorts;
}

const FORGET_MESSAGES_MS = 600_000;

/** Builds the job that deletes old messages of the outbox. */
function buildOutboxJobs({ store, ports }: MaintenanceParts): readonly MaintenanceJob[] {
  const run = async () => deleteOldMessages((await store()).db, ports().now_ms());
  return [{ name: 'outbox: forget old messages', every_ms: FORGET_MESSAGES_MS, run }];
}

/** Returns a service's maintenance jobs as loops: jobs in one loop wait for each other. */
export function buildMaintenanceLoops(
  parts: MaintenanceParts,
  features: readonly FeatureBackground[],
): readonly (readonly MaintenanceJob[])[] {
  const apart = features.filter(({ runs_apart }) => runs_apart === true);
  const together = features.filter(({ runs_apart }) => runs_apart !== true);
  const own = [buildSessionJobs, buildOutboxJobs];
  return [
    [...own.flatMap((buildJobs) => buildJobs(parts)), ...together.flatMap(({ jobs = [] }) => jobs)],
    ...apart.map(({ jobs = [] }) => jobs),
  ];
}
