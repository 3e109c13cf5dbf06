import type { Feature } from '../../operations/feature.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import { openAlertMetrics } from './alert-metrics.ts';
import { alertMigrations } from './tables.ts';

export const alertsFeature: Feature = {
  needs: ['approvals'],
  migrations: alertMigrations,
  open: ({ config, port, store }) => {
    const service = createLazyValue(async () =>
      (await import('./service.ts')).buildAlertService({ config, port }),
    );
    return {
      members: {
        alerts: service.open,
        listRecentAlerts: async (tenants, limit) =>
          (await import('./alert-store.ts')).listRecentAlerts((await store()).db, tenants, limit),
      },
      listDrivers: async () => (await import('./alert-drivers.ts')).listAlertDrivers(service.open, store),
    };
  },
  openBackground: async (parts) => {
    const [{ buildAlertJobs }, { buildAlertQueues }] = await Promise.all([
      import('./jobs.ts'),
      import('./queues.ts'),
    ]);
    const metrics = openAlertMetrics();
    return {
      jobs: buildAlertJobs({ ...parts, alerts: () => parts.runtime().alerts(), alert_metrics: metrics }),
      runs_apart: true,
      queues: buildAlertQueues({ config: parts.config, now_ms: () => parts.ports().now_ms() }),
      listMetrics: metrics.list,
    };
  },
};
