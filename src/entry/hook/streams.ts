import { writeSync } from 'node:fs';

/** The largest payload that is read, in bytes; larger ones are denied. */
export const STDIN_BYTES_MAX = 10_485_760;

/** Reads standard input to its end; `null` if it exceeds `bytesMax`. Rejects if it cannot be read. */
export async function readInput(stdin: AsyncIterable<Buffer>, bytesMax: number): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stdin) {
    bytes += chunk.length;
    if (bytes > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Writes the whole text synchronously, even to a slow reader, because the process exits right after. */
export function writeAll(fd: 1 | 2, text: string): void {
  let rest = Buffer.from(text, 'utf8');
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);
    }
  }
}
