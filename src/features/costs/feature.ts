import type { Feature } from '../../operations/feature.ts';
import { buildCostJobs } from './jobs.ts';
import { openLazyCosts } from './lazy-costs.ts';
import { costMigrations } from './tables.ts';

export const costsFeature: Feature = {
  migrations: costMigrations,
  open: (parts) => {
    const costs = openLazyCosts(parts);
    return { members: { costs: costs.open, modelCosts: costs.open }, close: costs.close };
  },
  openBackground: (parts) => ({ jobs: buildCostJobs(parts) }),
};
