import { type Blob, countMissingBytes, createBlob } from './readable-bytes.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const RUN = /(?<![A-Za-z0-9])[A-Z2-7]{16,8192}(?:={1,6}|(?![A-Za-z0-9+/_-]))/y;

/**
 * The anchor of base32 (RFC 4648) of ASCII. The first bit of each byte is 0, which limits the letters at six of
 * eight positions.
 */
export const base32Signals: readonly string[] = [
  `(?<![A-Za-z0-9])${[0, 1, 2, 3, 4, 5, 6, 7].map(getClass).join('')}`,
];

/** Returns the letters that ASCII allows at a position of a group of eight. */
function getClass(position: number): string {
  const letters = [...ALPHABET].filter((_, five) =>
    [0, 1, 2, 3, 4].every((bit) => {
      const offset = position * 5 + bit;
      return offset % 8 !== 0 || ((five >> (4 - bit)) & 1) === 0;
    }),
  );
  return `[${letters.join('')}]`;
}

/** Decodes the base32 run at an offset; returns `null` unless all of it is readable. Linear. */
export function decodeBase32(text: string, start: number): Blob | null {
  RUN.lastIndex = start;
  const run = RUN.exec(text)?.[0];
  if (run === undefined) return null;
  const bytes: number[] = [];
  let held = 0;
  let bits = 0;
  let more = 0;
  for (const letter of run.replace(/=+$/, '')) {
    held = ((held << 5) | ALPHABET.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    const byte = (held >> bits) & 0xff;
    more = countMissingBytes(more, byte);
    if (more < 0) return null;
    bytes.push(byte);
  }
  return createBlob(bytes, start, start + run.length);
}
