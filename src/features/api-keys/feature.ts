import type { Feature } from '../../operations/feature.ts';
import { readUsableKeys } from './key-store.ts';
import { apiKeyMigrations } from './tables.ts';

export const apiKeysFeature: Feature = {
  name: 'api-keys',
  migrations: apiKeyMigrations,
  readApiKeys: readUsableKeys,
};
