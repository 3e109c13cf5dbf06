import type { DecodedUnits } from './escapes.ts';
import { decodeUtf8Bytes } from './readable-bytes.ts';

/** Fewer tag characters have an ordinary use: the flags of a few regions, the form of a letter. */
const TAGS_MIN = 4;
const SELECTORS_MIN = 4;
const HIGH = 0xdb40;

/**
 * Decodes text in invisible characters: ASCII as tag characters (U+E0000), bytes as variation selectors
 * (U+FE00, U+E0100). The result is on lines of its own. A single character decodes to nothing.
 */
export function decodeHidden(text: string, at: number, end: number): DecodedUnits | null {
  const unit = text.charCodeAt(at);
  if (unit !== HIGH && (unit < 0xfe00 || unit > 0xfe0f)) return null;
  return unit === HIGH && text.charCodeAt(at + 1) < 0xdc80
    ? decodeTags(text, at, end)
    : decodeSelectors(text, at, end);
}

function decodeTags(text: string, at: number, end: number): DecodedUnits {
  let shown = '';
  let next = at;
  for (; next + 1 < end && text.charCodeAt(next) === HIGH; next += 2) {
    const low = text.charCodeAt(next + 1) - 0xdc00;
    if (low < 0 || low >= 0x80) break;
    if (low >= 32 && low < 127) shown += String.fromCharCode(low);
  }
  const isText = shown.length >= TAGS_MIN;
  return { text: isText ? `\n${shown}\n` : '', end: Math.max(next, at + 1) };
}

function decodeSelectors(text: string, at: number, end: number): DecodedUnits | null {
  const bytes: number[] = [];
  let next = at;
  for (; next < end; ) {
    const point = text.codePointAt(next)!;
    if (point >= 0xfe00 && point <= 0xfe0f) bytes.push(point - 0xfe00);
    else if (point >= 0xe0100 && point <= 0xe01ef) bytes.push(point - 0xe0100 + 16);
    else break;
    next += point > 0xffff ? 2 : 1;
  }
  if (next === at) return null;
  const shown = bytes.length >= SELECTORS_MIN ? decodeUtf8Bytes(bytes) : null;
  return { text: shown === null ? '' : `\n${shown}\n`, end: next };
}
