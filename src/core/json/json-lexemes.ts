/** The UTF-16 units of JSON (RFC 8259) that its readers look for. A closing bracket is its opening one plus 2. */
export const OBJECT = 123;
export const ARRAY = 91;
export const COMMA = 44;
export const COLON = 58;
export const QUOTE = 34;
export const BACKSLASH = 92;
export const LETTER_U = 117;

/** Returns whether a unit is white space. */
export function isJsonSpace(unit: number): boolean {
  return unit === 32 || unit === 10 || unit === 13 || unit === 9;
}

/** Returns the offset of the first unit from `from` on that is not white space. */
export function skipJsonSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isJsonSpace(text.charCodeAt(at))) at += 1;
  return at;
}
