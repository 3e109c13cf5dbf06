import type { Feature } from '../../operations/feature.ts';

export const toolPinsFeature: Feature = {
  name: 'tool-pins',
  loadMigrations: async () => (await import('./tables.ts')).toolPinMigrations,
  loadBackground: async () => {
    const { buildToolPinJobs } = await import('./jobs.ts');
    return (parts) => ({ jobs: buildToolPinJobs(parts) });
  },
};
