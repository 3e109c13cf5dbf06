import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { isForeignEntry, readOwnFileSync } from '../../platform/files/own-file.ts';
import { restrictMode, writePrivateFile } from '../../platform/files/private-file.ts';

const KEY_FILE = 'approval-link-key';
const FILE_KEY = /^[A-Za-z0-9_-]{43}$/;

/** Returns the key that signs a state folder's links, and creates it if it is missing. */
export function readLinkKey(stateDir: string): string {
  const path = join(stateDir, KEY_FILE);
  writePrivateFile(path, randomBytes(32).toString('base64url'), 'keep');
  restrictMode(path);
  const key = readKeyFile(path);
  // An empty or known key would let anyone sign. Without a key, links of other processes fail their check.
  return FILE_KEY.test(key) ? key : randomBytes(32).toString('base64url');
}

function readKeyFile(path: string): string {
  try {
    return readOwnFileSync(path).trim();
  } catch (fault) {
    if (isForeignEntry(fault)) return '';
    throw fault;
  }
}
