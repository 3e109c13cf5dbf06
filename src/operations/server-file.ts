import { constants } from 'node:fs';
import { type FileHandle, open, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Refusal } from './operation.ts';

/**
 * Reads a file of this machine for a caller: a regular file below one of the roots, of at most `bytes_max`
 * bytes. Whatever is in the way, be it missing, outside, a folder or unreadable, is one and the same refusal,
 * so that nobody can feel out what lies elsewhere. A relative path is looked for in each root in turn.
 */
export async function readServerFile(
  path: string,
  roots: readonly string[],
  bytes_max: number,
): Promise<Buffer> {
  if (roots.length === 0) {
    throw new Refusal('forbidden', 'Scanning files by path is off: name their folders in `scan.file_roots`.');
  }
  for (const root of roots) {
    const file = await openBelow(root, path);
    if (file === null) continue;
    try {
      return await readAll(file, bytes_max);
    } finally {
      await file.close();
    }
  }
  throw new Refusal('not_found', 'There is no such file below `scan.file_roots`.');
}

/**
 * Opens what lies below `root` once all links are followed. What was opened is then compared with what the path
 * leads to, so that a link changed in between cannot lead outside.
 */
async function openBelow(root: string, path: string): Promise<FileHandle | null> {
  if (path.includes('\0')) return null;
  const asked = isAbsolute(path) ? resolve(path) : join(resolve(root), path);
  if (!isBelow(resolve(root), asked)) return null;
  let file: FileHandle | null = null;
  try {
    const top = await realpath(root);
    const real = await realpath(asked);
    if (!isBelow(top, real)) return null;
    // Without waiting: opening a pipe would otherwise hang until somebody writes to it.
    file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const opened = await file.stat();
    const again = await stat(real);
    const same = (await realpath(real)) === real && opened.ino === again.ino && opened.dev === again.dev;
    if (opened.isFile() && same) return file;
  } catch {
    // Missing, not allowed, too long, a loop of links: all the same to the caller.
  }
  await file?.close();
  return null;
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Reads one byte more than allowed at most: a file may grow while it is read. */
async function readAll(file: FileHandle, bytes_max: number): Promise<Buffer> {
  const { size } = await file.stat();
  if (size > bytes_max) throw tooLarge(bytes_max);
  const buffer = Buffer.alloc(size + 1);
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  if (length > size && length > bytes_max) throw tooLarge(bytes_max);
  return buffer.subarray(0, length);
}

function tooLarge(bytes_max: number): Refusal {
  return new Refusal('too_large', `The file is larger than ${bytes_max} bytes.`);
}
