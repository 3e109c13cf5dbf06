import { foldToAscii } from '../detect/matching/views/fold.ts';
import { decodeUtf8Bytes } from '../detect/matching/views/readable-bytes.ts';
import { decodeBase64 } from '../text/base64.ts';
import { decodePercentEncoding } from '../text/percent.ts';

/** Longer values are compared as written alone. */
const DECODED_UNITS_MAX = 4_096;
const ENCODED_UNITS_MIN = 8;
/** Encoded text has letters in both cases, or digits. */
const PLAIN_WORD = /^[A-Z]?[a-z]+$/;

/**
 * Returns a value without case, spacing, punctuation and look-alike letters. Untrusted values are compared in this
 * form, so that an attacker cannot hide one in another spelling.
 */
export function foldValue(text: string): string {
  if (/^[a-z0-9]+$/.test(text)) return text;
  const folded = /^[\x00-\x7f]*$/.test(text)
    ? text.toLowerCase().replace(/[^a-z0-9]+/g, '')
    : foldLetters(text)
        .toLowerCase()
        .replace(/[^\p{L}\p{N}]+/gu, '');
  return folded === '' ? text.trim() : folded;
}

function foldLetters(text: string): string {
  let folded = '';
  for (const letter of text.normalize('NFKC')) {
    const point = letter.codePointAt(0) as number;
    folded += point < 0x80 ? letter : foldToAscii(point);
  }
  return folded.toUpperCase();
}

/** Returns a value's readings: as written, decoded from base64 or percent encoding, and reversed; each once. */
export function listReadings(text: string): readonly string[] {
  const readings = new Set([text]);
  if (text.length > DECODED_UNITS_MAX) return [...readings];
  for (const decoded of listDecodings(text)) readings.add(decoded);
  readings.add([...text].reverse().join(''));
  return [...readings];
}

/** Returns what a text becomes if it is base64 or percent encoding; empty if it is neither. */
export function listDecodings(text: string): readonly string[] {
  const decoded: string[] = [];
  if (text.length > DECODED_UNITS_MAX) return decoded;
  const trimmed = text.trim();
  if (trimmed.length >= ENCODED_UNITS_MIN && !PLAIN_WORD.test(trimmed) && /^[\w+/-]+={0,2}$/.test(trimmed)) {
    const bytes = decodeBase64(trimmed);
    const plain = bytes === null ? null : decodeUtf8(bytes);
    if (plain !== null && isReadable(plain)) decoded.push(plain);
  }
  if (/%[\da-f]{2}/i.test(trimmed)) {
    const plain = decodePercentEncoding(trimmed);
    if (plain !== trimmed) decoded.push(plain);
  }
  return decoded;
}

/** Decodes a text with one character per byte; returns `null` if it is not UTF-8. */
function decodeUtf8(bytes: string): string | null {
  return decodeUtf8Bytes(Array.from(bytes, (byte) => byte.charCodeAt(0)));
}

function isReadable(text: string): boolean {
  return !/[\x00-\x08\x0e-\x1f\x7f-\x9f\ufffd]/.test(text);
}
