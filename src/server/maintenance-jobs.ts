import { buildCostJobs } from '../features/costs/jobs.ts';
import { buildMemoryJobs } from '../features/memory/jobs.ts';
import { buildToolPinJobs } from '../features/tool-pins/jobs.ts';
import type { Log } from '../platform/log.ts';
import type { Store } from '../platform/store/index.ts';
import type { MaintenanceJob } from '../platform/store/maintenance.ts';
import { buildAccountJobs } from '../runtime/accounts/jobs.ts';
import type { Config } from '../runtime/config/index.ts';
import { buildApprovalDeliveryJobs, buildApprovalJobs } from '../runtime/enforcement/approvals/jobs.ts';
import { buildCapabilityJobs } from '../runtime/enforcement/capabilities/jobs.ts';
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

/** The maintenance jobs that the parent runs for the whole service, one entry per subject. */
const SUBJECTS: readonly ((parts: MaintenanceParts) => readonly MaintenanceJob[])[] = [
  buildAccountJobs,
  buildApprovalJobs,
  buildCapabilityJobs,
  buildCostJobs,
  buildSessionJobs,
  buildMemoryJobs,
  buildToolPinJobs,
];

/** Returns all maintenance jobs of a service. */
export function buildMaintenanceJobs(parts: MaintenanceParts): readonly MaintenanceJob[] {
  return SUBJECTS.flatMap((buildJobs) => buildJobs(parts));
}

/** Returns the jobs that wait for other machines. They run in a queue of their own. */
export function buildDeliveryJobs(parts: MaintenanceParts): readonly MaintenanceJob[] {
  return buildApprovalDeliveryJobs(parts);
}
