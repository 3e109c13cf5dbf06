import { existsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder inside of a volume that others may write in. */
const SUBFOLDER = 'service';
/** Every state folder that was used has it. */
const LOCK = 'owner.lock';

/**
 * Returns the folder that holds the state for a configured `state_dir`: that folder itself or, where its group or
 * everyone may write in it, as on volumes of containers, `service` in it, which is for this user alone. A folder that
 * is a state folder already stays one.
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

/** Keeps a state folder, with its keys and tokens, out of Git. Does nothing where that is said already. */
export function ignoreInGit(state_dir: string): void {
  try {
    writeFileSync(join(state_dir, '.gitignore'), '*\n', { flag: 'wx', mode: 0o600 });
  } catch {
    // It is there; or nothing can be written, and whoever needs the folder says so.
  }
}
