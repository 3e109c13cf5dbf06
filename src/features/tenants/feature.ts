import type { Feature } from '../../operations/feature.ts';

export const tenantsFeature: Feature = {
  name: 'tenants',
  loadMigrations: async () => (await import('./tables.ts')).tenantMigrations,
  readManagedPolicy: async (db) => ({
    tenants: await (await import('./tenant-store.ts')).readTenantSets(db),
  }),
};
