import type { Feature } from '../../operations/feature.ts';

export const allowlistFeature: Feature = {
  name: 'allowlist',
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
};
