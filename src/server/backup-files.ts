/** Copies files of a backup, with their hashes. */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createGunzip } from 'node:zlib';
import { makeFolder } from '../platform/files/folder.ts';
import { openOwnFile } from '../platform/files/own-file.ts';

/** One file of a backup. Its path is below the state folder, with `/`. */
export interface BackedUpFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

const FILE_MODE = 0o600;
const BLOCK_BYTES = 1_048_576;

/**
 * Copies the first bytes of a file, or all of it, and syncs the copy.
 * @param target - a file that is not there yet
 * @throws Error `ENOENT` if the source is not there; a shorter source is copied as it is
 */
export async function copyFile(
  source: string,
  target: string,
  bytesMax = Infinity,
): Promise<Omit<BackedUpFile, 'path'>> {
  const file = await openOwnFile(source);
  try {
    return await writeFile(target, readBlocks(file, bytesMax));
  } finally {
    await file.close();
  }
}

/** Copies the first bytes of a compressed file's content. */
export async function copyDecompressed(
  source: string,
  target: string,
  bytesMax: number,
): Promise<Omit<BackedUpFile, 'path'>> {
  return writeFile(target, limitBytes(createReadStream(source).pipe(createGunzip()), bytesMax));
}

/** Writes a text as a file. */
export async function copyText(text: string, target: string): Promise<Omit<BackedUpFile, 'path'>> {
  return writeFile(target, [Buffer.from(text)]);
}

/** Returns the hash of a file. @throws as `openOwnFile` */
export async function hashFile(path: string): Promise<Omit<BackedUpFile, 'path'>> {
  const file = await openOwnFile(path);
  const hash = createHash('sha256');
  try {
    let bytes = 0;
    for await (const block of readBlocks(file, Infinity)) bytes += addBlock(hash, block);
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    await file.close();
  }
}

/** Lists the regular files below a folder, by their paths in it; none if it is not there. Follows no link. */
export async function listFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true }).catch((error) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .sort();
}

async function writeFile(
  target: string,
  blocks: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<Omit<BackedUpFile, 'path'>> {
  makeFolder(dirname(target));
  const hash = createHash('sha256');
  const file = await open(target, 'wx', FILE_MODE);
  try {
    let bytes = 0;
    for await (const block of blocks) {
      await file.write(block);
      bytes += addBlock(hash, block);
    }
    await file.sync();
    return { bytes, sha256: hash.digest('hex') };
  } finally {
    await file.close();
  }
}

function addBlock(hash: Hash, block: Buffer): number {
  hash.update(block);
  return block.length;
}

async function* readBlocks(file: FileHandle, bytesMax: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytesMax; ) {
    const block = Buffer.alloc(Math.min(BLOCK_BYTES, bytesMax - at));
    const { bytesRead } = await file.read(block, 0, block.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield block.subarray(0, bytesRead);
  }
}

async function* limitBytes(blocks: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let left = bytesMax;
  for await (const block of blocks) {
    yield block.subarray(0, left);
    left -= block.length;
    if (left <= 0) return;
  }
}
