import { buildAlertQueues } from '../features/alerts/queues.ts';
import { buildAllowlistJobs } from '../features/allowlist/jobs.ts';
import { buildCostJobs } from '../features/costs/jobs.ts';
import { buildEvidenceJobs } from '../features/evidence/jobs.ts';
import { buildMemoryJobs } from '../features/memory/jobs.ts';
import { buildToolPinJobs } from '../features/tool-pins/jobs.ts';
import type { Log } from '../platform/log.ts';
import type { OutboxQueue } from '../platform/outbox/deliver.ts';
import { deleteOldMessages } from '../platform/outbox/messages.ts';
import type { Store } from '../platform/store/index.ts';
import type { MaintenanceJob } from '../platform/store/maintenance.ts';
import { buildAccountJobs } from '../runtime/accounts/jobs.ts';
import type { Config } from '../runtime/config/index.ts';
import { buildApprovalJobs, buildApprovalQueues } from '../runtime/enforcement/approvals/jobs.ts';
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
  buildAllowlistJobs,
  buildApprovalJobs,
  buildCapabilityJobs,
  buildCostJobs,
  buildEvidenceJobs,
  buildSessionJobs,
  buildMemoryJobs,
  buildToolPinJobs,
  buildOutboxJobs,
];

const FORGET_MESSAGES_MS = 600_000;

/** Builds the job that deletes old messages of the outbox. */
function buildOutboxJobs({ store, ports }: MaintenanceParts): readonly MaintenanceJob[] {
  const run = async () => deleteOldMessages((await store()).db, ports().now_ms());
  return [{ name: 'outbox: forget old messages', every_ms: FORGET_MESSAGES_MS, run }];
}

/** Returns all maintenance jobs of a service. */
export function buildMaintenanceJobs(parts: MaintenanceParts): readonly MaintenanceJob[] {
  return SUBJECTS.flatMap((buildJobs) => buildJobs(parts));
}

/** Returns the queues of the outbox, one for each receiver. */
export function buildOutboxQueues(parts: MaintenanceParts): readonly OutboxQueue[] {
  const now_ms = () => parts.ports().now_ms();
  return [...buildApprovalQueues(parts), ...buildAlertQueues({ config: parts.config, now_ms })];
}
