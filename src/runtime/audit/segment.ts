import { close, constants, fdatasync, fstatSync, ftruncate, open, statSync, write } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSegmentName, FILE_MODE, syncDir } from './files.ts';
import { type ChainHead, encodeRecord } from './journal-record.ts';

/** A file that is open for writing. The first `bytes` bytes are durable. Bytes after them were never acknowledged. */
export interface OpenSegment {
  readonly fd: number;
  readonly path: string;
  bytes: number;
}

const openFile = promisify(open);
const truncateFile = promisify(ftruncate);
const syncFile = promisify(fdatasync);
const closeFile = promisify(close);

/** Linux syncs each write with `O_DSYNC`, which saves a second call. Other systems may ignore part of the flag. */
const WRITES_ARE_DURABLE = process.platform === 'linux';

/**
 * Opens a file for `appendDurably`. With `create`, the file must not exist. `bytes` is the end of the last whole line.
 */
export async function openSegment(path: string, bytes: number, create: boolean): Promise<OpenSegment> {
  const { O_CREAT, O_DSYNC, O_EXCL, O_WRONLY } = constants;
  const flags = O_WRONLY | (create ? O_CREAT | O_EXCL : 0) | (WRITES_ARE_DURABLE ? O_DSYNC : 0);
  return { fd: await openFile(path, flags, FILE_MODE), path, bytes };
}

/**
 * Writes a block after the durable bytes. Resolves when the block is on disk, in the file at `path`, and advances
 * `bytes`.
 *
 * @param isWanted - called when the block is on disk; `false` rejects with `ETIMEDOUT` and does not advance `bytes`
 */
export function appendDurably(
  segment: OpenSegment,
  block: Buffer,
  isWanted: () => boolean = () => true,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null): void => {
      const failure = error ?? getLoss(segment) ?? (isWanted() ? null : buildTimeoutError());
      if (failure !== null) {
        reject(failure);
        return;
      }
      segment.bytes += block.length;
      resolve();
    };
    const step = (from: number): void => {
      write(segment.fd, block, from, block.length - from, segment.bytes + from, (error, written) => {
        const end = from + written;
        if (error || (end === block.length && WRITES_ARE_DURABLE)) done(error);
        else if (end < block.length) step(end);
        else fdatasync(segment.fd, done);
      });
    };
    step(0);
  });
}

/**
 * Returns an error if the file was removed, or moved away with its folder. The disk accepts a write to such a file and
 * drops it when the file is closed. The check is synchronous because it costs nothing compared with a sync.
 */
function getLoss({ fd, path }: OpenSegment): Error | null {
  const there = statSync(path, { throwIfNoEntry: false });
  const written = fstatSync(fd);
  if (there?.ino === written.ino && there.dev === written.dev) return null;
  return Object.assign(new Error('the file is not in its place any more'), { code: 'ENOENT' });
}

function buildTimeoutError(): Error {
  return Object.assign(new Error('the disk has taken too long'), { code: 'ETIMEDOUT' });
}

/** Truncates the file to its durable bytes. */
export async function cutToDurable(segment: OpenSegment): Promise<void> {
  await truncateFile(segment.fd, segment.bytes);
  await syncFile(segment.fd);
}

/** Closes the file. Needs no sync, because acknowledged bytes are durable already. */
export async function closeSegment(segment: OpenSegment): Promise<void> {
  await closeFile(segment.fd);
}

/** Creates the file that follows `head`, with its first line. Removes the file if that fails. */
export async function createSegment(
  options: { readonly writer: string; readonly now_ms: () => number },
  writerDir: string,
  head: ChainHead,
): Promise<{ segment: OpenSegment; head: ChainHead }> {
  const path = join(writerDir, buildSegmentName(head.seq + 1));
  const segment = await openSegment(path, 0, true);
  try {
    const body = { format: 2, hash: 'sha256', timestamp: new Date(options.now_ms()).toISOString() };
    const first = encodeRecord(head, options.writer, 'segment', JSON.stringify(body));
    await appendDurably(segment, Buffer.from(first.line));
    await syncDir(writerDir);
    return { segment, head: first.head };
  } catch (error) {
    await closeSegment(segment).catch(() => {});
    await rm(path, { force: true }).catch(() => {});
    throw error;
  }
}
