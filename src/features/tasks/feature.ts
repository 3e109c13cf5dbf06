import type { Feature } from '../../operations/feature.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import { readFingerprintSecret } from '../../runtime/policies/fingerprints.ts';
import { buildTaskJobs } from './jobs.ts';
import { taskMigrations } from './tables.ts';

export const tasksFeature: Feature = {
  migrations: taskMigrations,
  open: ({ config, store, ports }) => {
    const tasks = createLazyValue(async () => {
      const { openTasks } = await import('./tasks.ts');
      return openTasks({ store, ports, secret: readFingerprintSecret(config) });
    });
    return {
      members: { tasks: tasks.open },
      ports: {
        checkTask: async (use) => (await tasks.open()).check(use),
        findTaskCostLimits: async (holder) => (await tasks.open()).findCostLimits(holder),
      },
    };
  },
  openBackground: (parts) => ({ jobs: buildTaskJobs(parts) }),
};
