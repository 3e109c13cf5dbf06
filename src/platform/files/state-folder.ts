import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder inside a volume that other users may write to. */
const SUBFOLDER = 'service';
/** A file that every used state folder contains. */
const LOCK = 'owner.lock';

/**
 * Returns the state folder for a configured `state_dir`. Returns that folder, unless its group or everyone may write to
 * it, as on container volumes; then it returns the private subfolder `service`. A folder that already holds state
 * remains the state folder.
 */
export function resolveStateDir(state_dir: string): string {
  try {
    const { mode } = statSync(state_dir);
    const is_shared = (mode & 0o022) !== 0 && !existsSync(join(state_dir, LOCK));
    return is_shared ? join(state_dir, SUBFOLDER) : state_dir;
  } catch {
    return state_dir;
  }
}

/** Keeps a state folder, with its keys and tokens, out of Git. Keeps an existing `.gitignore`. */
export function ignoreInGit(state_dir: string): void {
  try {
    writeFileSync(join(state_dir, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // The file exists, or the folder is not writable, which the next write to the folder reports.
  }
}
