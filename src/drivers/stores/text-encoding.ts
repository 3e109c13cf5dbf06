/**
 * Encodes texts so that every database returns them unchanged: PostgreSQL's TEXT cannot store NUL, and no encoding can
 * store half a surrogate pair. Both, and the mark itself, become a mark and four hex digits. The encoding is
 * one-to-one, so encoded texts are equal exactly if the texts are equal. Ordinary texts remain unchanged.
 */

/** A private-use character, which ordinary texts do not contain. */
const MARK = '\uF8FF';
const UNWRITABLE = /[\0\uF8FF\p{Surrogate}]/gu;
const MARKED = /\uF8FF([0-9a-f]{4})/g;

/** Encodes a text for a database. */
export function encodeColumnText(text: string): string {
  if (text.isWellFormed() && !text.includes('\0') && !text.includes(MARK)) return text;
  return text.replace(UNWRITABLE, (unit) => `${MARK}${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Decodes a text that `encodeColumnText` returned. */
export function decodeColumnText(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(MARKED, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
