import { defineFeature } from '../../operations/feature.ts';

export const allowlistFeature = defineFeature({
  name: 'allowlist',
  loadOperations: () => import('./operation-list.ts'),
  loadMigrations: async () => (await import('./tables.ts')).allowlistMigrations,
  loadBackground: async () => {
    const { buildAllowlistJobs } = await import('./jobs.ts');
    return (parts) => ({ jobs: buildAllowlistJobs(parts) });
  },
  readManagedPolicy: async (db) => {
    const [{ readManagedAllowlist }, { readAllowedDetectors }] = await Promise.all([
      import('./allowlist-store.ts'),
      import('./detector-store.ts'),
    ]);
    return { allowlist: await readManagedAllowlist(db), allowed_detectors: await readAllowedDetectors(db) };
  },
});
