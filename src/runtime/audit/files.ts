import { randomBytes } from 'node:crypto';
import { open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../platform/files/folder.ts';

/** The modes of everything that the journal makes: nobody else reads it. */
export const DIR_MODE = 0o700;
export const FILE_MODE = 0o600;

/** One file of a writer's chain. `gzip` ones are closed and never written again. */
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

/** `000000000000001.jsonl`: the number of a file's first line, so that names sort as the chain runs. */
export function segmentName(first_seq: number): string {
  return `${String(first_seq).padStart(15, '0')}.jsonl`;
}

/** Whether a name may be a writer's: lower case, no path in it, not the spool. */
export function isWriterName(name: string): boolean {
  return WRITER_NAME.test(name) && name !== SPOOL_NAME;
}

/** The writers that have a folder, sorted. A journal that is not there has none. */
export async function listWriters(journal_dir: string): Promise<string[]> {
  const entries = await readdir(journal_dir, { withFileTypes: true }).catch(nothingThere);
  return entries
    .filter((entry) => entry.isDirectory() && isWriterName(entry.name))
    .map((entry) => entry.name)
    .sort();
}

/**
 * A writer's files in the order of the chain. Where a file stands both plain and compressed (a stop between
 * the two), the plain one is given: it is the one that is surely whole.
 */
export async function listSegments(writer_dir: string): Promise<SegmentFile[]> {
  const entries = await readdir(writer_dir, { withFileTypes: true }).catch(nothingThere);
  const by_seq = new Map<number, SegmentFile>();
  for (const { name } of entries) {
    const match = SEGMENT_NAME.exec(name);
    if (match === null) continue;
    const first_seq = Number(match[1]);
    const gzip = match[2] !== undefined;
    if (gzip && by_seq.has(first_seq)) continue;
    by_seq.set(first_seq, { name, path: join(writer_dir, name), first_seq, gzip });
  }
  return [...by_seq.values()].sort((a, b) => a.first_seq - b.first_seq);
}

function nothingThere(error: NodeJS.ErrnoException): [] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

/** Makes a folder and those above it, for the owner alone. */
export async function makeDir(path: string): Promise<void> {
  makeFolder(path, DIR_MODE);
}

/** Makes the names in a folder durable: after a file was made, renamed or removed in it. */
export async function syncDir(path: string): Promise<void> {
  const dir = await open(path, 'r');
  try {
    await dir.sync();
  } finally {
    await dir.close();
  }
}

/** Writes a whole file so that it is there, whole, or not at all: temporary file, fsync, rename, fsync folder. */
export async function writeFileDurably(path: string, content: string | Buffer): Promise<void> {
  const temporary = temporaryName(path);
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

/** A name beside `path` that no reader takes for a finished file. */
export function temporaryName(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}.tmp`;
}
