import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder inside a volume that other users may write to. */
const SUBFOLDER = 'service';
/** A file that every used state folder contains. */
const LOCK = 'owner.lock';

/**
 * Returns the state folder for a configured `stateDir`. Returns that folder, unless its group or everyone may write to
 * it, as on container volumes; then it returns the private subfolder `service`. A folder that already holds state
 * remains the state folder.
 */
export function resolveStateDir(stateDir: string): string {
  try {
    const { mode } = statSync(stateDir);
    const isShared = (mode & 0o022) !== 0 && !existsSync(join(stateDir, LOCK));
    return isShared ? join(stateDir, SUBFOLDER) : stateDir;
  } catch {
    return stateDir;
  }
}

/** Keeps a state folder, with its keys and tokens, out of Git. Keeps an existing `.gitignore`. */
export function ignoreInGit(stateDir: string): void {
  try {
    writeFileSync(join(stateDir, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // The file exists, or the folder is not writable, which the next write to the folder reports.
  }
}
