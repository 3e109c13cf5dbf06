import type { Policy } from '../../core/types/index.ts';
import { StartFailure } from '../../platform/failure.ts';
import type { Store } from '../../platform/store/index.ts';
import {
  buildMemoryKeyPath,
  createKeyFile,
  type MasterKeySettings,
  type MasterKeys,
  readMasterKeys,
} from './master-keys.ts';
import { openMemoryClock } from './memory-clock.ts';
import { isKeyInUse, listStoredKeyIds, readMemoryState, writeMemoryState } from './rows.ts';

/**
 * Returns a function that activates the master keys before a policy with memory documents becomes active. It runs once,
 * because the keys of a process do not change. It rejects as `activateMasterKeys` does, and with a `StoreFailure`.
 */
export function openKeyActivation(
  place: MasterKeySettings,
  store: Store,
  wallMs: () => number,
): (policy: Pick<Policy, 'memory_schemas'>) => Promise<void> {
  let isDone = false;
  return async ({ memory_schemas }) => {
    if (isDone || memory_schemas.length === 0) return;
    await activateMasterKeys(place, store, wallMs);
    isDone = true;
  };
}

/**
 * Activates the master key that encrypts all new entries: the key of the configuration, or else the key in the state
 * folder, which is created if nothing is stored yet. If it throws, nothing was changed.
 *
 * @throws StartFailure if an unexpired entry is stored that the keys cannot decrypt
 */
export async function activateMasterKeys(
  place: MasterKeySettings,
  store: Store,
  wallMs: () => number,
): Promise<MasterKeys> {
  const latestMs = Number((await readMemoryState(store.db, 'latest_ms')) ?? 0);
  const { now_ms } = openMemoryClock(wallMs, () => 0, latestMs);
  const present = readMasterKeys(place);
  await refuseUnreadable(place, present, store, now_ms());
  if (present === null) createKeyFile(place.state_dir);
  const keys = present ?? readMasterKeys(place);
  if (keys === null) throw buildUnusableFailure(buildMemoryKeyPath(place.state_dir));
  const { key_id } = keys.current;
  if ((await readMemoryState(store.db, 'key_id')) !== key_id)
    await writeMemoryState(store.db, 'key_id', key_id);
  return keys;
}

async function refuseUnreadable(
  place: MasterKeySettings,
  keys: MasterKeys | null,
  store: Store,
  nowMs: number,
): Promise<void> {
  for (const keyId of await listStoredKeyIds(store)) {
    if (keys?.by_id.has(keyId) || !(await isKeyInUse(store, keyId, nowMs))) continue;
    throw new StartFailure('state_unusable', describeUnreadable(place, keyId));
  }
}

function describeUnreadable({ state_dir, memory }: MasterKeySettings, keyId: string): string {
  const what = `Memory holds entries under the master key \`${keyId}\`, which is missing, so the entries cannot be read. Nothing was changed.`;
  const file = `the file \`${buildMemoryKeyPath(state_dir)}\``;
  return memory.master_key === undefined
    ? `${what} Restore ${file}, or set \`memory.master_key\` to that key.`
    : `${what} Set \`memory.master_key\` to that key, add it to \`memory.previous_keys\`, or restore ${file}.`;
}

function buildUnusableFailure(path: string): StartFailure {
  const message = `The file \`${path}\` is no master key of memory, or this user may not read it. Move it away, or restore it.`;
  return new StartFailure('state_unusable', message);
}
