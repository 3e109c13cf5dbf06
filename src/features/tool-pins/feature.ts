import { defineFeature } from '../../operations/feature.ts';

export const toolPinsFeature = defineFeature({
  name: 'tool-pins',
  loadOperations: () => import('./operation-list.ts'),
  loadMigrations: async () => (await import('./tables.ts')).toolPinMigrations,
  loadBackground: async () => {
    const { buildToolPinJobs } = await import('./jobs.ts');
    return (parts) => ({ jobs: buildToolPinJobs(parts) });
  },
});
