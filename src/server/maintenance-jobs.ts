import { buildCostJobs } from '../features/costs/jobs.ts';
import { buildMemoryJobs } from '../features/memory/jobs.ts';
import { buildToolPinJobs } from '../features/tool-pins/jobs.ts';
import type { Log } from '../platform/log.ts';
import type { Store } from '../platform/store/index.ts';
import type { MaintenanceJob } from '../platform/store/maintenance.ts';
import type { Config } from '../runtime/config/index.ts';
import { buildApprovalDeliveryJobs, buildApprovalJobs } from '../runtime/enforcement/approvals/jobs.ts';
import { buildCapabilityJobs } from '../runtime/enforcement/capabilities/jobs.ts';
import { buildSessionJobs } from '../runtime/enforcement/sessions/jobs.ts';
import type { EnforcementPorts } from '../runtime/enforcement/types.ts';

/** What chores are made of. */
export interface MaintenanceParts {
  readonly config: Config;
  readonly log: Log;
  readonly store: () => Promise<Store>;
  /** What holds now: the policy in force, the clock, the parent's journal. */
  readonly ports: () => EnforcementPorts;
}

/** What the parent does for the whole service from time to time, each subject its own. */
const SUBJECTS: readonly ((parts: MaintenanceParts) => readonly MaintenanceJob[])[] = [
  buildApprovalJobs,
  buildCapabilityJobs,
  buildCostJobs,
  buildSessionJobs,
  buildMemoryJobs,
  buildToolPinJobs,
];

/** All chores of a service. */
export function buildMaintenanceJobs(parts: MaintenanceParts): readonly MaintenanceJob[] {
  return SUBJECTS.flatMap((chores) => chores(parts));
}

/** Chores that wait for other machines, and so have a turn of their own. */
export function buildDeliveryJobs(parts: MaintenanceParts): readonly MaintenanceJob[] {
  return buildApprovalDeliveryJobs(parts);
}
