import type { Feature } from '../../operations/feature.ts';
import { buildToolPinJobs } from './jobs.ts';
import { toolPinMigrations } from './tables.ts';

export const toolPinsFeature: Feature = {
  migrations: toolPinMigrations,
  openBackground: (parts) => ({ jobs: buildToolPinJobs(parts) }),
};
