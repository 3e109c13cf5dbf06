import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { crc32, createDeflateRaw } from 'node:zlib';
import { EvidenceFailure } from './failure.ts';

/** One file of an archive: its content in memory, or the path of a file with it. */
export interface ArchiveEntry {
  readonly path: string;
  readonly bytes: number;
  readonly content: Buffer | { readonly file: string };
}

const BLOCK = 512;
/** Eleven octal digits. */
const SIZE_MAX = 0o77777777777;

/** The header of a gzip file without name and time, from an unnamed system, so that equal content has equal bytes. */
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);

/** Returns the bytes of a `tar.gz` with these files in this order. Equal files give equal bytes. */
export async function* packArchive(entries: readonly ArchiveEntry[]): AsyncGenerator<Buffer> {
  const deflate = createDeflateRaw({ level: 6 });
  let crc = 0;
  let size = 0;
  async function* count(): AsyncGenerator<Buffer> {
    for await (const part of streamTar(entries)) {
      crc = crc32(part, crc);
      size = (size + part.length) % 0x1_0000_0000;
      yield part;
    }
  }
  const source = Readable.from(count());
  source.on('error', (error) => deflate.destroy(error));
  yield GZIP_HEADER;
  yield* source.pipe(deflate) as AsyncIterable<Buffer>;
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(crc, 0);
  trailer.writeUInt32LE(size, 4);
  yield trailer;
}

async function* streamTar(entries: readonly ArchiveEntry[]): AsyncGenerator<Buffer> {
  for (const { path, bytes, content } of entries) {
    yield encodeTarHeader(path, bytes);
    if (Buffer.isBuffer(content)) yield content;
    else yield* createReadStream(content.file, { highWaterMark: 262_144 }) as AsyncIterable<Buffer>;
    const padding = (BLOCK - (bytes % BLOCK)) % BLOCK;
    if (padding > 0) yield Buffer.alloc(padding);
  }
  yield Buffer.alloc(2 * BLOCK);
}

/**
 * Encodes the header of a plain file (ustar): mode 0644, no owner, no time. The verifier accepts no other.
 *
 * @throws EvidenceFailure `pack_too_large` for a file of 8 GiB or more
 */
function encodeTarHeader(path: string, bytes: number): Buffer {
  if (bytes > SIZE_MAX)
    throw new EvidenceFailure('pack_too_large', `\`${path}\` has 8 GiB or more. Choose a shorter window.`);
  const header = Buffer.alloc(BLOCK);
  header.write(path, 0, 100, 'latin1');
  header.write('0000644\0', 100, 'latin1');
  header.write('0000000\0', 108, 'latin1');
  header.write('0000000\0', 116, 'latin1');
  header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124, 'latin1');
  header.write('00000000000\0', 136, 'latin1');
  header.write('        0', 148, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  const checksum = header.reduce((sum, byte) => sum + byte, 0);
  header.write(`${checksum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return header;
}
