import type { Feature } from '../../operations/feature.ts';
import { buildToolPinJobs } from './jobs.ts';
import { toolPinMigrations } from './tables.ts';

export const toolPinsFeature: Feature = {
  name: 'tool-pins',
  migrations: toolPinMigrations,
  loadBackground: async () => (parts) => ({ jobs: buildToolPinJobs(parts) }),
};
