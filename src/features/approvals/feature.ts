import type { Feature } from '../../operations/feature.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import { buildGauge } from '../../runtime/observability/metric.ts';
import { countPendingApprovals } from './pending.ts';
import { approvalMigrations } from './tables.ts';

export const approvalsFeature: Feature = {
  migrations: approvalMigrations,
  open: (parts) => {
    const approvals = createLazyValue(async () =>
      (await import('./open-configured.ts')).openConfiguredApprovals(parts),
    );
    return {
      members: { approvals: approvals.open },
      ports: { resolveApproval: async (question) => (await approvals.open()).resolve(question) },
      listDrivers: async () =>
        (await import('./approval-drivers.ts')).listApprovalDrivers(parts.config, parts.store),
      release: () => approvals.ifOpened(({ release }) => release()),
    };
  },
  openBackground: async (parts) => {
    const { buildApprovalJobs, buildApprovalQueues } = await import('./jobs.ts');
    return {
      jobs: buildApprovalJobs(parts),
      queues: buildApprovalQueues(parts),
      listMetrics: async () => listPendingMetrics(await countPendingApprovals(parts.store, Date.now())),
    };
  },
};

function listPendingMetrics(count: number | null) {
  if (count === null) return [];
  const values = [{ value: count, labels: {} }];
  const help = 'Approval requests that are pending in the store.';
  return [buildGauge('service_approvals_pending', help, values, 'max')];
}
