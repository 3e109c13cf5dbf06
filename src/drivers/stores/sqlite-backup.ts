import { chmodSync, closeSync, fsyncSync, openSync } from 'node:fs';
import { backup } from 'node:sqlite';
import { openSqliteDatabase } from './sqlite.ts';

/** More pages than any store has: in one step other processes cannot make the copy begin again. */
const PAGES = 2_147_483_647;

/**
 * Copies a database that other processes write to, as it is at one moment, with SQLite's own backup. The copy is one
 * file, readable by its owner only, and durable.
 */
export async function backUpSqlite(path: string, target: string): Promise<void> {
  closeSync(openSync(target, 'wx', 0o600));
  const database = openSqliteDatabase({ path, read_only: true });
  try {
    await backup(database, target, { rate: PAGES });
  } finally {
    database.close();
  }
  chmodSync(target, 0o600);
  const file = openSync(target, 'r');
  fsyncSync(file);
  closeSync(file);
}
