import { type Blob, countMissingBytes, createBlob } from './readable-bytes.ts';

/**
 * Lists of bytes as numbers: base16 with blanks, colons or commas between the bytes (`67 68`, `67:68`,
 * `0x67, 0x68`), decimal (`103, 104`), binary (`01100111 01101000`), and quoted-printable (`=67=68`, RFC 2045).
 */

/** Shorter lists are tables and settings. */
const LIST_BYTES_MIN = 10;
/** Bytes of one list; a longer one is read in parts. */
const LIST_BYTES_MAX = 1 << 16;

/** One notation of a byte, and its base. A gap between two bytes is optional if each byte has its own mark or length. */
interface ByteNotation {
  readonly byte: RegExp;
  readonly base: number;
  readonly has_gap: boolean;
}

const NOTATIONS: readonly ByteNotation[] = [
  { byte: /=([0-9A-F]{2})/y, base: 16, has_gap: false },
  { byte: /0[xX]([0-9A-Fa-f]{2})(?![0-9A-Za-z])/y, base: 16, has_gap: true },
  { byte: /([01]{8})(?![2-9A-Za-z])/y, base: 2, has_gap: false },
  { byte: /([0-9]{2,3})(?![0-9A-Za-z.])/y, base: 10, has_gap: true },
  { byte: /([0-9A-Fa-f]{2})(?![0-9A-Za-z])/y, base: 16, has_gap: true },
];
const COMMA_GAP = /[ \t]{0,2},(?:[ \t]{0,4}\r?\n)?[ \t]{0,16}/y;
const GAP = /[:;-]|[ \t]{0,2},?(?:[ \t]{0,4}\r?\n)?[ \t]{0,16}/y;

/** Anchors of lists. Four bytes are needed, because two or three numbers in a row are everywhere. */
export const listSignals: readonly string[] = [
  '=[2-7][0-9A-F]=[2-7][0-9A-F]=[2-7][0-9A-F]',
  '(?<![A-Za-z0-9])0[xX][2-7][0-9A-Fa-f],\\s?0[xX][2-7][0-9A-Fa-f],',
  '(?<![A-Za-z0-9])0[xX][2-7][0-9A-Fa-f] 0[xX][2-7][0-9A-Fa-f] ',
  '(?<![A-Za-z0-9])0[01]{7}\\s?0[01]{7}',
  '(?<![A-Za-z0-9.])[1-9][0-9][0-9]?,\\s?[1-9][0-9][0-9]?,\\s?[1-9][0-9][0-9]?,\\s?[1-9][0-9]',
  '(?<![A-Za-z0-9.])1[0-2][0-9] [1-9][0-9][0-9]? [1-9][0-9][0-9]? [1-9][0-9]',
  ...[' ', ':', '-'].map(
    (gap) =>
      `(?<![A-Za-z0-9${gap === ' ' ? '' : gap}])[2-7][0-9A-Fa-f]${gap}[2-7][0-9A-Fa-f]${gap}[2-7][0-9A-Fa-f]${gap}[2-7][0-9A-Fa-f]`,
  ),
];

/** A list that was read: its text, if it has one, and the offset after the last byte that was read. */
export interface ListReading {
  readonly blob: Blob | null;
  readonly end: number;
}

/** The head of a list. Most runs that are tried here are base64, which this excludes without the cost of a pattern. */
function isListStart(text: string, start: number): boolean {
  if (text[start] === '=') return true;
  for (let at = start + 2; at < start + 5; at++) if (SEPARATORS.includes(text[at]!)) return true;
  return text.startsWith('0', start) && BITS.includes(text[start + 1]!) && BITS.includes(text[start + 2]!);
}

const SEPARATORS = ' ,:;-';
const BITS = '01';

/** Reads the list of bytes that begins at an offset; returns `null` if there is none. Linear. */
export function readByteList(text: string, start: number): ListReading | null {
  if (!isListStart(text, start)) return null;
  let longest: ListReading | null = null;
  for (const notation of NOTATIONS) {
    const reading = readNotation(text, start, notation);
    if (reading === null) continue;
    // Base16 of two digits can be decimal too. The reading that reaches further is the right one.
    if (longest === null || reading.end > longest.end || (longest.blob === null && reading.blob !== null))
      longest = reading;
  }
  return longest;
}

function readNotation(
  text: string,
  start: number,
  { byte, base, has_gap }: ByteNotation,
): ListReading | null {
  const bytes: number[] = [];
  let more = 0;
  let end = start;
  for (let at = start; bytes.length < LIST_BYTES_MAX; ) {
    byte.lastIndex = at;
    const found = byte.exec(text);
    if (found === null) break;
    const value = Number.parseInt(found[1]!, base);
    more = value > 0xff ? -1 : countMissingBytes(more, value);
    if (more < 0) break;
    bytes.push(value);
    end = byte.lastIndex;
    at = findGapEnd(text, end, base);
    if (at === end && has_gap) break;
  }
  return bytes.length < 2 ? null : { blob: createBlob(bytes, start, end, LIST_BYTES_MIN), end };
}

/** Returns the offset after the gap between two bytes. Quoted-printable has none, but for the end of a line. */
function findGapEnd(text: string, at: number, base: number): number {
  const gap = base === 10 && !/[ ]/.test(text[at] ?? '') ? COMMA_GAP : GAP;
  gap.lastIndex = at;
  return gap.test(text) ? gap.lastIndex : at;
}
