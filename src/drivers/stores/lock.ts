import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** Something that one process owns until it lets go or dies; the kernel frees it even on SIGKILL. */
export interface Lock {
  readonly release: () => void;
}

/**
 * Takes the lock that a file stands for: an exclusive transaction, held open, on an empty database.
 *
 * @param path - the file; it is made when missing, and stays empty
 * @param wait_ms - how long to wait for another owner to let go; this blocks the process
 * @returns `null` when another process (or another lock of this one) owns it
 */
export function takeLock(path: string, wait_ms = 0): Lock | null {
  const database = new DatabaseSync(path, { timeout: wait_ms });
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    chmodSync(path, 0o600);
    return { release: () => database.close() };
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  const SQLITE_BUSY = 5;
  return ((error as { errcode?: number } | null)?.errcode ?? 0) % 256 === SQLITE_BUSY;
}
