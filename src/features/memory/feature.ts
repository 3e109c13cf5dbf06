import type { Feature } from '../../operations/feature.ts';
import { createLazyValue } from '../../platform/lazy.ts';
import { buildMemoryJobs } from './jobs.ts';
import { openKeyActivation } from './key-activation.ts';
import { memoryMigrations } from './tables.ts';

export const memoryFeature: Feature = {
  migrations: memoryMigrations,
  open: ({ config, log, store, ports }) => {
    const memory = createLazyValue(async () =>
      (await import('./memory.ts')).openMemory({
        mode: config.server.mode,
        keys: config,
        limits: config.memory,
        store,
        ports,
        steady_ms: () => performance.now(),
        log,
      }),
    );
    return { members: { memory: memory.open } };
  },
  openBackground: (parts) => ({ jobs: buildMemoryJobs(parts) }),
  openAdmission: (config, store) => openKeyActivation(config, store, Date.now),
};
