import { mkdirSync, statSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { ignoreInGit } from './state-folder.ts';

/** Permissions of folders that hold state: for this user alone. */
const PRIVATE_MODE = 0o700;
/** The name of a state folder unless told. */
const STATE_DIR = '.service';

/**
 * Makes a folder and those above it. Unlike `mkdir` with `recursive` it ends where nothing can be made: below
 * `/proc`, where a new folder is "not found" although the one above is there, Node tries for ever.
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
    // Another process may have been first.
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
