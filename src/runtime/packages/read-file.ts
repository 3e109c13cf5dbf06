import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** The flags follow no link at the end of the path, and do not block on a pipe. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Reads one regular file without following a link at the end of the path. Returns one byte more than
 * `bytesMax` if the file is larger, so that the caller can detect it. Returns `null` if the file is missing or
 * is not a regular file.
 */
export async function readRegularFile(path: string, bytesMax: number): Promise<Uint8Array | null> {
  const file = await open(path, FLAGS).catch((error: NodeJS.ErrnoException) => {
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EMLINK'].includes(error.code ?? '')) return null;
    throw error;
  });
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    const bytes = Buffer.alloc(Math.min((await file.stat()).size, bytesMax) + 1);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return bytes.subarray(0, length);
  } finally {
    await file.close();
  }
}
