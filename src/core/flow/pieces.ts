/** Finds the parts of a text that can be values by themselves. All searches are linear. */

/** Longer values are no atoms. In UTF-16 units. */
export const ATOM_UNITS_MAX = 256;

/** A part of a text and its place. */
export interface Piece {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Trims ASCII blanks, and no other. Linear, because no search starts again inside a run of blanks. */
export function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Returns whether a UTF-16 unit is a space, a tab, or a line end. */
function isBlank(unit: number): boolean {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
}

/** A mask, a template, or a gap to fill in. Such a text has no value. */
const PLACEHOLDER =
  /^(?:\[[A-Z][A-Z_ -]{2,40}(?::[a-z_.-]{1,64})?\]|REDACTED(?::[a-z_.-]{1,64})?|<[^<>]{0,120}>|\{\{?[^{}]{0,120}\}?\}|\$\{?[A-Za-z_][^{}]{0,120}\}?|%[A-Za-z_]+%|[xX]{3,}|[*_.\-#?…•]+)$/;

/** Returns whether a text is a mask or a placeholder, which is never an atom. */
export function isPlaceholderText(text: string): boolean {
  return PLACEHOLDER.test(text);
}

const TOKEN = /[^\s"“”„«»`]+/gu;
/** Most words have no punctuation to cut. */
const PLAIN = /^[A-Za-z0-9]+$/;
const LEADING = /^[\p{Ps}\p{Pi}\p{Pf}'<>*_,;:!?¡¿|=]+/u;
const TRAILING = /[\p{Pe}\p{Pi}\p{Pf}'<>*_.,;:!?|=…]+$/u;

/** Returns the words in a text without the punctuation around them. */
export function findWords(text: string): readonly Piece[] {
  const found: Piece[] = [];
  for (const { 0: token, index } of text.matchAll(TOKEN)) {
    // A longer word is no atom, and its punctuation costs time.
    if (token.length > 2 * ATOM_UNITS_MAX) continue;
    const word = PLAIN.test(token)
      ? { text: token, start: index, end: index + token.length }
      : cutPiece(token, index);
    if (word !== null) found.push(word);
  }
  return found;
}

/** Returns a token without the punctuation around it; `null` if nothing is left. */
function cutPiece(token: string, index: number): Piece | null {
  const start = index + (LEADING.exec(token)?.[0].length ?? 0);
  const rest = token.slice(start - index);
  let end = index + token.length - (TRAILING.exec(rest)?.[0].length ?? 0);
  // A bracket belongs to the word if it opens inside it: `f(x)`.
  if (/[({[]/.test(rest) && /^[)}\]]/.test(token.slice(end - index))) end += 1;
  return end <= start ? null : { text: token.slice(start - index, end - index), start, end };
}

/** Also a full stop without a space behind it: `www.example.com.They`. */
const SEPARATOR = /[()<>[\]{}|,;='&?]+|:(?!\/\/)|\.(?=\p{Lu}\p{Ll})/u;

/** Returns a word's parts between separators, if there are several: `to=ada@example.com;cc=bob`. */
export function splitJoinedWord({ text, start }: Piece): readonly Piece[] {
  if (PLAIN.test(text) || !SEPARATOR.test(text)) return [];
  const parts: Piece[] = [];
  let at = start;
  for (const part of text.split(SEPARATOR_KEPT)) {
    if (part !== '' && !SEPARATOR.test(part)) {
      const piece = cutPiece(part, at);
      if (piece !== null) parts.push(piece);
    }
    at += part.length;
  }
  return parts;
}

const SEPARATOR_KEPT = /([()<>[\]{}|,;='&?]+|:(?!\/\/)|\.(?=\p{Lu}\p{Ll}))/u;

const QUOTE = /['"“„‘«`]/;
const QUOTATIONS = [
  /(?<![\p{L}\p{N}])'((?:[^'\n]|(?<=[\p{L}\p{N}])'(?=[\p{L}\p{N}])){1,256})'(?![\p{L}\p{N}])/gu,
  /"([^"\n]{1,256})"/g,
  /[“„]([^“”„\n]{1,256})[”“]/g,
  /‘([^‘’\n]{1,256})’/g,
  /«([^«»\n]{1,256})»/g,
  /`([^`\n]{1,256})`/g,
];

/** Returns the quoted strings in a text, without their quotes. */
export function findQuotations(text: string): readonly Piece[] {
  const found: Piece[] = [];
  if (!QUOTE.test(text)) return found;
  for (const quotation of QUOTATIONS)
    for (const { 1: inner, index } of text.matchAll(quotation))
      found.push({ text: inner!, start: index + 1, end: index + 1 + inner!.length });
  return found;
}

const ACCOUNT =
  /(?<![\p{L}\p{N}])(?:[A-Z]{2}\d{2}[A-Z0-9]{0,4}(?: [A-Z0-9]{2,4}){2,8}|\+?\d{1,5}(?:[ -]\d{2,6}){2,7})(?![\p{L}\p{N}])/gu;

/** Returns account and phone numbers that are written in groups. */
export function findGroupedNumbers(text: string): readonly Piece[] {
  return [...text.matchAll(ACCOUNT)].map(({ 0: found, index }) => ({
    text: found,
    start: index,
    end: index + found.length,
  }));
}

const NAME = /(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{M}'’-]{1,40}(?: \p{Lu}[\p{L}\p{M}'’-]{1,40}){1,2}/gu;

/** Returns names of two or three words. */
export function findNames(text: string): readonly Piece[] {
  return [...text.matchAll(NAME)].map(({ 0: found, index }) => ({
    text: found,
    start: index,
    end: index + found.length,
  }));
}

/** Returns whether a word is an address, a path, a file name, or an identifier with a digit, and no short number. */
export function isIdentifier(word: string): boolean {
  if (/^[+-]?[\d.,]+%?$/.test(word)) return word.replace(/\D/g, '').length >= IDENTIFIER_DIGITS_MIN;
  return /[\d@/\\_]|[^\s.]\.[^\s.]|[\p{L}\p{N}]-[\p{L}\p{N}]/u.test(word);
}

/** A number with fewer digits is an amount or a count. */
const IDENTIFIER_DIGITS_MIN = 6;
