import type { Log } from '../../platform/log.ts';
import type { Store } from '../../platform/store/index.ts';
import type { MaintenanceJob } from '../../platform/store/maintenance.ts';
import type { EnforcementPorts } from '../../runtime/enforcement/types.ts';
import { decryptRow, encryptEntry } from './entry.ts';
import { type MasterKeySettings, type MasterKeys, readMasterKeys } from './master-keys.ts';
import { type MemoryClock, openMemoryClock } from './memory-clock.ts';
import { buildPurgeEvent } from './purge.ts';
import {
  listRowsByKey,
  listStoredKeyIds,
  PURGE_BATCH_ROWS,
  purgeBatch,
  readMemoryState,
  reencryptRow,
  writeMemoryState,
} from './rows.ts';

export interface MemoryJobParts {
  readonly config: MasterKeySettings;
  readonly store: () => Promise<Store>;
  readonly ports: () => Pick<EnforcementPorts, 'now_ms' | 'new_event_id' | 'record' | 'policy'>;
  readonly log: Pick<Log, 'info' | 'error'>;
}

const EVERY_MS = 60_000;

/** Returns the maintenance jobs of memory: deleting expired entries and encrypting entries again under a new key. */
export function buildMemoryJobs(parts: MemoryJobParts): readonly MaintenanceJob[] {
  return [
    { name: 'memory: delete what has expired', every_ms: EVERY_MS, run: buildPurge(parts) },
    { name: 'memory: encrypt again under the new key', every_ms: EVERY_MS, run: buildReencryption(parts) },
  ];
}

/**
 * Deletes a batch and records the time. After a restart no expired entry is valid again, even if the clock was set
 * back.
 */
function buildPurge({ store: open, ports }: MemoryJobParts): MaintenanceJob['run'] {
  let clock: MemoryClock | null = null;
  return async () => {
    const store = await open();
    const latestMs = Number((await readMemoryState(store.db, 'latest_ms')) ?? 0);
    clock ??= openMemoryClock(ports().now_ms, () => performance.now(), latestMs);
    const nowMs = clock.now_ms();
    // Without entries nothing can become valid again, so an idle service writes nothing.
    if ((await listStoredKeyIds(store)).length > 0)
      await writeMemoryState(store.db, 'latest_ms', `${Math.max(nowMs, latestMs)}`);
    const purged = await purgeBatch(store, nowMs);
    if (purged > 0) await ports().record(buildPurgeEvent(ports(), purged, 'schedule', 'service:schedule'));
    return purged === PURGE_BATCH_ROWS;
  };
}

/** The entries that are held in process memory at once, and the number of such batches in one run. */
const ROWS = 8;
const ROUNDS = 12;

/** The progress of re-encryption for one key. Entries that cannot be decrypted are skipped and kept. */
interface ReencryptionProgress {
  readonly key_id: string;
  after_id: string;
  unreadable: number;
}

/**
 * Encrypts some entries again under the current key. It can stop at any moment and continues with the remaining
 * entries. Handles do not change.
 */
function buildReencryption({ config, store: open, log }: MemoryJobParts): MaintenanceJob['run'] {
  let pass: ReencryptionProgress | null = null;
  const done = new Set<string>();
  return async () => {
    const store = await open();
    const keys = readMasterKeys(config);
    // Another process that shares the store may have activated a newer key.
    if (keys === null || (await readMemoryState(store.db, 'key_id')) !== keys.current.key_id) return false;
    const old = (await listStoredKeyIds(store)).filter(
      (keyId) => isPreviousKey(keyId, keys) && !done.has(keyId),
    );
    const [first] = old;
    if (first === undefined) {
      done.clear();
      return false;
    }
    if (pass?.key_id !== first) pass = { key_id: first, after_id: '', unreadable: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      if (!(await reencryptRows(store, keys, pass))) {
        done.add(first);
        logResult(log, pass);
        pass = null;
        break;
      }
    }
    return true;
  };
}

function isPreviousKey(keyId: string, keys: MasterKeys): boolean {
  return keyId !== keys.current.key_id && keys.by_id.has(keyId);
}

async function reencryptRows(store: Store, keys: MasterKeys, pass: ReencryptionProgress): Promise<boolean> {
  const rows = await listRowsByKey(store, pass.key_id, pass.after_id, ROWS);
  for (const row of rows) {
    const entry = decryptRow(row, keys);
    if (entry === null) pass.unreadable += 1;
    else await reencryptRow(store, row, encryptEntry(entry, keys.current));
    pass.after_id = row.entry_id;
  }
  return rows.length > 0;
}

function logResult(log: MemoryJobParts['log'], { key_id, unreadable }: ReencryptionProgress): void {
  if (unreadable === 0)
    log.info('memory is encrypted under the new key, and the old one is not needed', { key_id });
  else log.error('entries of memory are not as they were written', { key_id, entries: unreadable });
}
