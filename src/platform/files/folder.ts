import { mkdirSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ignoreInGit } from './state-folder.ts';

/** The mode of folders that hold state: only the owner has access. */
const PRIVATE_MODE = 0o700;
/** The default name of a state folder. */
const STATE_DIR = '.service';

/**
 * Makes a folder and its parents. Fails if no folder can be made, unlike `mkdir` with `recursive`: below `/proc`, where
 * a new folder is "not found" although its parent exists, Node retries forever.
 */
export function makeFolder(path: string, mode = PRIVATE_MODE): void {
  const missing: string[] = [];
  for (let at = path; !isFolder(at); at = dirname(at)) {
    missing.push(at);
    if (dirname(at) === at) break;
  }
  for (const each of missing.reverse()) {
    makeOne(each, mode);
    if (basename(each) === STATE_DIR) ignoreInGit(each);
  }
}

function makeOne(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process may have made it first.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw error;
  }
}
