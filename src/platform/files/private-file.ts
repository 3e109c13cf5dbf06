import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from './folder.ts';

/**
 * Writes a line to a file that only its owner may read (mode 0600), atomically and durably: temporary file, sync, then
 * link or rename. With `keep`, leaves an existing file unchanged and returns `false`. Makes the folder if it is
 * missing.
 */
export function writePrivateFile(path: string, line: string, mode: 'keep' | 'replace'): boolean {
  const folder = dirname(path);
  makeFolder(folder);
  const temporary = `${path}.${process.pid}.${randomBytes(6).toString('hex')}`;
  try {
    const file = openSync(temporary, 'wx', 0o600);
    writeSync(file, `${line}\n`);
    fsyncSync(file);
    closeSync(file);
    if (mode === 'keep') linkSync(temporary, path);
    else renameSync(temporary, path);
    syncFolder(folder);
    return true;
  } catch (error) {
    if (mode === 'keep' && (error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** Resets the mode to 0600, because a copy or a restore may have widened it. Ignores file systems without modes. */
export function restrictMode(path: string): void {
  try {
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  } catch {
    // The mode 0700 of the folder still protects the file.
  }
}
