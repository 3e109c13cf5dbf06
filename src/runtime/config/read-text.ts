import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

// Without O_NONBLOCK the opening of a named pipe waits for its other end.
const O_RDONLY_NONBLOCK = constants.O_RDONLY | constants.O_NONBLOCK;

/** The largest configuration or document that is read, in bytes. */
export const FILE_BYTES_MAX = 1_048_576;

/** A file's text, or the predicate of a sentence that says why there is none. */
export type TextRead =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly message: string };

/**
 * Reads one regular file of UTF-8 text, of at most `bytes_max` bytes; links are followed. Nothing else (a
 * folder, a pipe, a device) is opened for long, for reading it might never end.
 */
export async function readText(path: string, bytes_max = FILE_BYTES_MAX): Promise<TextRead> {
  try {
    const file = await open(path, O_RDONLY_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile()) return { ok: false, message: 'is not a regular file' };
      if (stats.size > bytes_max) return tooLarge(bytes_max);
      const bytes = Buffer.alloc(bytes_max + 1);
      const length = await readFully(file, bytes);
      if (length > bytes_max) return tooLarge(bytes_max);
      return decode(bytes.subarray(0, length));
    } finally {
      await file.close();
    }
  } catch (error) {
    return { ok: false, message: reasonOf(error) };
  }
}

async function readFully(file: Awaited<ReturnType<typeof open>>, bytes: Buffer): Promise<number> {
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await file.read(bytes, length, bytes.length - length, null);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return length;
}

function decode(bytes: Uint8Array): TextRead {
  try {
    return { ok: true, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { ok: false, message: 'is not UTF-8 text' };
  }
}

function tooLarge(bytes_max: number): TextRead {
  return { ok: false, message: `is larger than ${bytes_max} bytes` };
}

function reasonOf(error: unknown): string {
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
