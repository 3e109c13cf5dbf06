/**
 * Decompresses deflate (RFC 1951), as gzip (RFC 1952) and zlib (RFC 1950) contain it. Written here because the core
 * runs without Node's modules, and because the expansion must be bounded: a kilobyte can expand to a megabyte.
 */

/** A code by length: the number of codes of each length, and the symbols in the order of their codes. */
interface PrefixCode {
  readonly counts: readonly number[];
  readonly symbols: readonly number[];
}

interface BitReader {
  readonly bytes: readonly number[];
  at: number;
  held: number;
  bits: number;
}

const CODE_BITS_MAX = 15;
const LENGTH_BASES = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195,
  227, 258,
];
const LENGTH_BITS = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const DISTANCE_BASES = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097,
  6145, 8193, 12289, 16385, 24577,
];
const DISTANCE_BITS = [
  0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13,
];
const LENGTH_ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const END_OF_BLOCK = 256;

/** The data is not deflate, or it ends early. Thrown and caught in this file only. */
class BrokenStream extends Error {}

/**
 * Returns the decompressed bytes of gzip or zlib data, at most `bytesMax`; `null` if the data is neither. Data that
 * ends early counts up to that point.
 */
export function inflate(bytes: readonly number[], bytesMax: number): readonly number[] | null {
  const start = findStreamStart(bytes);
  if (start === null) return null;
  const out: number[] = [];
  const reader: BitReader = { bytes, at: start, held: 0, bits: 0 };
  try {
    while (out.length < bytesMax && !readBlock(reader, out, bytesMax));
  } catch (error) {
    if (!(error instanceof BrokenStream)) throw error;
  }
  return out.length > 0 ? out : null;
}

/** Returns the offset after the header of gzip or zlib; `null` if there is none. */
function findStreamStart(bytes: readonly number[]): number | null {
  const [first = 0, second = 0, method, flags = 0] = bytes;
  if (first === 0x78 && (first * 256 + second) % 31 === 0) return 2;
  if (first !== 0x1f || second !== 0x8b || method !== 8) return null;
  let at = 10;
  if (flags & 4) at += 2 + (bytes[at] ?? 0) + (bytes[at + 1] ?? 0) * 256;
  for (const flag of [8, 16]) if (flags & flag) at = findAfterZero(bytes, at);
  return flags & 2 ? at + 2 : at;
}

function findAfterZero(bytes: readonly number[], from: number): number {
  const zero = bytes.indexOf(0, from);
  return zero < 0 ? bytes.length : zero + 1;
}

/** Reads one block. Returns whether it is the last one. */
function readBlock(reader: BitReader, out: number[], bytesMax: number): boolean {
  const isLast = readBits(reader, 1) === 1;
  const kind = readBits(reader, 2);
  if (kind === 0) copyStored(reader, out, bytesMax);
  else if (kind === 1) readSymbols(reader, out, bytesMax, ...getFixedCodes());
  else if (kind === 2) readSymbols(reader, out, bytesMax, ...readCodes(reader));
  else throw new BrokenStream();
  return isLast;
}

function readBits(reader: BitReader, count: number): number {
  while (reader.bits < count) {
    const byte = reader.bytes[reader.at++];
    if (byte === undefined) throw new BrokenStream();
    reader.held |= byte << reader.bits;
    reader.bits += 8;
  }
  const value = reader.held & ((1 << count) - 1);
  reader.held >>>= count;
  reader.bits -= count;
  return value;
}

function copyStored(reader: BitReader, out: number[], bytesMax: number): void {
  reader.held = 0;
  reader.bits = 0;
  const length = readBits(reader, 16);
  readBits(reader, 16);
  for (let count = 0; count < length && out.length < bytesMax; count++) out.push(readBits(reader, 8));
}

function buildCode(lengths: readonly number[]): PrefixCode {
  const counts = new Array<number>(CODE_BITS_MAX + 1).fill(0);
  for (const length of lengths) counts[length]! += 1;
  counts[0] = 0;
  const symbols: number[] = [];
  for (let length = 1; length <= CODE_BITS_MAX; length++)
    if (counts[length]! > 0)
      lengths.forEach((each, symbol) => {
        if (each === length) symbols.push(symbol);
      });
  return { counts, symbols };
}

function readSymbol(reader: BitReader, { counts, symbols }: PrefixCode): number {
  let code = 0;
  let first = 0;
  let index = 0;
  for (let length = 1; length <= CODE_BITS_MAX; length++) {
    code |= readBits(reader, 1);
    const count = counts[length]!;
    if (code - count < first) return symbols[index + code - first]!;
    index += count;
    first = (first + count) << 1;
    code <<= 1;
  }
  throw new BrokenStream();
}

let fixedCodes: readonly [PrefixCode, PrefixCode] | null = null;

function getFixedCodes(): readonly [PrefixCode, PrefixCode] {
  const lengths = Array.from({ length: 288 }, (_, at) => (at < 144 ? 8 : at < 256 ? 9 : at < 280 ? 7 : 8));
  fixedCodes ??= [buildCode(lengths), buildCode(new Array<number>(30).fill(5))];
  return fixedCodes;
}

function readCodes(reader: BitReader): readonly [PrefixCode, PrefixCode] {
  const literals = readBits(reader, 5) + 257;
  const distances = readBits(reader, 5) + 1;
  const count = readBits(reader, 4) + 4;
  const ofLengths = new Array<number>(LENGTH_ORDER.length).fill(0);
  for (let at = 0; at < count; at++) ofLengths[LENGTH_ORDER[at]!] = readBits(reader, 3);
  const code = buildCode(ofLengths);
  const lengths: number[] = [];
  while (lengths.length < literals + distances) pushLengths(reader, readSymbol(reader, code), lengths);
  return [buildCode(lengths.slice(0, literals)), buildCode(lengths.slice(literals, literals + distances))];
}

/** Adds a code length, or the repeats that the symbol means. */
function pushLengths(reader: BitReader, symbol: number, lengths: number[]): void {
  if (symbol < 16) {
    lengths.push(symbol);
    return;
  }
  const value = symbol === 16 ? (lengths.at(-1) ?? 0) : 0;
  const repeats =
    symbol === 16
      ? 3 + readBits(reader, 2)
      : symbol === 17
        ? 3 + readBits(reader, 3)
        : 11 + readBits(reader, 7);
  for (let count = 0; count < repeats; count++) lengths.push(value);
}

function readSymbols(
  reader: BitReader,
  out: number[],
  bytesMax: number,
  literals: PrefixCode,
  distances: PrefixCode,
): void {
  while (out.length < bytesMax) {
    const symbol = readSymbol(reader, literals);
    if (symbol === END_OF_BLOCK) return;
    if (symbol < END_OF_BLOCK) out.push(symbol);
    else copyEarlier(reader, out, bytesMax, symbol - END_OF_BLOCK - 1, distances);
  }
}

function copyEarlier(
  reader: BitReader,
  out: number[],
  bytesMax: number,
  ofLength: number,
  distances: PrefixCode,
): void {
  const lengthBase = LENGTH_BASES[ofLength];
  if (lengthBase === undefined) throw new BrokenStream();
  const length = lengthBase + readBits(reader, LENGTH_BITS[ofLength]!);
  const ofDistance = readSymbol(reader, distances);
  const distanceBase = DISTANCE_BASES[ofDistance];
  if (distanceBase === undefined) throw new BrokenStream();
  const distance = distanceBase + readBits(reader, DISTANCE_BITS[ofDistance]!);
  if (distance > out.length) throw new BrokenStream();
  for (let count = 0; count < length && out.length < bytesMax; count++) out.push(out[out.length - distance]!);
}
