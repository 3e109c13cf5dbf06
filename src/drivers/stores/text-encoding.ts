/**
 * What goes in comes out, whatever the database: PostgreSQL's TEXT has no NUL, and no encoding has half a
 * surrogate pair. Both, and the mark itself, are written as a mark and four hex digits; two texts are equal
 * exactly where what is written is. Ordinary texts are written as they are.
 */

/** From the private use area, so that ordinary texts do not have it. */
const MARK = '\uF8FF';
const UNWRITABLE = /[\0\uF8FF\p{Surrogate}]/gu;
const MARKED = /\uF8FF([0-9a-f]{4})/g;

/** The text as a database can hold it. */
export function encodeText(text: string): string {
  if (text.isWellFormed() && !text.includes('\0') && !text.includes(MARK)) return text;
  return text.replace(UNWRITABLE, (unit) => `${MARK}${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** What `toStored` was given. */
export function decodeText(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replace(MARKED, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}
