import { inflate } from './inflate.ts';
import { type Blob, countMissingBytes, createBlob, TEXT_BYTES_MIN } from './readable-bytes.ts';

/** The fewest units of a line of wrapped base64. The lines have one length, usually 64 or 76. */
const LINE_UNITS_MIN = 32;
const PADDING = 61;
const LINE_BREAK = 10;
const RETURN = 13;
const SPACE = 32;
const NOT_BASE64 = 255;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The six bits of each unit of base64 or base64url; `NOT_BASE64` for all others. */
const SIX_BITS = new Uint8Array(0x10000).fill(NOT_BASE64);
for (let six = 0; six < 64; six++) SIX_BITS[ALPHABET.charCodeAt(six)] = six;
SIX_BITS['-'.charCodeAt(0)] = 62;
SIX_BITS['_'.charCodeAt(0)] = 63;

/** The letters at the four positions of a group that encodes three readable bytes. */
export const GROUP_CLASSES: readonly string[] = [
  getClass(
    (byte) => byte >> 2,
    () => 0,
  ),
  getClass(
    (byte) => (byte & 3) << 4,
    (next) => next >> 4,
  ),
  getClass(
    (byte) => (byte & 15) << 2,
    (next) => next >> 6,
  ),
  '[A-Za-z0-9+/_-]',
];
const GROUP = GROUP_CLASSES.join('');

/**
 * Anchors of runs that may be base64 of ASCII, of UTF-16, of compressed data, or of text with invisible characters
 * after its first ones. The bits that readable bytes have limit the letters at each position, so few ordinary words
 * match.
 */
export const base64Signals: readonly string[] = [
  `(?<![A-Za-z0-9])${GROUP}${GROUP}`,
  // UTF-16, low byte first, with and without its mark: every second byte is 0.
  '(?<![A-Za-z0-9])[A-Za-z0-9][AQgw][AB][A-Za-z0-9+/]A[C-H][A-Za-z048]A',
  '(?<![A-Za-z0-9])//[4-7][A-Za-z0-9+/]A[A-Za-z0-9+/]',
  // gzip and zlib.
  '(?<![A-Za-z0-9])H4sI',
  '(?<![A-Za-z0-9])eJ[w-z]',
  // The bytes E2 80 8B to 8F or E2 81 A0, after none to three ASCII characters.
  '(?<![A-Za-z0-9])4o[CG][g-v]',
  '(?<![A-Za-z0-9])[A-Za-z0-9][Oeu+]K[AB][ij]',
  '(?<![A-Za-z0-9])[A-Za-z0-9]{2}[DHLPTXbfjnrvz37]ig[IJ]',
  '(?<![A-Za-z0-9])[A-Za-z0-9]{4}4o[CG][g-v]',
];

/** Compressed data is decompressed up to this size, in bytes. */
const INFLATED_BYTES_MAX = 1 << 15;
/** Compressed data is read up to this size, in bytes. */
const COMPRESSED_BYTES_MAX = 1 << 15;

/**
 * Returns an anchor class: the base64 letters at a position in a group, from bits of one byte and of the
 * next.
 */
function getClass(bitsOf: (byte: number) => number, bitsOfNext: (byte: number) => number): string {
  const bytes = Array.from({ length: 127 }, (_, byte) => byte).filter(
    (byte) => countMissingBytes(0, byte) === 0,
  );
  const next = [...new Set(bytes.map(bitsOfNext))];
  const sixes = [...new Set(bytes.map(bitsOf))].flatMap((bits) => next.map((more) => bits | more));
  return `[${[...new Set(sixes)].map((six) => ALPHABET[six]!).join('')}]`;
}

/** Decodes base64 as far as it is readable, and returns whether that is to the end of the run. */
export function decodeBase64Text(
  text: string,
  start: number,
  end: number,
): { blob: Blob | null; is_whole: boolean } {
  const bytes: number[] = [];
  let more = 0;
  const stop = walkBase64(text, start, end, (byte) => {
    more = countMissingBytes(more, byte);
    if (more >= 0) bytes.push(byte);
    return more >= 0;
  });
  const to = stop.is_whole ? findPaddingEnd(text, stop.at) : stop.at;
  return { blob: createBlob(bytes, start, to), is_whole: stop.is_whole };
}

/** Decodes base64 of UTF-16 with the low byte first, as far as it is readable. */
export function decodeUtf16Base64(text: string, start: number, end: number): Blob | null {
  if (text[start + 4] !== 'A' && !text.startsWith('//', start)) return null;
  const units: string[] = [];
  let low = -1;
  const stop = walkBase64(text, start, end, (byte) => {
    if (low < 0) {
      low = byte;
      return true;
    }
    const unit = low | (byte << 8);
    low = -1;
    if (unit === BYTE_ORDER_MARK && units.length === 0) return true;
    if (unit > 0xff || countMissingBytes(0, unit) !== 0) return false;
    units.push(String.fromCharCode(unit));
    return true;
  });
  const to = stop.is_whole ? findPaddingEnd(text, stop.at) : stop.at;
  return units.length < TEXT_BYTES_MIN ? null : { start, end: to, text: units.join('') };
}

const BYTE_ORDER_MARK = 0xfeff;
const COMPRESSED_HEAD = /(?:H4sI|eJ[w-z]|eN|eAE)/y;

/**
 * Decompresses base64 of gzip or zlib data; returns `null` unless the content is readable. Only a whole run is
 * tried, so that each run is decompressed once.
 */
export function decodeCompressedBase64(text: string, start: number, end: number): Blob | null {
  if (text[start] !== 'H' && text[start] !== 'e') return null;
  if (start > 0 && SIX_BITS[text.charCodeAt(start - 1)] !== NOT_BASE64) return null;
  COMPRESSED_HEAD.lastIndex = start;
  if (!COMPRESSED_HEAD.test(text)) return null;
  const bytes: number[] = [];
  const stop = walkBase64(text, start, end, (byte) => bytes.push(byte) < COMPRESSED_BYTES_MAX);
  const content: number[] = [];
  let more = 0;
  for (const byte of inflate(bytes, INFLATED_BYTES_MAX) ?? []) {
    more = countMissingBytes(more, byte);
    if (more < 0) break;
    content.push(byte);
  }
  return createBlob(content, start, findPaddingEnd(text, stop.at));
}

/**
 * Calls `accept` for each byte of the base64 from `start`, until it returns `false`. The run ends at `end`, and
 * continues in the next line if it is wrapped. Returns the offset where it stopped.
 */
function walkBase64(
  text: string,
  start: number,
  end: number,
  accept: (byte: number) => boolean,
): { at: number; is_whole: boolean } {
  let held = 0;
  let bits = 0;
  let from = start;
  let to = end;
  for (;;) {
    for (let at = from; at < to; at++) {
      held = ((held << 6) | SIX_BITS[text.charCodeAt(at)]!) & 0xfff;
      bits += 6;
      if (bits < 8) continue;
      bits -= 8;
      if (!accept((held >> bits) & 0xff)) return { at, is_whole: false };
    }
    const next = to - from >= LINE_UNITS_MIN ? skipLineBreak(text, to) : to;
    const nextEnd = findBase64End(text, next);
    const unitsMin = text.charCodeAt(nextEnd) === PADDING ? 2 : 4;
    if (next === to || nextEnd - next < unitsMin || nextEnd - next > to - from) break;
    from = next;
    to = nextEnd;
  }
  return { at: to, is_whole: true };
}

/** Returns the start of the next line's text if the offset is at the end of a line; else the offset. */
function skipLineBreak(text: string, at: number): number {
  let next = text.charCodeAt(at) === RETURN ? at + 1 : at;
  if (text.charCodeAt(next) !== LINE_BREAK) return at;
  next += 1;
  while (text.charCodeAt(next) === SPACE) next += 1;
  return next;
}

/** Returns the end of the run of base64 letters at an offset. */
export function findBase64End(text: string, from: number): number {
  let end = from;
  while (end < text.length && SIX_BITS[text.charCodeAt(end)] !== NOT_BASE64) end += 1;
  return end;
}

function findPaddingEnd(text: string, end: number): number {
  let to = end;
  while (to < end + 2 && text.charCodeAt(to) === PADDING) to += 1;
  return to;
}
