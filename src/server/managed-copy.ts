import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../platform/log.ts';
import type { Store } from '../platform/store/index.ts';
import { describeStoreFault } from '../platform/store/lazy.ts';
import type { ApiKey } from '../runtime/access/settings.ts';
import type { Config } from '../runtime/config/index.ts';
import {
  type ManagedPolicy,
  NO_MANAGED_POLICY,
  readManagedPolicy,
  writeManagedPolicy,
} from '../runtime/managed-policy/managed-policy.ts';
import { readRevisions } from '../runtime/managed-policy/revisions.ts';
import type { ApiKeyExchange } from './api-key-exchange.ts';
import { features } from './features.ts';

/** Keeps the copy of the managed policy in the state folder equal to the store. */
export interface ManagedCopy {
  /** Copies the managed policy from the store. Returns whether the copy has changed. @throws StoreFailure */
  readonly copy: () => Promise<boolean>;
  /** Activates the API keys of the store in all workers. @throws StoreFailure */
  readonly activateKeys: () => Promise<void>;
  /** Calls one of the functions after a change by another replica on the same store. */
  readonly follow: (handlers: ManagedHandlers) => void;
  readonly close: () => Promise<void>;
}

/** The functions that are called after a change of the policy, or of the API keys. */
export interface ManagedHandlers {
  readonly onPolicy: () => Promise<unknown>;
  readonly onKeys: () => Promise<unknown>;
}

/** The delay until a change by another replica is active here. */
const FOLLOW_MS = 1_000;

/** Opens the copy for the owner of a state folder. */
export function openManagedCopy(
  { state_dir }: Pick<Config, 'state_dir'>,
  store: Store,
  keys: Pick<ApiKeyExchange, 'useStored'>,
  log: Log,
): ManagedCopy {
  const seen = { policy: -1, api_keys: -1 };
  let isClosed = false;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();

  async function copy(): Promise<boolean> {
    const { policy: revision } = await readRevisions(store.db);
    const next = await readStoredPolicy(store);
    const isNew = !isDeepStrictEqual(readManagedPolicy(state_dir), next);
    writeManagedPolicy(state_dir, next);
    // A change after the revision was read is noticed again, so none is missed.
    seen.policy = revision;
    return isNew;
  }

  async function activateKeys(): Promise<void> {
    const { api_keys: revision } = await readRevisions(store.db);
    await keys.useStored(await readApiKeys(store));
    seen.api_keys = revision;
  }

  async function look({ onPolicy, onKeys }: ManagedHandlers): Promise<void> {
    try {
      const now = await readRevisions(store.db);
      if (now.api_keys !== seen.api_keys) await onKeys();
      if (now.policy !== seen.policy) await onPolicy();
    } catch (fault) {
      log.error(
        'changes of the policy and of API keys in the store could not be read',
        describeStoreFault(fault),
      );
    }
  }

  function follow(handlers: ManagedHandlers): void {
    if (isClosed) return;
    timer = setTimeout(() => {
      running = look(handlers).finally(() => follow(handlers));
    }, FOLLOW_MS).unref();
  }

  return {
    copy,
    activateKeys,
    follow,
    close: async () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}

async function readStoredPolicy({ db }: Pick<Store, 'db'>): Promise<ManagedPolicy> {
  const parts = await Promise.all(features.map((feature) => feature.readManagedPolicy?.(db)));
  return Object.assign({ ...NO_MANAGED_POLICY }, ...parts);
}

async function readApiKeys({ db }: Pick<Store, 'db'>): Promise<readonly ApiKey[]> {
  return (await Promise.all(features.map((feature) => feature.readApiKeys?.(db) ?? []))).flat();
}

/** Copies the managed policy before the first policy is loaded, so that no process decides by an older copy. */
export async function restoreManagedPolicy({ state_dir }: Config, store: Store): Promise<void> {
  writeManagedPolicy(state_dir, await readStoredPolicy(store));
}
