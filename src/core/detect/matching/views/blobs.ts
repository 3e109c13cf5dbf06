/** Encoded text inside a text: the units from `start` to `end` are the base64 or base16 form of `text`. */
export interface Blob {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Shorter runs are too short for any value that a detector finds. */
const RUN_UNITS_MIN = 16;
const TEXT_BYTES_MIN = 8;
/** The fewest units of a line of wrapped base64. The lines have one length, usually 64 or 76. */
const LINE_UNITS_MIN = 32;
const PADDING = 61;
const LINE_BREAK = 10;
const RETURN = 13;
const SPACE = 32;
const SLASH = 47;
const NOT_BASE64 = 255;

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The six bits of each unit of base64 or base64url; `NOT_BASE64` for all others. */
const SIX_BITS = new Uint8Array(0x10000).fill(NOT_BASE64);
for (let six = 0; six < 64; six++) SIX_BITS[ALPHABET.charCodeAt(six)] = six;
SIX_BITS['-'.charCodeAt(0)] = 62;
SIX_BITS['_'.charCodeAt(0)] = 63;

/** The groups of four base64 letters that encode three readable bytes. */
const GROUP = [
  base64Class(
    (byte) => byte >> 2,
    () => 0,
  ),
  base64Class(
    (byte) => (byte & 3) << 4,
    (next) => next >> 4,
  ),
  base64Class(
    (byte) => (byte & 15) << 2,
    (next) => next >> 6,
  ),
  '[A-Za-z0-9+/_-]',
].join('');

/**
 * Anchors of runs that may be base64 or base16 of ASCII. The bits that readable bytes have limit the letters
 * at each position, so few ordinary words match.
 */
export const blobSignals: readonly string[] = [
  `(?<![A-Za-z0-9])${GROUP}${GROUP}`,
  '(?<![A-Za-z0-9])[2-7][0-9A-Fa-f][2-7][0-9A-Fa-f][2-7][0-9A-Fa-f][2-7][0-9A-Fa-f]',
  '(?<![A-Za-z0-9])0[xX][2-7][0-9A-Fa-f][2-7][0-9A-Fa-f]',
];

/**
 * Returns the runs of base64 (both alphabets, also wrapped in lines) or base16 that begin at the given
 * ascending offsets and decode to readable text. A run that becomes unreadable counts up to that point.
 * Linear.
 */
export function findBlobs(text: string, starts: readonly number[]): readonly Blob[] {
  const blobs: Blob[] = [];
  let run = { end: 0, slash: 0 };
  let end = 0;
  for (const start of starts) {
    if (start < end) continue;
    // Several starts can be in one run, so its end is computed once.
    if (start >= run.end) run = { end: runEnd(text, start), slash: 0 };
    if (start >= run.slash) run.slash = slashBefore(text, start, run.end);
    const blob = blobAt(text, start, run);
    if (blob === null) continue;
    blobs.push(blob);
    end = blob.end;
  }
  return blobs;
}

function slashBefore(text: string, start: number, end: number): number {
  let at = start + 1;
  while (at < end && text.charCodeAt(at) !== SLASH) at += 1;
  return at;
}

/**
 * Returns an anchor class: the base64 letters at a position in a group, from bits of one byte and of the
 * next.
 */
function base64Class(bitsOf: (byte: number) => number, bitsOfNext: (byte: number) => number): string {
  const bytes = Array.from({ length: 127 }, (_, byte) => byte).filter((byte) => awaited(0, byte) === 0);
  const next = [...new Set(bytes.map(bitsOfNext))];
  const sixes = [...new Set(bytes.map(bitsOf))].flatMap((bits) => next.map((more) => bits | more));
  return `[${[...new Set(sixes)].map((six) => ALPHABET[six]!).join('')}]`;
}

/** Decodes the run at `start`. `slash` is the offset of the next `/` in the run, or the run's end. */
function blobAt(text: string, start: number, { end, slash }: { end: number; slash: number }): Blob | null {
  if (end - start < RUN_UNITS_MIN) return null;
  const hex = base16(text, start, end);
  if (hex !== null) return hex;
  const whole = base64(text, start, end);
  if (whole.is_whole || slash === end || slash - start < RUN_UNITS_MIN) return whole.blob;
  const before_slash = base64(text, start, slash);
  return before_slash.is_whole ? before_slash.blob : whole.blob;
}

function base16(text: string, start: number, end: number): Blob | null {
  const from = text.charCodeAt(start) === 48 && (text.charCodeAt(start + 1) | 32) === 120 ? start + 2 : start;
  const bytes: number[] = [];
  let more = 0;
  let at = from;
  for (; at + 1 < end; at += 2) {
    const byte = parseHexDigit(text.charCodeAt(at)) * 16 + parseHexDigit(text.charCodeAt(at + 1));
    more = Number.isNaN(byte) ? -1 : awaited(more, byte);
    if (more < 0) break;
    bytes.push(byte);
  }
  const is_whole = at >= end - 1;
  return is_whole && bytes.length >= TEXT_BYTES_MIN ? getBlob(bytes, start, at) : null;
}

/** Returns the value of a unit as a base16 digit; `NaN` if it is not a digit. */
export function parseHexDigit(unit: number): number {
  if (unit >= 48 && unit <= 57) return unit - 48;
  const letter = unit | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : Number.NaN;
}

/** Decodes base64 as far as it is readable, and returns whether that is to the end of the run. */
function base64(text: string, start: number, end: number): { blob: Blob | null; is_whole: boolean } {
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  let more = 0;
  let from = start;
  let to = end;
  for (;;) {
    for (let at = from; at < to; at++) {
      held = ((held << 6) | SIX_BITS[text.charCodeAt(at)]!) & 0xfff;
      bits += 6;
      if (bits < 8) continue;
      bits -= 8;
      const byte = (held >> bits) & 0xff;
      more = awaited(more, byte);
      if (more < 0) return { blob: getBlob(bytes, start, at), is_whole: false };
      bytes.push(byte);
    }
    const next = to - from >= LINE_UNITS_MIN ? nextLine(text, to) : to;
    const next_end = runEnd(text, next);
    if (next === to || next_end - next < 4 || next_end - next > to - from) break;
    from = next;
    to = next_end;
  }
  return { blob: getBlob(bytes, start, paddingEnd(text, to)), is_whole: true };
}

function getBlob(bytes: readonly number[], start: number, end: number): Blob | null {
  const decoded = bytes.length < TEXT_BYTES_MIN ? null : decodeUtf8Bytes(bytes, true);
  return decoded === null ? null : { start, end, text: decoded };
}

/** Returns the start of the next line's text if the offset is at the end of a line; else the offset. */
function nextLine(text: string, at: number): number {
  let next = text.charCodeAt(at) === RETURN ? at + 1 : at;
  if (text.charCodeAt(next) !== LINE_BREAK) return at;
  next += 1;
  while (text.charCodeAt(next) === SPACE) next += 1;
  return next;
}

function runEnd(text: string, from: number): number {
  let end = from;
  while (end < text.length && SIX_BITS[text.charCodeAt(end)] !== NOT_BASE64) end += 1;
  return end;
}

function paddingEnd(text: string, end: number): number {
  let to = end;
  while (to < end + 2 && text.charCodeAt(to) === PADDING) to += 1;
  return to;
}

/**
 * Returns the number of bytes that a character still needs after this one; below 0 if the bytes are not
 * readable UTF-8.
 */
function awaited(more: number, byte: number): number {
  if (more > 0) return (byte & 0xc0) === 0x80 ? more - 1 : -1;
  if (byte < 0x80) return (byte >= 32 && byte !== 127) || byte === 9 || byte === 10 || byte === 13 ? 0 : -1;
  if (byte < 0xc2 || byte > 0xf4) return -1;
  return byte < 0xe0 ? 1 : byte < 0xf0 ? 2 : 3;
}

/**
 * Decodes UTF-8 bytes; returns `null` if they are invalid. With `may_end`, the last character may be cut off.
 */
export function decodeUtf8Bytes(bytes: readonly number[], may_end = false): string | null {
  const points: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at]!;
    const more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (lead >= 0x80 && (lead < 0xc2 || lead > 0xf4)) return null;
    if (at + more >= bytes.length) return may_end ? points.join('') : null;
    let point = more === 0 ? lead : lead & (0x3f >> more);
    for (let next = at + 1; next <= at + more; next++) {
      if ((bytes[next]! & 0xc0) !== 0x80) return null;
      point = (point << 6) | (bytes[next]! & 0x3f);
    }
    if (point > 0x10ffff) return null;
    points.push(String.fromCodePoint(point));
    at += more + 1;
  }
  return points.join('');
}
