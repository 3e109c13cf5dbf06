import type { Feature } from '../../operations/feature.ts';
import { readUsableKeys } from './key-store.ts';
import { apiKeyMigrations } from './tables.ts';

export const apiKeysFeature: Feature = {
  migrations: apiKeyMigrations,
  readApiKeys: readUsableKeys,
};
