import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { readPolicyDocument } from '../features/policy-versions/version-store.ts';
import { readTenantSets } from '../features/tenants/tenant-store.ts';
import type { Log } from '../platform/log.ts';
import { parseStoreSettings, type Store, StoreFailure } from '../platform/store/index.ts';
import { describeStoreFault } from '../platform/store/lazy.ts';
import type { Config } from '../runtime/config/index.ts';
import {
  type ManagedPolicy,
  managedPolicyPath,
  readManagedPolicy,
  writeManagedPolicy,
} from '../runtime/managed-policy/managed-policy.ts';
import { readRevisions } from '../runtime/managed-policy/revisions.ts';
import { openServiceStore } from './store.ts';

/** Keeps the copy of the managed policy in the state folder equal to the store. */
export interface ManagedCopy {
  /** Copies the managed policy from the store. Returns whether the copy has changed. @throws StoreFailure */
  readonly copy: () => Promise<boolean>;
  /** Calls `onChange` after a change by another replica on the same store. */
  readonly follow: (onChange: () => Promise<unknown>) => void;
  readonly close: () => Promise<void>;
}

/** The delay until a change by another replica is active here. */
const FOLLOW_MS = 1_000;

/** Opens the copy for the owner of a state folder. */
export function openManagedCopy(state_dir: string, store: Store, log: Log): ManagedCopy {
  let seen = -1;
  let is_closed = false;
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> = Promise.resolve();

  async function copy(): Promise<boolean> {
    const { policy: revision } = await readRevisions(store.db);
    const next = await readStoredPolicy(store);
    const is_new = !isDeepStrictEqual(readManagedPolicy(state_dir), next);
    writeManagedPolicy(state_dir, next);
    // A change after the revision was read is noticed again, so none is missed.
    seen = revision;
    return is_new;
  }

  async function look(onChange: () => Promise<unknown>): Promise<void> {
    try {
      const { policy } = await readRevisions(store.db);
      if (policy !== seen) await onChange();
    } catch (fault) {
      log.error('changes of the policy in the store could not be read', describeStoreFault(fault));
    }
  }

  function follow(onChange: () => Promise<unknown>): void {
    if (is_closed) return;
    timer = setTimeout(() => {
      running = look(onChange).finally(() => follow(onChange));
    }, FOLLOW_MS).unref();
  }

  return {
    copy,
    follow,
    close: async () => {
      is_closed = true;
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}

async function readStoredPolicy({ db }: Pick<Store, 'db'>): Promise<ManagedPolicy> {
  return { tenants: await readTenantSets(db), document: await readPolicyDocument(db), allowlist: [] };
}

/** The start opens the store again later, and then reports why it cannot be opened. */
function ignoreStoreFailure(failure: unknown): null {
  if (failure instanceof StoreFailure) return null;
  throw failure;
}

/**
 * Copies the managed policy before the first policy is loaded, if the copy is missing or another replica may have
 * changed the store. Nothing else opens the store this early, because that delays the start.
 */
export async function restoreManagedPolicy(config: Config): Promise<void> {
  const settings = parseStoreSettings(config);
  const is_shared = settings.kind === 'postgres';
  if (!is_shared && (existsSync(managedPolicyPath(config.state_dir)) || !existsSync(settings.path))) return;
  const store = await openServiceStore(settings, { migrate: true }).catch(ignoreStoreFailure);
  if (store === null) return;
  try {
    writeManagedPolicy(config.state_dir, await readStoredPolicy(store));
  } finally {
    await store.close();
  }
}
