import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** Follows no link, and does not wait for the other end of a named pipe. Windows has neither flag. */
const SAFE = (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** The largest file that is read as a whole, a compiled policy, in bytes. */
const OWN_BYTES_MAX = 268_435_456;

/** The codes of an entry that no program of ours has written: a link, a socket, a folder, a pipe or a device. */
const FOREIGN_CODES = ['ELOOP', 'EMLINK', 'ENXIO', 'EOPNOTSUPP', 'EISDIR', 'EFTYPE'];

/**
 * Opens a file of the state folder to read it. Others may write there, so only a regular file is opened.
 *
 * @throws an error that `isForeignEntry` recognizes for anything else
 */
export async function openOwnFile(path: string): Promise<FileHandle> {
  const file = await open(path, constants.O_RDONLY | SAFE);
  const stats = await file.stat().catch(() => null);
  if (stats?.isFile() === true) return file;
  await file.close();
  throw buildForeignFault(path);
}

/** Reads a whole file of the state folder. @throws as `openOwnFile`, and for a file over `bytesMax` */
export async function readOwnFile(path: string, bytesMax = OWN_BYTES_MAX): Promise<string> {
  const file = await openOwnFile(path);
  try {
    if ((await file.stat()).size > bytesMax) throw buildForeignFault(path);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

/** Does the same as `readOwnFile`, synchronously. */
export function readOwnFileSync(path: string, encoding: 'utf8' | 'latin1' = 'utf8'): string {
  return readOwnBytesSync(path).toString(encoding);
}

/** Does the same as `readOwnFileSync`, and returns bytes. */
export function readOwnBytesSync(path: string): Buffer {
  const file = openOwnFileSync(path, constants.O_RDONLY);
  try {
    if (fstatSync(file).size > OWN_BYTES_MAX) throw buildForeignFault(path);
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Appends to a file of the state folder, and creates it if it is missing. @throws as `openOwnFile` */
export function appendOwnFileSync(path: string, text: string, mode: number): void {
  const { O_APPEND, O_CREAT, O_WRONLY } = constants;
  const file = openOwnFileSync(path, O_WRONLY | O_APPEND | O_CREAT, mode);
  try {
    writeSync(file, text);
  } finally {
    closeSync(file);
  }
}

/** Opens a file of the state folder, with the flags of `open(2)`. @throws as `openOwnFile` */
export function openOwnFileSync(path: string, flags: number, mode = 0o600): number {
  const file = openSync(path, flags | SAFE, mode);
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw buildForeignFault(path);
}

/** Returns whether an error of these functions means that the entry is not a file of this program. */
export function isForeignEntry(error: unknown): boolean {
  return FOREIGN_CODES.includes(String((error as NodeJS.ErrnoException | null)?.code));
}

function buildForeignFault(path: string): Error {
  return Object.assign(new Error('the entry is not a regular file, or too large'), { code: 'EFTYPE', path });
}
