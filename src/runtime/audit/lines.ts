import { createReadStream } from 'node:fs';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import type { SegmentFile } from './files.ts';
import { LINE_BYTES_MAX } from './record.ts';

/** One line of a file, without its `\n`. `bytes` is only good until the next line is asked for. */
export interface Line {
  readonly bytes: Buffer;
  /** Where it ends in the file (uncompressed), its `\n` included. */
  readonly end: number;
  /** `false`: the file ends in the middle of it, or it is longer than any line that is written. */
  readonly whole: boolean;
}

const READ_BYTES = 262_144;

/**
 * The lines of a file from an offset (uncompressed bytes, at the start of a line). A line past the limit is
 * given as pieces that are not whole, so that memory stays bounded.
 */
export async function* readLines(segment: SegmentFile, offset = 0): AsyncGenerator<Line> {
  let kept: Buffer = Buffer.alloc(0);
  let kept_at = offset;
  for await (const chunk of readBytes(segment, offset)) {
    const bytes = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
    let from = 0;
    for (let end = bytes.indexOf(0x0a, kept.length); end >= 0; end = bytes.indexOf(0x0a, from)) {
      yield { bytes: bytes.subarray(from, end), end: kept_at + end + 1, whole: true };
      from = end + 1;
    }
    kept = bytes.subarray(from);
    kept_at += from;
    if (kept.length > LINE_BYTES_MAX) {
      kept_at += kept.length;
      yield { bytes: kept, end: kept_at, whole: false };
      kept = Buffer.alloc(0);
    }
  }
  if (kept.length > 0) yield { bytes: kept, end: kept_at + kept.length, whole: false };
}

async function* readBytes(segment: SegmentFile, offset: number): AsyncGenerator<Buffer> {
  if (!segment.gzip) {
    yield* createReadStream(segment.path, { start: offset, highWaterMark: READ_BYTES });
    return;
  }
  let skip = offset;
  for await (const chunk of gunzipped(segment.path)) {
    const bytes = chunk as Buffer;
    if (skip < bytes.length) yield bytes.subarray(skip);
    skip = Math.max(0, skip - bytes.length);
  }
}

/** The uncompressed bytes as a stream that carries the faults of both halves. */
function gunzipped(path: string): Readable {
  const out = new PassThrough();
  pipeline(
    createReadStream(path, { highWaterMark: READ_BYTES }),
    createGunzip({ chunkSize: READ_BYTES }),
    out,
  ).catch(() => {});
  return out;
}
