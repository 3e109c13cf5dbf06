import { realpathSync } from 'node:fs';

/** Resolves the symbolic links in a path, so that two processes agree on the name of a file. */
export function resolveRealPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
