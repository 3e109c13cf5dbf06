import { defineFeature } from '../../operations/feature.ts';

export const policyVersionsFeature = defineFeature({
  name: 'policy-versions',
  loadOperations: () => import('./operation-list.ts'),
  loadMigrations: async () => (await import('./tables.ts')).policyVersionMigrations,
  readManagedPolicy: async (db) => ({
    document: await (await import('./version-store.ts')).readPolicyDocument(db),
  }),
});
