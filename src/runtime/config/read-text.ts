import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

// Without O_NONBLOCK, opening a named pipe blocks until its other end is opened.
const O_RDONLY_NONBLOCK = constants.O_RDONLY | constants.O_NONBLOCK;

/** The maximum size of a configuration or document, in bytes. */
export const FILE_BYTES_MAX = 1_048_576;

/** The text of a file, or the predicate of an error sentence. */
export type TextRead =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

/**
 * Reads a regular file of UTF-8 text, of at most `bytesMax` bytes. Follows symbolic links. Rejects folders, pipes and
 * devices, because reading one might never end.
 */
export async function readText(path: string, bytesMax = FILE_BYTES_MAX): Promise<TextRead> {
  try {
    const file = await open(path, O_RDONLY_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return { ok: false, message: 'is not a regular file' };
      if (stats.size > bytesMax) return buildTooLargeRead(bytesMax);
      const bytes = await readUntil(file, bytesMax);
      return bytes.length > bytesMax ? buildTooLargeRead(bytesMax) : decodeText(bytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    return { ok: false, message: getReason(error) };
  }
}

const CHUNK_BYTES = 65_536;

/**
 * Reads a whole file, but at most slightly more than `bytesMax`, which is enough to detect a file that is too large.
 */
async function readUntil(file: Awaited<ReturnType<typeof open>>, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let length = 0; length <= bytesMax; ) {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES));
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks);
}

function decodeText(bytes: Uint8Array): TextRead {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { ok: false, message: 'is not UTF-8 text' };
  }
}

function buildTooLargeRead(bytesMax: number): TextRead {
  return { ok: false, message: `is larger than ${bytesMax} bytes` };
}

function getReason(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'does not exist';
    case 'EACCES':
    case 'EPERM':
      return 'may not be read by this user';
    case 'ELOOP':
      return 'is a link that leads to itself';
    case 'EISDIR':
      return 'is a folder';
    default:
      return 'cannot be read';
  }
}
