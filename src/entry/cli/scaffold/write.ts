import { open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../../platform/files/folder.ts';

/** A file to be written: `path` seen from the folder, with slashes. */
export interface ScaffoldFile {
  readonly path: string;
  readonly text: string;
}

/** What came of it, as paths in the order given. */
export interface Written {
  readonly created: readonly string[];
  readonly kept: readonly string[];
}

/** Writes the files that are not there yet. What is there, a symbolic link included, stays as it is. */
export async function writeMissing(folder: string, files: readonly ScaffoldFile[]): Promise<Written> {
  const created: string[] = [];
  const kept: string[] = [];
  for (const { path, text } of files) {
    const target = join(folder, path);
    makeFolder(dirname(target), 0o777);
    (await createFile(target, text)) ? created.push(path) : kept.push(path);
  }
  return { created, kept };
}

async function createFile(target: string, text: string): Promise<boolean> {
  try {
    const file = await open(target, 'wx', 0o644);
    try {
      await file.writeFile(text);
      await file.close();
    } catch (error) {
      // A file that is half there would be kept by the next try.
      await file.close().catch(() => {});
      await rm(target, { force: true });
      throw Object.assign(error as Error, { path: target });
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
