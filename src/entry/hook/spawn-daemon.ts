import { spawn } from 'node:child_process';
import { closeSync, constants, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openOwnFileSync } from '../../platform/files/own-file.ts';
import type { HookLocation } from './hook-location.ts';

/** The time before a daemon is started again, so that a failing start is not repeated at every hook. */
const RESTART_PAUSE_MS = 30_000;

/**
 * Starts the daemon for the next hooks, detached from this process, and does not wait for it. Does nothing if one was
 * started within the last 30 seconds.
 */
export function spawnDaemon(location: HookLocation, stateDir: string, version: string): void {
  const log = join(stateDir, 'daemon.log');
  const last = statSync(log, { throwIfNoEntry: false });
  if (last !== undefined && Date.now() - last.mtimeMs < RESTART_PAUSE_MS) return;
  const { O_CREAT, O_TRUNC, O_WRONLY } = constants;
  const file = openOwnFileSync(log, O_WRONLY | O_CREAT | O_TRUNC);
  const program = fileURLToPath(new URL(`./daemon-process${extname(import.meta.url)}`, import.meta.url));
  const args = [program, version, ...(location.path === null ? [] : [location.path])];
  // The token belongs to one agent, and the daemon serves all.
  const { SERVICE_USER_TOKEN: _token, ...env } = location.env;
  const child = spawn(process.execPath, args, {
    cwd: location.cwd,
    env,
    detached: true,
    stdio: ['ignore', 'ignore', file],
  });
  child.on('error', () => {});
  child.unref();
  closeSync(file);
}
