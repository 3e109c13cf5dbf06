import { defineFeature } from '../../operations/feature.ts';

export const apiKeysFeature = defineFeature({
  name: 'api-keys',
  loadOperations: () => import('./operation-list.ts'),
  loadMigrations: async () => (await import('./tables.ts')).apiKeyMigrations,
  readApiKeys: async (db) => (await import('./key-store.ts')).readUsableKeys(db),
});
