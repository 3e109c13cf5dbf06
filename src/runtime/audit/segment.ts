import { close, constants, fdatasync, fstatSync, ftruncate, open, statSync, write } from 'node:fs';
import { promisify } from 'node:util';
import { FILE_MODE } from './files.ts';

/**
 * A file that is being written. `bytes` is how much of it is durable: what stands behind was never
 * acknowledged.
 */
export interface OpenSegment {
  readonly fd: number;
  readonly path: string;
  bytes: number;
}

const openFile = promisify(open);
const truncateFile = promisify(ftruncate);
const syncFile = promisify(fdatasync);
const closeFile = promisify(close);

/** Linux syncs each write by itself, which saves a second call; elsewhere the flag may promise less than it says. */
const WRITES_ARE_DURABLE = process.platform === 'linux';

/** Opens a file for `appendDurably`; with `create` it must not be there yet. `bytes` is where whole lines end. */
export async function openSegment(path: string, bytes: number, create: boolean): Promise<OpenSegment> {
  const { O_CREAT, O_DSYNC, O_EXCL, O_WRONLY } = constants;
  const flags = O_WRONLY | (create ? O_CREAT | O_EXCL : 0) | (WRITES_ARE_DURABLE ? O_DSYNC : 0);
  return { fd: await openFile(path, flags, FILE_MODE), path, bytes };
}

/**
 * Writes behind the durable bytes. Resolves when the disk has them, in the file that stands at `path`; `bytes` is
 * then past them.
 *
 * @param isWanted - asked when the disk has them: `false` rejects with `ETIMEDOUT`, and leaves `bytes` before them
 */
export function appendDurably(
  segment: OpenSegment,
  block: Buffer,
  isWanted: () => boolean = () => true,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: Error | null): void => {
      const failure = error ?? lossOf(segment) ?? (isWanted() ? null : late());
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
 * What is written to a file that was removed, or moved away with its folder, is kept by nobody: the disk takes
 * it and forgets it when the file is closed. Asked without waiting, for beside a sync it costs nothing.
 */
function lossOf({ fd, path }: OpenSegment): Error | null {
  const there = statSync(path, { throwIfNoEntry: false });
  const written = fstatSync(fd);
  if (there?.ino === written.ino && there.dev === written.dev) return null;
  return Object.assign(new Error('the file is not in its place any more'), { code: 'ENOENT' });
}

function late(): Error {
  return Object.assign(new Error('the disk has taken too long'), { code: 'ETIMEDOUT' });
}

/** Takes away all that stands behind the durable bytes. */
export async function cutToDurable(segment: OpenSegment): Promise<void> {
  await truncateFile(segment.fd, segment.bytes);
  await syncFile(segment.fd);
}

/** Lets go of the file; what was acknowledged is durable already. */
export async function closeSegment(segment: OpenSegment): Promise<void> {
  await closeFile(segment.fd);
}
