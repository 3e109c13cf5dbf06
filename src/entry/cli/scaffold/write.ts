import { open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../../platform/files/folder.ts';

/** A file to write. `path` is relative to the folder, with slashes. */
export interface ScaffoldFile {
  readonly path: string;
  readonly text: string;
}

/** The written and the kept files, as paths in the order given. */
export interface WrittenFiles {
  readonly created: readonly string[];
  readonly kept: readonly string[];
}

/** Writes the files that do not exist yet. An existing file or symbolic link is kept unchanged. */
export async function writeMissingFiles(
  folder: string,
  files: readonly ScaffoldFile[],
): Promise<WrittenFiles> {
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
      // The next attempt would keep an incomplete file.
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
