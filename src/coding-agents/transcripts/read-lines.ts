import { createReadStream } from 'node:fs';

/** The longest line that is parsed, in bytes. Longer lines hold binary data such as images. */
const LINE_BYTES_MAX = 8_388_608;
/** The most bytes that are read from a file, unless the caller sets fewer. */
const FILE_BYTES_MAX = 536_870_912;

/** A counter of the lines that reading a file skips. */
export interface SkipCounter {
  /** Lines that are too long, and the rest of a file that is too long. */
  skipped_count: number;
}

/** One line of a file. The last one may be incomplete, because the agent is still writing it. */
export interface Line {
  readonly bytes: Buffer;
  readonly is_ended: boolean;
}

/** Reads the lines of a file in order, with no more than one line in memory. */
export async function* readLines(
  path: string,
  read: SkipCounter,
  bytesMax = FILE_BYTES_MAX,
): AsyncGenerator<Line> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let total = 0;
  const line = (end: Buffer): Buffer | null => {
    const whole = bytes + end.length > LINE_BYTES_MAX ? null : Buffer.concat([...pieces, end]);
    if (whole === null) read.skipped_count += 1;
    pieces = [];
    bytes = 0;
    return whole;
  };
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const whole = line(chunk.subarray(from, at));
      if (whole !== null) yield { bytes: whole, is_ended: true };
      from = at + 1;
    }
    const rest = chunk.subarray(from);
    bytes += rest.length;
    if (bytes <= LINE_BYTES_MAX) pieces.push(rest);
    else pieces = [];
    total += chunk.length;
    if (total > bytesMax) {
      read.skipped_count += 1;
      return;
    }
  }
  const last = line(Buffer.alloc(0));
  if (last !== null && last.length > 0) yield { bytes: last, is_ended: false };
}
