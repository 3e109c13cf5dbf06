/**
 * Which of the places that signals name do read otherwise, so that a detector could care. Signals are short, and
 * ordinary code and markup is full of them: a look at each costs little, a look at the text around it in another
 * reading costs as much as some hundred units of text.
 */
import { fold } from './fold.ts';
import { decodedAt } from './reading.ts';
import { addPlace, type Windows } from './windows.ts';

/** Places where units stand for others, and places where they stand in another order than they read. */
export interface OddPlaces {
  readonly decoded: Windows;
  readonly rearranged: Windows;
}

/** Sorts the places of signals; those that read as they stand are in neither list. Linear. */
export function oddPlaces(text: string, signalled: Windows): OddPlaces {
  const odd: OddPlaces = { decoded: [], rearranged: [] };
  for (let at = 0; at < signalled.length; at += 2) {
    const start = signalled[at]!;
    const end = signalled[at + 1]!;
    if (isOdd(text, beforeOperator(text, start), end)) addPlace(odd.decoded, start, end);
    if (REARRANGED.test(text.slice(start, end))) addPlace(odd.rearranged, start, end);
  }
  return odd;
}

/** As their signals have it: letters that stand apart, or an override of the direction. */
const REARRANGED = /\u202e|(?:\S ){6}/;

/** What may stand between a quote and the sign that joins it to the next one. */
const GAP_UNITS_MAX = 40;
const QUOTES = '"\'`';

/** Where the quote before a joining sign is, when the signal begins with that sign; else the offset itself. */
function beforeOperator(text: string, start: number): number {
  if (!'+&~.'.includes(text[start]!)) return start;
  const lowest = Math.max(0, start - GAP_UNITS_MAX);
  let at = start - 1;
  while (at > lowest && isBlank(text[at])) at -= 1;
  return at >= 0 && QUOTES.includes(text[at]!) ? at : start;
}

function isOdd(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; ) {
    const decoded = decodedAt(text, at, text.length);
    if (decoded === null) {
      at += 1;
      continue;
    }
    const unit = text.charCodeAt(at);
    if (QUOTES.includes(text[at]!)) {
      if (isTokenJoint(text, at, decoded.end)) return true;
      at = decoded.end;
    } else if (decoded.text === '') {
      if (unit === BACKSLASH || (isInk(text, at - 1) && isInk(text, decoded.end))) return true;
      at = decoded.end;
    } else if (unit >= BEYOND_ASCII) {
      if (!isLookalike(unit) || isDisguised(text, at)) return true;
      at = decoded.end;
    } else {
      const signs_end = signsEnd(text, at);
      if (signs_end === null || !isAlone(text, at, signs_end)) return true;
      at = signs_end;
    }
  }
  return false;
}

const BACKSLASH = 92;
const BEYOND_ASCII = 0x80;

/** Literals that stand side by side, as in lists of imports, make a value only where they look like one. */
function isTokenJoint(text: string, at: number, end: number): boolean {
  if (/[+&~.|<>]/.test(text.slice(at, end))) return true;
  const left = text.slice(Math.max(0, at - TOKEN_UNITS_MAX), at);
  const right = text.slice(end, end + TOKEN_UNITS_MAX);
  return /[0-9A-Z@][^\s"'`]*$/.test(left) || /^[^\s"'`]*[0-9A-Z@]/.test(right);
}

const TOKEN_UNITS_MAX = 64;

/** Whether a unit is a part of something written: what is not seen is in no value but between such units. */
function isInk(text: string, at: number): boolean {
  if (at < 0 || isBlank(text[at])) return false;
  return text.charCodeAt(at) < BEYOND_ASCII || decodedAt(text, at, text.length) !== null;
}

/** Letters of other scripts that look like Latin ones; other signs have no use but disguise. */
function isLookalike(unit: number): boolean {
  return unit >= 0x250 && unit < 0x590;
}

const WORD_UNITS_MAX = 64;

/** A word is disguised where all its letters look Latin, and some are; `2-й` and `uй` are what they are. */
function isDisguised(text: string, at: number): boolean {
  let start = at;
  while (start > 0 && at - start < WORD_UNITS_MAX && isWordUnit(text.charCodeAt(start - 1))) start -= 1;
  let end = at + 1;
  while (end - at < WORD_UNITS_MAX && isWordUnit(text.charCodeAt(end))) end += 1;
  const word = text.slice(start, end);
  const has_latin = /[A-Za-z]|[0-9].*[0-9].*[0-9].*[0-9]/.test(word);
  return has_latin && ![...word].some((letter) => fold(letter.charCodeAt(0)).charCodeAt(0) >= BEYOND_ASCII);
}

function isWordUnit(unit: number): boolean {
  const letter = unit | 32;
  return (
    isLookalike(unit) ||
    (letter >= 97 && letter <= 122) ||
    (unit >= 48 && unit <= 57) ||
    unit === 45 ||
    unit === 95
  );
}

/** Signs that say nothing where they stand alone: those of a shell and of markup do. */
const MINOR = /^[^A-Za-z0-9|<>;$#`"'\\%\u00c0-\u200f\u2028-\u202f\u2060-\u209f\u2100-\uffff]*$/;

/** Where the escapes from here on end that stand for such signs, one behind the other; `null` where one does not. */
function signsEnd(text: string, at: number): number | null {
  let end = at;
  for (;;) {
    const decoded = decodedAt(text, end, text.length);
    if (decoded === null) return end;
    if (!MINOR.test(decoded.text)) return null;
    end = decoded.end;
  }
}

function isAlone(text: string, start: number, end: number): boolean {
  const before = text[start - 1];
  const after = text[end];
  return (isBlank(before) || before === '>') && (isBlank(after) || after === '<');
}

function isBlank(unit: string | undefined): boolean {
  return unit === undefined || unit === ' ' || unit === '\n' || unit === '\r' || unit === '\t';
}
