import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Log } from '../platform/log.ts';
import type { Store } from '../platform/store/index.ts';
import { describeStoreFault } from '../platform/store/lazy.ts';
import type { ApiKey } from '../runtime/access/settings.ts';
import type { Config } from '../runtime/config/index.ts';
import { AGENT_LIST_AGE_MS_MAX } from '../runtime/enforcement/agent-list.ts';
import {
  type ManagedPolicy,
  NO_MANAGED_POLICY,
  readManagedPolicy,
  writeManagedPolicy,
} from '../runtime/managed-policy/managed-policy.ts';
import { readRevisions, sumRevisions } from '../runtime/managed-policy/revisions.ts';
import type { ApiKeyExchange } from './api-key-exchange.ts';
import { features } from './features.ts';

/** Keeps the copy of the managed policy in the state folder equal to the store. */
export interface ManagedCopy {
  /** Copies the managed policy from the store. Returns whether the copy has changed. @throws StoreFailure */
  readonly copy: () => Promise<boolean>;
  /** Activates the API keys of the store in all workers. @throws StoreFailure */
  readonly activateKeys: () => Promise<void>;
  /** Calls one of the functions after a change by another node on the same store. */
  readonly follow: (handlers: ManagedHandlers) => void;
  /** Looks for changes now. Resolves when they are active here, and never rejects. */
  readonly look: () => Promise<void>;
  /** Says that the policy of the last copy is active in all workers. */
  readonly confirmPolicy: () => void;
  /** The revision that is active in all workers; `null` until all subjects are. */
  readonly activeRevision: () => number | null;
  readonly close: () => Promise<void>;
}

/** The functions that are called after a change of the policy, or of the API keys. */
export interface ManagedHandlers {
  readonly onPolicy: () => Promise<unknown>;
  readonly onKeys: () => Promise<unknown>;
}

/** The interval between two looks for changes by another node, in milliseconds. A node of a cluster looks with each lease. */
const FOLLOW_MS = 1_000;

/** Opens the copy for the owner of a state folder. */
export function openManagedCopy(
  { state_dir }: Pick<Config, 'state_dir'>,
  store: Store,
  keys: Pick<ApiKeyExchange, 'useStored'>,
  log: Log,
): ManagedCopy {
  const seen = { policy: -1, api_keys: -1, agent_blocks: -1 };
  let activePolicy = -1;
  let handlers: ManagedHandlers | null = null;
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

  /** When it resolves, no process uses an older copy of the list. */
  async function copyToState(revision: number): Promise<void> {
    await Promise.all(features.map((feature) => feature.copyToState?.(state_dir, store)));
    if (seen.agent_blocks >= 0) await sleep(AGENT_LIST_AGE_MS_MAX);
    seen.agent_blocks = revision;
  }

  async function lookOnce(): Promise<void> {
    if (handlers === null) return;
    try {
      const now = await readRevisions(store.db);
      // The kill switch and revoked keys do not wait for a policy that takes long to compile.
      if (now.agent_blocks !== seen.agent_blocks) await copyToState(now.agent_blocks);
      if (now.api_keys !== seen.api_keys) await handlers.onKeys();
      if (now.policy !== seen.policy) await handlers.onPolicy();
    } catch (fault) {
      log.error(
        'changes of the policy and of API keys in the store could not be read',
        describeStoreFault(fault),
      );
    }
  }

  /** One look runs at a time. A call during one starts another after it, because the first may be older than the change. */
  function look(): Promise<void> {
    running = running.then(lookOnce);
    return running;
  }

  function plan(): void {
    if (isClosed) return;
    timer = setTimeout(() => void look().finally(plan), FOLLOW_MS).unref();
  }

  return {
    copy,
    activateKeys,
    follow: (given) => {
      handlers = given;
      plan();
    },
    look,
    confirmPolicy: () => {
      activePolicy = seen.policy;
    },
    activeRevision: () => {
      const active = { ...seen, policy: activePolicy };
      return Object.values(active).includes(-1) ? null : sumRevisions(active);
    },
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
