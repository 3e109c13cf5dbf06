import type { Feature } from '../../operations/feature.ts';

export const policyVersionsFeature: Feature = {
  name: 'policy-versions',
  loadMigrations: async () => (await import('./tables.ts')).policyVersionMigrations,
  readManagedPolicy: async (db) => ({
    document: await (await import('./version-store.ts')).readPolicyDocument(db),
  }),
};
