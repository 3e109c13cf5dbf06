/**
 * Classifies signals: which of them change the reading in a way that matters to a detector. Signals are short and
 * common in ordinary code and markup. Checking one is cheap; scanning the text around it again costs as much as some
 * hundred units of text.
 */

import { decodeAt } from './decode-view.ts';
import { type DecodedUnits, JOINED_LIST_UNITS_MAX } from './escapes.ts';
import { foldToAscii, readLocalDigit } from './fold.ts';
import { addWindow, type Windows } from './windows.ts';

/** Spans with encoded units, and spans whose written order differs from the order in which they are read. */
export interface ClassifiedSignals {
  readonly decoded: Windows;
  readonly rearranged: Windows;
}

/** Classifies signals; those that do not change the reading are in neither list. Linear. */
export function classifySignals(text: string, signalled: Windows): ClassifiedSignals {
  const odd: ClassifiedSignals = { decoded: [], rearranged: [] };
  let harmlessUntil = 0;
  let oddUntil = 0;
  for (let at = 0; at < signalled.length; at += 2) {
    const start = signalled[at]!;
    const end = signalled[at + 1]!;
    if (isRearranged(text, start, end)) addWindow(odd.rearranged, start, end);
    const place = text.slice(start, end);
    // The elements that a call joins are behind it, and the end of the part before a numbered name is in front of it.
    if (place.includes('.join(')) addWindow(odd.decoded, start, end + JOINED_LIST_UNITS_MAX);
    else if (NUMBERED.test(place)) addWindow(odd.decoded, start, end);
    // Encoded units come in rows: units right after a changed span count as changed.
    const from = Math.max(harmlessUntil, findOperandEnd(text, start));
    const until = start < oddUntil ? null : findHarmlessEnd(text, from, end);
    if (until !== null) harmlessUntil = until;
    else {
      addWindow(odd.decoded, start, end);
      oddUntil = end + TOKEN_UNITS_MAX;
    }
  }
  return odd;
}

/**
 * Returns whether the signals of a span change its order: an override of the text direction, or spaced
 * letters.
 */
function isRearranged(text: string, start: number, end: number): boolean {
  const place = text.slice(start, end);
  return place.includes('\u202e') || (place.length >= APART_UNITS && APART.test(place));
}

/** The name of the second part of a value. */
const NUMBERED = /^["'][a-z]{3,8}_?2["']/;

const APART = /(?:\S ){6}|(?:[ -~]-){6}|(?:[ -~]\.){6}/;
const APART_UNITS = 12;

/** The most units between a quote and the sign that joins it to the next one. */
const GAP_UNITS_MAX = 40;
const QUOTES = '"\'`';

/**
 * Returns the offset of the quote before a joining sign, if the signal begins with that sign; else the offset itself.
 */
function findOperandEnd(text: string, start: number): number {
  if (!'+&~.'.includes(text[start]!)) return start;
  const lowest = Math.max(0, start - GAP_UNITS_MAX);
  let at = start - 1;
  while (at > lowest && isBlank(text[at])) at -= 1;
  return at >= 0 && QUOTES.includes(text[at]!) ? at : start;
}

/** Returns the offset after the units from `start` to `end` if their reading matters to no detector; else `null`. */
function findHarmlessEnd(text: string, start: number, end: number): number | null {
  for (let at = start; ; ) {
    if (at >= end) return at;
    const decoded = decodeAt(text, at, text.length);
    const next = decoded === null ? at + 1 : findHarmlessDecodedEnd(text, at, decoded);
    if (next === null) return null;
    at = next;
  }
}

/**
 * Invisible characters with an ordinary use: they join letters and emoji, or set their form or direction; also the
 * first unit of a file.
 */
const IN_USE = /[\u001b[\u009b\u061c]|[\u200c-\u200f]|[\ufe00-\ufe0f]|\ufeff/;
const BEYOND_ASCII = 0x80;

/** Returns the offset after the decoded units at one offset if they matter to no detector; else `null`. */
function findHarmlessDecodedEnd(text: string, at: number, decoded: DecodedUnits): number | null {
  const unit = text.charCodeAt(at);
  if (QUOTES.includes(text[at]!)) return isTokenJoint(text, at, decoded.end) ? null : decoded.end;
  if (readLocalDigit(unit) !== undefined) return isLocalNumber(text, at) ? null : decoded.end;
  if (unit >= BEYOND_ASCII && decoded.text !== '')
    return isLookalike(unit) ? findPlainWordEnd(text, at) : null;
  if (decoded.text === '')
    return IN_USE.test(text[at]!) && !mayHide(text, at, decoded.end) ? decoded.end : null;
  const end = findMinorSignsEnd(text, decoded);
  return end !== null && isInsignificant(text, at, end, decoded.text) ? end : null;
}

/** The digits of a number that can be personal. More are a table, and fewer count only behind a colon. */
const NUMBER_DIGITS = { least: 7, most: 20, named: 4 };
/** The most units between a name with a colon and its value, and those that are read around a number. */
const NAMED_UNITS_MAX = 32;
const YEAR = /^(?:1[3459]|2[0456])\d\d$/;

/**
 * Returns whether a digit of another script is in a number that can be personal, with single separators between its
 * groups. Reads at most some 60 units on each side.
 */
function isLocalNumber(text: string, at: number): boolean {
  let start = at;
  while (start > 0 && at - start < NAMED_UNITS_MAX && isOfNumber(text, start - 1)) start -= 1;
  let digits = '';
  for (let next = start; digits.length <= NUMBER_DIGITS.most && isOfNumber(text, next); next++)
    digits += readLocalDigit(text.charCodeAt(next)) ?? '';
  if (digits.length > NUMBER_DIGITS.most) return false;
  if (digits.length >= NUMBER_DIGITS.least) return true;
  const before = text.slice(Math.max(0, start - NAMED_UNITS_MAX), start);
  return digits.length >= NUMBER_DIGITS.named && !YEAR.test(digits) && /[:\uff1a=][^\n]*$/.test(before);
}

function isOfNumber(text: string, at: number): boolean {
  if (readLocalDigit(text.charCodeAt(at)) !== undefined) return true;
  return ' -./()'.includes(text[at] ?? '\n') && !' -./'.includes(text[at + 1] ?? '\n');
}

/**
 * Returns whether two literals can form a value. Without an operator between them, two literals of one word
 * each, as in lists of imports, form a value only if they look like one.
 */
function isTokenJoint(text: string, at: number, end: number): boolean {
  if (/[+&~.|<>]/.test(text.slice(at, end))) return true;
  const from = findTokenStart(text, at);
  const to = findTokenEnd(text, end);
  const areWords =
    from > 0 && QUOTES.includes(text[from - 1]!) && to < text.length && QUOTES.includes(text[to]!);
  return !areWords || /[0-9A-Z@]/.test(text.slice(from, at) + text.slice(end, to));
}

/** Units that end a value, a word or a part of an address. */
const BETWEEN_TOKENS = ' \t\r\n"\'`<>&?=#';
const TOKEN_UNITS_MAX = 36;

function findTokenStart(text: string, end: number): number {
  let start = end;
  while (start > 0 && end - start < TOKEN_UNITS_MAX && !BETWEEN_TOKENS.includes(text[start - 1]!)) start -= 1;
  return start;
}

function findTokenEnd(text: string, start: number): number {
  let end = start;
  while (end < text.length && end - start < TOKEN_UNITS_MAX && !BETWEEN_TOKENS.includes(text[end]!)) end += 1;
  return end;
}

/**
 * Returns whether invisible characters can hide something: next to Latin letters and between blanks. In other
 * scripts and in emoji they have an ordinary use.
 */
function mayHide(text: string, start: number, end: number): boolean {
  if (SELECTOR_AT_LETTER.test(text.slice(start - 1, start + 1))) return true;
  // Many files begin with a byte order mark.
  const isMark = start === 0 && text[0] === '\ufeff';
  if (isInk(text, start - 1) || (!isMark && isInk(text, end))) return true;
  return start > 0 && isBlank(text[start - 1]) && isBlank(text[end]);
}

/** A selector sets the form of an emoji; a letter has one form only. */
const SELECTOR_AT_LETTER = /^[\p{L}\p{M}][\ufe00-\ufe0f]/u;

function isInk(text: string, at: number): boolean {
  if (at < 0 || isBlank(text[at])) return false;
  return text.charCodeAt(at) < BEYOND_ASCII || decodeAt(text, at, text.length) !== null;
}

/** Letters of other scripts that look like Latin ones; other signs are only used as a disguise. */
function isLookalike(unit: number): boolean {
  return unit >= 0x250 && unit < 0x590;
}

const WORD_UNIT = /[\w\u0250-\u058f-]/;
const WORD_UNITS_MAX = 64;

/**
 * Returns the end of the word at `at` if it is not disguised. A word is disguised if all its letters look
 * Latin and some are Latin; `2-й` and `uй` are ordinary.
 */
function findPlainWordEnd(text: string, at: number): number | null {
  let start = at;
  while (start > 0 && at - start < WORD_UNITS_MAX && WORD_UNIT.test(text[start - 1]!)) start -= 1;
  let end = at + 1;
  while (end < text.length && end - at < WORD_UNITS_MAX && WORD_UNIT.test(text[end]!)) end += 1;
  // A long part that ends at a letter without a Latin look-alike can still be a value.
  const parts = text.slice(start, end).replace(LOOKALIKE_UNIT, replaceNonAscii).split(' ');
  const least = parts.length > 1 ? VALUE_UNITS_MIN : 1;
  return parts.some((part) => part.length >= least && HAS_LATIN.test(part)) ? null : end;
}

/** Returns a letter that looks Latin, or a blank for another one. */
function replaceNonAscii(letter: string): string {
  return foldToAscii(letter.charCodeAt(0)).charCodeAt(0) >= BEYOND_ASCII ? ' ' : letter;
}

const VALUE_UNITS_MIN = 8;
const LOOKALIKE_UNIT = /[\u0250-\u058f]/g;

/** Letters, or digits enough for the body of a key. */
const HAS_LATIN = /[A-Za-z]|(?:[0-9][^0-9]*){4}/;

/**
 * Signs that change nothing when they are alone, unlike the signs of a shell or of markup, and unlike signs
 * between two words.
 */
const MINOR =
  /^[^A-Za-z0-9|<>;$#`"'\\%,*_.+~:=@\u00ad\u00c0-\u200f\u201c\u201d\u2028-\u202f\u2060-\u209f\u2100-\uffff]*$/;

/**
 * Returns the end of this escape and of those right after it if they all decode to minor signs; `null` if one
 * does not.
 */
function findMinorSignsEnd(text: string, first: DecodedUnits): number | null {
  let end = first.end;
  for (
    let decoded: DecodedUnits | null = first;
    decoded !== null;
    decoded = decodeAt(text, end, text.length)
  ) {
    if (!MINOR.test(decoded.text)) return null;
    end = decoded.end;
  }
  return end;
}

function isInsignificant(text: string, start: number, end: number, shown: string): boolean {
  if (text[start] === '%') return isBetweenPlainWords(text, start, end);
  if (/\S/.test(shown)) return isAlone(text, start, end);
  const isAtMarkup = (text[start - 1] === '>' || text[end] === '<') && isAlone(text, start, end);
  return isAtMarkup || isBeforeUnit(text, start, end);
}

/** Returns whether the span is between blanks or tags: `<td>&nbsp;</td>`. */
function isAlone(text: string, start: number, end: number): boolean {
  const before = text[start - 1];
  const after = text[end];
  return (isBlank(before) || before === '>') && (isBlank(after) || after === '<');
}

/**
 * Returns whether a number is before the span and its unit after it: `4,5&nbsp;kg`. Longer words can be a
 * street, single letters the end of an identifier.
 */
function isBeforeUnit(text: string, start: number, end: number): boolean {
  return /[0-9]/.test(text[start - 1] ?? '') && UNIT.test(text.slice(end, end + 3));
}

const UNIT = /^(?:[a-z\u00b5][A-Za-z]|[%\u20ac])(?![A-Za-z0-9])/;

/**
 * Returns whether the span is between two small words, which are neither a value nor an instruction:
 * `?q=blue%20chair%2Foak&`.
 */
function isBetweenPlainWords(text: string, start: number, end: number): boolean {
  if (end - start !== 3) return false;
  const from = findTokenStart(text, start);
  const to = findTokenEnd(text, end);
  const isParameter = text[from - 1] === '=' && (to === text.length || '&#"\'<\n'.includes(text[to]!));
  return isParameter && PLAIN_WORDS.test(text.slice(from, to));
}

const PLAIN_WORDS = /^[a-z]{1,16}(?:%2[FfCc][a-z]{1,16})?(?:%20[a-z]{1,16})?(?:%2[FfCc][a-z]{1,16})?$/;

function isBlank(unit: string | undefined): boolean {
  return unit === undefined || unit === ' ' || unit === '\n' || unit === '\r' || unit === '\t';
}
