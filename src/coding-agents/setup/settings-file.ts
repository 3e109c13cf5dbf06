import { randomBytes } from 'node:crypto';
import { type FileHandle, lstat, mkdir, open, realpath, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readRegularFile } from '../../runtime/packages/read-file.ts';
import { decodeSettings } from './plan.ts';
import { SettingsFailure } from './settings-document.ts';

/** A settings file as it was read. */
export interface ReadSettings {
  /** The path without symbolic links, which is the one to write. */
  readonly real_path: string;
  /** `null` if there is no file. */
  readonly text: string | null;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** The largest settings file that is read, in bytes. Real ones are far smaller. */
const FILE_BYTES_MAX = 1_000_000;
const MODE_NEW = 0o644;

/**
 * Reads a settings file, following symbolic links.
 * @throws SettingsFailure if it is not a readable regular file of a reasonable size
 */
export async function readSettingsFile(path: string): Promise<ReadSettings> {
  try {
    return await readThroughLinks(path);
  } catch (error) {
    throw explainSystemError(error, 'read') ?? error;
  }
}

async function readThroughLinks(path: string): Promise<ReadSettings> {
  const realPath = await resolveLinks(path);
  const stats = await stat(realPath).catch(ignoreMissing);
  if (stats === null) return { real_path: realPath, text: null, mode: MODE_NEW, uid: -1, gid: -1 };
  const bytes = await readRegularFile(realPath, FILE_BYTES_MAX);
  if (bytes === null) throw new SettingsFailure('is no regular file');
  if (bytes.length > FILE_BYTES_MAX) throw new SettingsFailure(`is larger than ${FILE_BYTES_MAX} bytes`);
  const { mode, uid, gid } = stats;
  return { real_path: realPath, text: decodeSettings(bytes), mode: mode & 0o7777, uid, gid };
}

/** Resolves symbolic links, so that writing keeps them. */
async function resolveLinks(path: string): Promise<string> {
  const found = await realpath(path).catch(ignoreMissing);
  if (found !== null) return found;
  if ((await lstat(path).catch(ignoreMissing)) !== null)
    throw new SettingsFailure('is a link to a file that is not there; create that file, or remove the link');
  return path;
}

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/**
 * Replaces the text of a file atomically, with the file's mode and owner.
 * @returns the folders that were created for it, the outermost first
 * @throws SettingsFailure if the file has changed since it was read, or may not be written
 */
export async function writeSettingsFile(previous: ReadSettings, text: string): Promise<readonly string[]> {
  assertWritable(previous);
  try {
    return await replaceFile(previous, text);
  } catch (error) {
    throw explainSystemError(error, 'written') ?? error;
  }
}

async function replaceFile(previous: ReadSettings, text: string): Promise<readonly string[]> {
  const folder = dirname(previous.real_path);
  const first = await mkdir(folder, { recursive: true });
  const temporary = join(folder, `.customshouse.${process.pid}.${randomBytes(6).toString('hex')}`);
  try {
    const file = await open(temporary, 'wx', previous.mode);
    try {
      await file.writeFile(text);
      if (previous.text !== null) await copyOwner(file, previous);
      await file.sync();
    } finally {
      await file.close();
    }
    await assertUnchanged(previous);
    await rename(temporary, previous.real_path);
  } finally {
    await rm(temporary, { force: true });
  }
  await syncFolder(folder);
  return first === undefined ? [] : listFolders(first, folder);
}

/** Gives a new file the mode and the owner of the file that it replaces. */
async function copyOwner(file: FileHandle, { mode, uid, gid }: ReadSettings): Promise<void> {
  const made = await file.stat();
  if (made.uid !== uid || made.gid !== gid)
    await file.chown(uid, gid).catch(() => {
      throw new SettingsFailure('belongs to another user; run this as its owner');
    });
  await file.chmod(mode);
}

/** Deletes a file that setup created. @throws SettingsFailure as `writeSettingsFile` does */
export async function deleteSettingsFile(previous: ReadSettings): Promise<void> {
  assertWritable(previous);
  await assertUnchanged(previous);
  await rm(previous.real_path).catch((error: unknown) => {
    throw explainSystemError(error, 'written') ?? error;
  });
}

/** Removes folders that setup created, given outermost first. A folder that is not empty stays. */
export async function removeFolders(folders: readonly string[]): Promise<void> {
  for (const folder of folders.toReversed()) await rmdir(folder).catch(() => {});
}

function assertWritable({ text, mode }: ReadSettings): void {
  // Replacing the file would ignore a protection that its owner set on purpose.
  if (text !== null && (mode & 0o222) === 0)
    throw new SettingsFailure('is read-only; change its mode (chmod u+w) if that is not intended');
}

async function assertUnchanged({ real_path, text }: ReadSettings): Promise<void> {
  const now = await readSettingsFile(real_path);
  if (now.text !== text || now.real_path !== real_path)
    throw new SettingsFailure('was changed in the meantime; nothing was written, so run this again');
}

function listFolders(first: string, last: string): readonly string[] {
  return last === first ? [first] : [...listFolders(first, dirname(last)), last];
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

function explainSystemError(error: unknown, action: 'read' | 'written'): SettingsFailure | null {
  const { code = '' } = error as NodeJS.ErrnoException;
  const denied = ['EACCES', 'EPERM'].includes(code);
  const sentence = denied ? `may not be ${action} by this user` : SENTENCES[code];
  return sentence === undefined ? null : new SettingsFailure(sentence);
}
