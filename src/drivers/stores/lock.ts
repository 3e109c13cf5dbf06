import { chmodSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';

/** A lock that one process owns until it releases it or dies; the kernel frees it even on SIGKILL. */
export interface Lock {
  readonly release: () => void;
}

/**
 * Takes the lock of a file: an exclusive transaction, held open, on an empty database.
 *
 * @param path - the file; a missing one is created, and it stays empty
 * @param waitMs - the time to wait for another owner, in milliseconds; this blocks the process
 * @returns `null` if another process (or another lock of this one) owns it
 */
export function takeLock(path: string, waitMs = 0): Lock | null {
  const database = new DatabaseSync(path, { timeout: waitMs });
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
