import { type BigIntStats, constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { Refusal } from './operation.ts';

/** The folders from which a caller may have files read, and the service's state folder, which is never read. */
export interface ServerFilePlaces {
  readonly file_roots: readonly string[];
  readonly state_dir: string;
}

/**
 * Reads a file of this machine for a caller: a regular file below one of the roots, of at most `bytesMax` bytes. A
 * file that is missing, outside the roots, a folder or unreadable gives the same refusal, so that a caller cannot probe
 * for files elsewhere. A relative path is resolved against each root in turn.
 */
export async function readServerFile(
  path: string,
  { file_roots, state_dir }: ServerFilePlaces,
  bytesMax: number,
): Promise<Buffer> {
  if (file_roots.length === 0) {
    throw new Refusal('forbidden', 'Scanning files by path is off: name their folders in `scan.file_roots`.');
  }
  // A token in the file would be returned as the match of a finding.
  const barred = await realpath(state_dir).catch(() => state_dir);
  for (const root of file_roots) {
    const file = await openBelow(root, path, barred);
    if (file === null) continue;
    try {
      return await readAll(file, bytesMax);
    } finally {
      await file.close();
    }
  }
  throw new Refusal('not_found', 'There is no such file below `scan.file_roots`.');
}

/**
 * Opens a file below `root` after following all links. The location of the opened file decides, because links may
 * change between two checks of a path.
 */
async function openBelow(root: string, path: string, barred: string): Promise<FileHandle | null> {
  if (path.includes('\0')) return null;
  const request = isAbsolute(path) ? resolve(path) : join(resolve(root), path);
  if (!isBelow(resolve(root), request)) return null;
  let file: FileHandle | null = null;
  try {
    const top = await realpath(root);
    const real = await realpath(request);
    if (!isBelow(top, real)) return null;
    // Opens without blocking: opening a pipe would otherwise wait until another process writes to it.
    file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const place = await getPlace(file, real);
    const isOurs = place !== null && isBelow(top, place) && !isBelow(barred, place);
    const stats = await file.stat({ bigint: true });
    if (isOurs && stats.isFile() && !(await isLinkedFrom(barred, stats))) return file;
  } catch {
    // Missing, forbidden, too long, a loop of links: the caller gets the same refusal for each.
  }
  await file?.close();
  return null;
}

/**
 * Maximum number of files of the state folder that are searched for a hard link. Above that, the file counts as linked.
 */
const STATE_FILES_MAX = 20_000;

/**
 * Returns whether a file is also a file of the state folder. A hard link has a path of its own and the same content.
 */
async function isLinkedFrom(stateDir: string, { dev, ino, nlink }: BigIntStats): Promise<boolean> {
  if (nlink <= 1n) return false;
  const names = await readdir(stateDir, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length > STATE_FILES_MAX) return true;
  for (const name of names) {
    const own = await lstat(join(stateDir, name), { bigint: true }).catch(() => null);
    if (own !== null && own.ino === ino && own.dev === dev) return true;
  }
  return false;
}

/**
 * Returns the location of an open file. Linux reports it; elsewhere it is where the path leads now, if that is still
 * the same file.
 */
async function getPlace(file: FileHandle, path: string): Promise<string | null> {
  if (process.platform === 'linux') return readlink(`/proc/self/fd/${file.fd}`);
  const opened = await file.stat();
  const there = await stat(path);
  return opened.ino === there.ino && opened.dev === there.dev ? realpath(path) : null;
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

const CHUNK_BYTES = 65_536;

/**
 * Reads to the end, or until one byte more than allowed. The reported size is only a hint: a file may grow while it is
 * read, and files that the kernel generates report size 0.
 */
async function readAll(file: FileHandle, bytesMax: number): Promise<Buffer> {
  const { size } = await file.stat();
  if (size > bytesMax) throw buildTooLargeRefusal(bytesMax);
  const chunks: Buffer[] = [];
  for (let length = 0; length <= bytesMax; ) {
    const chunk = Buffer.alloc(Math.min(Math.max(size + 1 - length, CHUNK_BYTES), bytesMax + 1 - length));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, length);
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, bytesRead));
    length += bytesRead;
  }
  throw buildTooLargeRefusal(bytesMax);
}

function buildTooLargeRefusal(bytesMax: number): Refusal {
  return new Refusal('too_large', `The file is larger than ${bytesMax} bytes.`);
}
