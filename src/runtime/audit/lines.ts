import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { openOwnFile } from '../../platform/files/own-file.ts';
import { getSystemCode } from './failure.ts';
import type { SegmentFile } from './files.ts';
import { JOURNAL_LINE_BYTES_MAX } from './journal-record.ts';

/** One line of a file, without its `\n`. `bytes` is valid only until the next line is read. */
export interface JournalLine {
  readonly bytes: Buffer;
  /** The end of the line in the file (uncompressed), its `\n` included. */
  readonly end: number;
  /** `false` if the file ends in the middle of the line, or the line exceeds the maximum length. */
  readonly whole: boolean;
}

const READ_BYTES = 262_144;

/**
 * Reads the lines of a file from an offset, in uncompressed bytes, at the start of a line. Yields a line that exceeds
 * the limit as pieces that are not whole, so that memory stays bounded.
 */
export async function* readJournalLines(segment: SegmentFile, offset = 0): AsyncGenerator<JournalLine> {
  let kept: Buffer = Buffer.alloc(0);
  let keptAt = offset;
  for await (const chunk of readBytes(segment, offset)) {
    const bytes = kept.length === 0 ? chunk : Buffer.concat([kept, chunk]);
    let from = 0;
    for (let end = bytes.indexOf(0x0a, kept.length); end >= 0; end = bytes.indexOf(0x0a, from)) {
      yield { bytes: bytes.subarray(from, end), end: keptAt + end + 1, whole: true };
      from = end + 1;
    }
    kept = bytes.subarray(from);
    keptAt += from;
    if (kept.length > JOURNAL_LINE_BYTES_MAX) {
      keptAt += kept.length;
      yield { bytes: kept, end: keptAt, whole: false };
      kept = Buffer.alloc(0);
    }
  }
  if (kept.length > 0) yield { bytes: kept, end: keptAt + kept.length, whole: false };
}

/** Reads the bytes of a file. If the file was compressed since it was listed, reads the compressed one. */
async function* readBytes(segment: SegmentFile, offset: number): AsyncGenerator<Buffer> {
  if (segment.gzip) return yield* readCompressed(segment.path, offset);
  const file = await openOwnFile(segment.path).catch((error) => {
    if (getSystemCode(error) === 'ENOENT') return null;
    throw error;
  });
  if (file === null) return yield* readCompressed(`${segment.path}.gz`, offset);
  yield* file.createReadStream({ start: offset, highWaterMark: READ_BYTES });
}

async function* readCompressed(path: string, offset: number): AsyncGenerator<Buffer> {
  const file = await openOwnFile(path);
  const out = new PassThrough();
  const source = file.createReadStream({ highWaterMark: READ_BYTES });
  // An error in either half ends `out` with it, and is thrown where `out` is read.
  pipeline(source, createGunzip({ chunkSize: READ_BYTES }), out).catch(() => {});
  let skip = offset;
  for await (const chunk of out as AsyncIterable<Buffer>) {
    if (skip < chunk.length) yield chunk.subarray(skip);
    skip = Math.max(0, skip - chunk.length);
  }
}
