import type { Feature } from '../../operations/feature.ts';
import { openLazyCosts } from './lazy-costs.ts';

export const costsFeature: Feature = {
  name: 'costs',
  loadMigrations: async () => (await import('./tables.ts')).costMigrations,
  open: (parts) => {
    const costs = openLazyCosts(parts);
    return { members: { costs: costs.open }, close: costs.close };
  },
  loadBackground: async () => {
    const { buildCostJobs } = await import('./jobs.ts');
    return (parts) => ({ jobs: buildCostJobs(parts) });
  },
};
