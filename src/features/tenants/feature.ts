import { defineFeature } from '../../operations/feature.ts';

export const tenantsFeature = defineFeature({
  name: 'tenants',
  loadOperations: () => import('./operation-list.ts'),
  loadMigrations: async () => (await import('./tables.ts')).tenantMigrations,
  readManagedPolicy: async (db) => ({
    tenants: await (await import('./tenant-store.ts')).readTenantSets(db),
  }),
});
