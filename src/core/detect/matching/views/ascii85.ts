import { type Blob, countMissingBytes, createBlob } from './readable-bytes.ts';

/** Ascii85 in its delimiters, as PostScript, PDF and most programs write it: `<~...~>`. */
const RUN = /<~((?:[!-uz]|[ \t\r\n]){8,8192})~>/y;
const ZERO_GROUP = 'z';
const FIRST_UNIT = 33;
const GROUP_UNITS = 5;

/** The anchor of Ascii85 in its delimiters. */
export const ascii85Signals: readonly string[] = ['<~[!-u]{5}'];

/** Decodes the Ascii85 at an offset; returns `null` unless all of it is readable. Linear. */
export function decodeAscii85(text: string, start: number): Blob | null {
  RUN.lastIndex = start;
  const found = RUN.exec(text);
  if (found === null) return null;
  const letters = found[1]!.replace(/\s+/g, '');
  if (letters.includes(ZERO_GROUP)) return null;
  const bytes: number[] = [];
  let more = 0;
  for (let at = 0; at < letters.length; at += GROUP_UNITS) {
    for (const byte of decodeGroup(letters.slice(at, at + GROUP_UNITS))) {
      more = countMissingBytes(more, byte);
      if (more < 0) return null;
      bytes.push(byte);
    }
  }
  return createBlob(bytes, start, start + found[0].length);
}

/** Returns the bytes of a group: one less than its letters. A short group is filled with the highest letter. */
function decodeGroup(letters: string): readonly number[] {
  let value = 0;
  for (let at = 0; at < GROUP_UNITS; at++)
    value = value * 85 + (at < letters.length ? letters.charCodeAt(at) - FIRST_UNIT : 84);
  return [24, 16, 8, 0].slice(0, letters.length - 1).map((shift) => Math.floor(value / 2 ** shift) & 0xff);
}
