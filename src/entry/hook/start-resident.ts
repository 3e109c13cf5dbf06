import { spawn } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Place } from './place.ts';

/** The time before a daemon is started again, so that a failing start is not repeated at every hook. */
const AGAIN_MS = 30_000;

/**
 * Starts the daemon for the next hooks, detached from this process, and does not wait for it. Does nothing if one was
 * started within the last 30 seconds.
 */
export function startResident(place: Place, state_dir: string, version: string): void {
  const log = join(state_dir, 'daemon.log');
  const last = statSync(log, { throwIfNoEntry: false });
  if (last !== undefined && Date.now() - last.mtimeMs < AGAIN_MS) return;
  const file = openSync(log, 'w', 0o600);
  const program = fileURLToPath(new URL(`./resident-process${extname(import.meta.url)}`, import.meta.url));
  const words = [program, version, ...(place.path === null ? [] : [place.path])];
  const child = spawn(process.execPath, words, {
    cwd: place.cwd,
    env: place.env,
    detached: true,
    stdio: ['ignore', 'ignore', file],
  });
  child.on('error', () => {});
  child.unref();
  closeSync(file);
}
