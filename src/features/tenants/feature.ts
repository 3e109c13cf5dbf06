import type { Feature } from '../../operations/feature.ts';
import { tenantMigrations } from './tables.ts';
import { readTenantSets } from './tenant-store.ts';

export const tenantsFeature: Feature = {
  migrations: tenantMigrations,
  readManagedPolicy: async (db) => ({
    tenants: await readTenantSets(db),
  }),
};
