import { constants } from 'node:fs';
import { copyFile, link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Writes a new file, and flushes it to the disk before it returns. */
export async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o644);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Replaces a file atomically. */
export async function replaceDurably(path: string, text: string, temporary: string): Promise<void> {
  await rm(temporary, { force: true });
  await writeDurably(temporary, text);
  await rename(temporary, path);
  await syncFolder(dirname(path));
}

/**
 * Creates a hard link to a file, or a copy if the file system has no hard links. Never replaces another file.
 */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(async (error: NodeJS.ErrnoException) => {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'].includes(error.code ?? ''))
      throw error;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  });
}

/** Flushes the creations, moves and removals in a folder to the disk. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
