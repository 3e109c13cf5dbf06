import type { Feature } from '../../operations/feature.ts';
import { readManagedAllowlist } from './allowlist-store.ts';
import { readAllowedDetectors } from './detector-store.ts';
import { buildAllowlistJobs } from './jobs.ts';
import { allowlistMigrations } from './tables.ts';

export const allowlistFeature: Feature = {
  migrations: allowlistMigrations,
  openBackground: (parts) => ({ jobs: buildAllowlistJobs(parts) }),
  readManagedPolicy: async (db) => ({
    allowlist: await readManagedAllowlist(db),
    allowed_detectors: await readAllowedDetectors(db),
  }),
};
