import type { Feature } from '../../operations/feature.ts';

export const apiKeysFeature: Feature = {
  name: 'api-keys',
  loadMigrations: async () => (await import('./tables.ts')).apiKeyMigrations,
  readApiKeys: async (db) => (await import('./key-store.ts')).readUsableKeys(db),
};
