import type { Config } from '../config/index.ts';
import { openStore, type Store, StoreFailure, storeSettings } from '../store/index.ts';
import { StartFailure } from './failure.ts';

/**
 * Opens the store for its owner and brings its tables up to date.
 *
 * @throws StartFailure `store_unusable`, which says what to do
 */
export async function openOwnStore(config: Config): Promise<Store> {
  try {
    return await openStore(storeSettings(config), { migrate: true });
  } catch (failure) {
    throw failure instanceof StoreFailure ? new StartFailure('store_unusable', failure.message) : failure;
  }
}
