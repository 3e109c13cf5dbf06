import type { ConnectStore, Store, StoreOptions } from '../platform/store/open.ts';
import type { StoreSettings } from '../platform/store/settings.ts';
import type { StoreTables } from '../platform/store/tables.ts';

/**
 * Opens the store of this service with its tables, on SQLite or PostgreSQL. Throws the errors of `openStore`.
 */
export async function openServiceStore(
  settings: StoreSettings,
  options: Partial<StoreOptions> = {},
): Promise<Store> {
  const [{ openStore }, { listMigrations }] = await Promise.all([
    import('../platform/store/open.ts'),
    import('./store-migrations.ts'),
  ]);
  return openStore(settings, { migrations: listMigrations(), connect, ...options });
}

const connect: ConnectStore = async (settings, more = {}) => {
  if (settings.kind === 'postgres') {
    const { postgres } = await import('../drivers/stores/postgres.ts');
    return postgres.open<StoreTables>({ ...settings, ...more });
  }
  const { sqliteStore } = await import('../drivers/stores/sqlite-store.ts');
  return sqliteStore.open<StoreTables>({ ...settings, ...more });
};
