import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../platform/files/folder.ts';

/** The modes of all files and folders of the journal: only the owner may read them. */
export const DIR_MODE = 0o700;
export const FILE_MODE = 0o600;

/** One file of a writer's chain. A `gzip` file is closed and never written again. */
export interface SegmentFile {
  readonly name: string;
  readonly path: string;
  /** The number of its first line. */
  readonly first_seq: number;
  readonly gzip: boolean;
}

const SEGMENT_NAME = /^(\d{15})\.jsonl(\.gz)?$/;
const WRITER_NAME = /^[a-z0-9][a-z0-9._-]{0,63}$/;

/** The folder in which short-lived processes leave events; no writer can have its name. */
export const SPOOL_NAME = 'spool';

/** Returns the name of a file by the number of its first line, `000000000000001.jsonl`. Names sort in chain order. */
export function buildSegmentName(firstSeq: number): string {
  return `${String(firstSeq).padStart(15, '0')}.jsonl`;
}

/** Returns whether a name is a valid writer name: lower case, no path separators, not the spool. */
export function isWriterName(name: string): boolean {
  return WRITER_NAME.test(name) && name !== SPOOL_NAME;
}

/** Returns the writers that have a folder, sorted; none if the journal does not exist. */
export async function listWriters(journalDir: string): Promise<string[]> {
  const entries = await readdir(journalDir, { withFileTypes: true }).catch(ignoreMissing);
  return entries
    .filter((entry) => entry.isDirectory() && isWriterName(entry.name))
    .map((entry) => entry.name)
    .sort();
}

/**
 * Returns a writer's files in chain order. If a file exists both plain and compressed (after a stop between the two
 * steps), returns the plain one, because the compressed one may be incomplete.
 */
export async function listSegments(writerDir: string): Promise<SegmentFile[]> {
  const entries = await readdir(writerDir, { withFileTypes: true }).catch(ignoreMissing);
  const bySeq = new Map<number, SegmentFile>();
  for (const entry of entries) {
    const { name } = entry;
    const match = SEGMENT_NAME.exec(name);
    if (match === null || !entry.isFile()) continue;
    const firstSeq = Number(match[1]);
    const gzip = match[2] !== undefined;
    if (gzip && bySeq.has(firstSeq)) continue;
    bySeq.set(firstSeq, { name, path: join(writerDir, name), first_seq: firstSeq, gzip });
  }
  return [...bySeq.values()].sort((a, b) => a.first_seq - b.first_seq);
}

/** Returns the bytes of all files of a journal, as they are on the disk. */
export async function countJournalBytes(journalDir: string): Promise<number> {
  let bytes = 0;
  for (const writer of await listWriters(journalDir))
    for (const { path } of await listSegments(join(journalDir, writer)))
      bytes += await stat(path).then(
        ({ size }) => size,
        () => 0,
      );
  return bytes;
}

function ignoreMissing(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

/** Makes a folder and its parents with the owner's rights only. */
export async function makeDir(path: string): Promise<void> {
  makeFolder(path, DIR_MODE);
}

/** Syncs a folder, so that files that were created, renamed or removed in it are durable. */
export async function syncDir(path: string): Promise<void> {
  const dir = await open(path, 'r');
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}

/** Writes a whole file atomically and durably: temporary file, fsync, rename, fsync of the folder. */
export async function writeFileDurably(path: string, content: string | Buffer): Promise<void> {
  const temporary = buildTemporaryName(path);
  try {
    const file = await open(temporary, 'wx', FILE_MODE);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncDir(dirname(path));
}

/** Returns a name next to `path` that no reader mistakes for a finished file. */
export function buildTemporaryName(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`;
}
