import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readOwnFile } from '../../platform/files/own-file.ts';
import { getSystemCode } from './failure.ts';
import { listSegments, listWriters } from './files.ts';

/** A part of a journal to copy: the first bytes of a file, or a small file as it was read. */
export type JournalPart =
  | { readonly path: string; readonly bytes: number }
  | { readonly path: string; readonly text: string };

/** The files of a writer's folder that are replaced as a whole, and name records of its files. */
const SMALL_FILES = ['head.json', 'retired.json'];
const SMALL_BYTES_MAX = 65_536;
const TRIES_MAX = 200;
const RETRY_MS = 25;
const BLOCK_BYTES = 65_536;
const LINE_FEED = 10;

/**
 * Measures how much of each file of a journal belongs to one moment, while services write to it. A copy of these parts
 * verifies: a checkpoint names only heads that other writers had published before, so nothing that was written during the
 * measurement names a record beyond it if no writer published a head meanwhile. Otherwise the measurement is repeated.
 *
 * @param onMeasured - called when the files of one writer are measured; for tests
 * @returns the parts by their paths in the journal; none if there is no journal
 * @throws Error if writers publish in every attempt, which one each 4,096 records cannot
 */
export async function measureJournal(
  journalDir: string,
  onMeasured: () => Promise<void> = async () => {},
): Promise<readonly JournalPart[]> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const before = await readSmallFiles(journalDir);
    const parts = await measureSegments(journalDir, onMeasured);
    const after = await readSmallFiles(journalDir);
    if (JSON.stringify(before) === JSON.stringify(after)) return [...before, ...parts];
    await sleep(RETRY_MS);
  }
  throw new Error('The journal publishes checkpoints without a pause.');
}

async function readSmallFiles(journalDir: string): Promise<JournalPart[]> {
  const parts: JournalPart[] = [];
  for (const writer of await listWriters(journalDir))
    for (const name of SMALL_FILES) {
      const text = await readOwnFile(join(journalDir, writer, name), SMALL_BYTES_MAX).catch(ignoreMissing);
      if (text !== null) parts.push({ path: join(writer, name), text });
    }
  return parts;
}

async function measureSegments(journalDir: string, onMeasured: () => Promise<void>): Promise<JournalPart[]> {
  const parts: JournalPart[] = [];
  for (const writer of await listWriters(journalDir)) {
    for (const { name, path, gzip } of await listSegments(join(journalDir, writer))) {
      const bytes = gzip ? await getSize(path) : await findEndOfLines(path);
      if (bytes !== null) parts.push({ path: join(writer, name), bytes });
    }
    await onMeasured();
  }
  return parts;
}

/** Returns a file's size; `null` if it was compressed or deleted since it was listed. */
async function getSize(path: string): Promise<number | null> {
  return stat(path).then(({ size }) => size, ignoreMissing);
}

/** Returns the bytes of a file's whole lines; a writer may be in the middle of one. */
async function findEndOfLines(path: string): Promise<number | null> {
  const file = await open(path, 'r').catch(ignoreMissing);
  if (file === null) return null;
  try {
    const block = Buffer.alloc(BLOCK_BYTES);
    for (let end = (await file.stat()).size; end > 0; end -= Math.min(end, BLOCK_BYTES)) {
      const from = Math.max(0, end - BLOCK_BYTES);
      const { bytesRead } = await file.read(block, 0, end - from, from);
      const at = block.subarray(0, bytesRead).lastIndexOf(LINE_FEED);
      if (at >= 0) return from + at + 1;
    }
    return 0;
  } finally {
    await file.close();
  }
}

function ignoreMissing(error: unknown): null {
  if (getSystemCode(error) === 'ENOENT') return null;
  throw error;
}
