import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { readOwnFileSync } from '../../platform/files/own-file.ts';
import { restrictMode, writePrivateFile } from '../../platform/files/private-file.ts';
import type { Config } from '../../runtime/config/index.ts';
import { deriveMasterKey, type MasterKey } from './encryption.ts';

/** The active master key, and all keys that can decrypt entries, by their ids. */
export interface MasterKeys {
  readonly current: MasterKey;
  readonly by_id: ReadonlyMap<string, MasterKey>;
}

/** The settings that locate the keys: the configuration and the state folder. */
export type MasterKeySettings = Pick<Config, 'state_dir'> & {
  readonly memory: Pick<Config['memory'], 'master_key' | 'previous_keys'>;
};

const FILE_KEY = /^[A-Za-z0-9_-]{43}$/;

/** Returns the path of the key that the service creates itself. */
export function buildMemoryKeyPath(stateDir: string): string {
  return join(stateDir, 'memory-key');
}

/**
 * Returns the keys of the configuration, or else the key of the state folder; `null` if there is none. If the
 * configuration sets a key, the key in the state folder still decrypts its own entries.
 */
export function readMasterKeys({ state_dir, memory }: MasterKeySettings): MasterKeys | null {
  const file = readKeyFile(state_dir);
  const current = memory.master_key ?? file;
  if (current === null) return null;
  const all = [current, ...memory.previous_keys, ...(file === null ? [] : [file])].map(deriveMasterKey);
  return { current: all[0]!, by_id: new Map(all.toReversed().map((key) => [key.key_id, key])) };
}

/** Creates the key of the state folder (mode 0600) unless it exists. */
export function createKeyFile(stateDir: string): void {
  writePrivateFile(buildMemoryKeyPath(stateDir), randomBytes(32).toString('base64url'), 'keep');
}

function readKeyFile(stateDir: string): string | null {
  const path = buildMemoryKeyPath(stateDir);
  try {
    const key = readOwnFileSync(path).trim();
    restrictMode(path);
    return FILE_KEY.test(key) ? key : null;
  } catch {
    return null;
  }
}
