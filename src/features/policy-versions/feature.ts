import type { Feature } from '../../operations/feature.ts';
import { policyVersionMigrations } from './tables.ts';
import { readPolicyDocument } from './version-store.ts';

export const policyVersionsFeature: Feature = {
  migrations: policyVersionMigrations,
  readManagedPolicy: async (db) => ({
    document: await readPolicyDocument(db),
  }),
};
