import { createReadStream } from 'node:fs';

/** What of a file is read at most. Longer lines hold pictures and the like; what they are is not known. */
const LINE_BYTES_MAX = 8_388_608;
const FILE_BYTES_MAX = 536_870_912;

/** What reading a file came to besides its lines. */
export interface LinesRead {
  /** Lines that were too long, and a rest behind the bound. */
  left_out: number;
}

/** One line; the last one may be on its way still. */
export interface Line {
  readonly bytes: Buffer;
  readonly is_ended: boolean;
}

/** The lines of a file, one after the other, without more of it in memory than one line. */
export async function* linesOf(path: string, read: LinesRead): AsyncGenerator<Line> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  let total = 0;
  const line = (end: Buffer): Buffer | null => {
    const whole = bytes + end.length > LINE_BYTES_MAX ? null : Buffer.concat([...pieces, end]);
    if (whole === null) read.left_out += 1;
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
    if (total > FILE_BYTES_MAX) {
      read.left_out += 1;
      return;
    }
  }
  const last = line(Buffer.alloc(0));
  if (last !== null && last.length > 0) yield { bytes: last, is_ended: false };
}
