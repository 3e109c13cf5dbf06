import { realpathSync } from 'node:fs';

/** The name of a file with its links followed, by which two processes know that they mean the same one. */
export function resolveRealPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
