import { randomBytes } from 'node:crypto';
import { type FileHandle, lstat, mkdir, open, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readRegularFile } from '../../../runtime/packages/read-file.ts';
import { SettingsFailure } from '../document.ts';
import { textOf } from './plan.ts';

/** A settings file as it was read. */
export interface ReadFile {
  /** With links followed: what is written. */
  readonly real_path: string;
  /** `null`: there is none. */
  readonly text: string | null;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** No host's settings come near it. */
const FILE_BYTES_MAX = 1_000_000;
const MODE_NEW = 0o644;

/**
 * Reads a settings file, through links.
 * @throws SettingsFailure where it is none that may be changed
 */
export async function readSettings(path: string): Promise<ReadFile> {
  try {
    return await read(path);
  } catch (error) {
    throw refusedBySystem(error, 'read') ?? error;
  }
}

async function read(path: string): Promise<ReadFile> {
  const real_path = await realPathOf(path);
  const there = await stat(real_path).catch(missing);
  if (there === null) return { real_path, text: null, mode: MODE_NEW, uid: -1, gid: -1 };
  const bytes = await readRegularFile(real_path, FILE_BYTES_MAX);
  if (bytes === null) throw new SettingsFailure('is no regular file');
  if (bytes.length > FILE_BYTES_MAX) throw new SettingsFailure(`is larger than ${FILE_BYTES_MAX} bytes`);
  const { mode, uid, gid } = there;
  return { real_path, text: textOf(bytes), mode: mode & 0o7777, uid, gid };
}

/** A link is written through, so that it stays one. */
async function realPathOf(path: string): Promise<string> {
  const found = await realpath(path).catch(missing);
  if (found !== null) return found;
  if ((await lstat(path).catch(missing)) !== null)
    throw new SettingsFailure('is a link to a file that is not there; make that file, or take the link away');
  return path;
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/**
 * Puts a text in place of what was read, whole or not at all, with the mode and the owner that the file had.
 * @returns the folders that were made for it, the outermost first
 * @throws SettingsFailure where the file has changed since it was read, or may not be written
 */
export async function writeSettings(standing: ReadFile, text: string): Promise<readonly string[]> {
  assertWritable(standing);
  try {
    return await replace(standing, text);
  } catch (error) {
    throw refusedBySystem(error, 'written') ?? error;
  }
}

async function replace(standing: ReadFile, text: string): Promise<readonly string[]> {
  const folder = dirname(standing.real_path);
  const first = await mkdir(folder, { recursive: true });
  const beside = join(folder, `.agent-safety.${process.pid}.${randomBytes(6).toString('hex')}`);
  try {
    const file = await open(beside, 'wx', standing.mode);
    try {
      await file.writeFile(text);
      if (standing.text !== null) await keepOwner(file, standing);
      await file.sync();
    } finally {
      await file.close();
    }
    await assertUnchanged(standing);
    await rename(beside, standing.real_path);
  } finally {
    await rm(beside, { force: true });
  }
  await syncFolder(folder);
  return first === undefined ? [] : foldersFrom(first, folder);
}

/** The mode and the owner of the file that is replaced. */
async function keepOwner(file: FileHandle, { mode, uid, gid }: ReadFile): Promise<void> {
  const made = await file.stat();
  if (made.uid !== uid || made.gid !== gid)
    await file.chown(uid, gid).catch(() => {
      throw new SettingsFailure('belongs to another user; run this as its owner');
    });
  await file.chmod(mode);
}

/** Deletes a file that was made here. @throws SettingsFailure as `writeSettings` does */
export async function deleteSettings(standing: ReadFile): Promise<void> {
  assertWritable(standing);
  await assertUnchanged(standing);
  await rm(standing.real_path).catch((error: unknown) => {
    throw refusedBySystem(error, 'written') ?? error;
  });
}

/** Takes folders away that were made here, given the outermost first; one with something in it stays. */
export async function removeFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) await rmdir(folder).catch(() => {});
}

function assertWritable({ text, mode }: ReadFile): void {
  // A new file in its place would pass over what somebody has set on purpose.
  if (text !== null && (mode & 0o222) === 0)
    throw new SettingsFailure('is read-only; change its mode (chmod u+w) where that is not meant');
}

async function assertUnchanged({ real_path, text }: ReadFile): Promise<void> {
  const now = await readSettings(real_path);
  if (now.text !== text || now.real_path !== real_path)
    throw new SettingsFailure('was changed while you looked; nothing was written, so run this again');
}

function foldersFrom(first: string, last: string): readonly string[] {
  return last === first ? [first] : [...foldersFrom(first, dirname(last)), last];
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const SENTENCES: Readonly<Record<string, string>> = {
  EROFS: 'is on a disk that is read-only',
  ENOSPC: 'cannot be written: the disk is full',
  ENOTDIR: 'has a file where a folder is expected',
  EEXIST: 'has a file where a folder is expected',
  ELOOP: 'is a link that leads to itself',
};

function refusedBySystem(error: unknown, act: 'read' | 'written'): SettingsFailure | null {
  const { code = '' } = error as NodeJS.ErrnoException;
  const denied = ['EACCES', 'EPERM'].includes(code);
  const sentence = denied ? `may not be ${act} by this user` : SENTENCES[code];
  return sentence === undefined ? null : new SettingsFailure(sentence);
}
