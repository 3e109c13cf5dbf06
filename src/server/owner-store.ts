import type { Policy } from '../core/types/index.ts';
import { StartFailure } from '../platform/failure.ts';
import { parseStoreSettings, type Store, StoreFailure } from '../platform/store/index.ts';
import type { Config } from '../runtime/config/index.ts';
import { features } from './features.ts';
import type { PolicyLoad } from './reloading.ts';
import { openServiceStore } from './store.ts';

/** The store of the process that owns the state folder. */
export interface OwnerStore {
  readonly store: Store;
  /** Prepares what a policy needs before it is used, such as the master key of memory. @throws StartFailure */
  readonly admit: (policy: Policy) => Promise<void>;
  readonly close: () => Promise<void>;
}

/**
 * Opens the store for its owner and migrates its tables.
 *
 * @throws StartFailure `store_unusable`, whose message says what to do
 */
export async function openOwnerStore(config: Config): Promise<OwnerStore> {
  try {
    const store = await openServiceStore(parseStoreSettings(config), { migrate: true });
    return { store, admit: openAdmissions(config, store), close: store.close };
  } catch (failure) {
    if (!(failure instanceof StoreFailure)) throw failure;
    const message =
      failure.code === 'store_full'
        ? 'The disk of the store is full. Free some space, then start again.'
        : failure.message;
    throw new StartFailure('store_unusable', message);
  }
}

function openAdmissions(config: Config, store: Store): OwnerStore['admit'] {
  const opened = features.flatMap(({ openAdmission }) => openAdmission?.(config, store) ?? []);
  return async (policy) => {
    for (const admit of opened) await admit(policy);
  };
}

/** A reloaded policy is refused if memory cannot be opened for it. */
export async function admitPolicy(
  loading: Promise<PolicyLoad>,
  { admit }: Pick<OwnerStore, 'admit'>,
  { origin }: Pick<Config, 'origin'>,
): Promise<PolicyLoad> {
  const load = await loading;
  if (!load.ok) return load;
  try {
    await admit(load.policy);
    return load;
  } catch (failure) {
    if (!(failure instanceof StartFailure)) throw failure;
    const problem = { file: origin.label, path: 'memory.master_key', message: failure.message };
    return { ok: false, problems: [problem], secret_readings: load.secret_readings };
  }
}
