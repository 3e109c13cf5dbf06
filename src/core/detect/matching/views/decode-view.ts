import { parseUnits } from '../anchors.ts';
import {
  type DecodedUnits,
  decodeBackslash,
  decodeColourRemainder,
  decodeEntity,
  decodeMarkup,
  decodePartJoin,
  decodePercent,
  decodeStringJoin,
  decodeTerminal,
} from './escapes.ts';
import { foldToAscii, INVISIBLE, LOCAL_DIGIT, readLocalDigit } from './fold.ts';
import { decodeHidden } from './hidden.ts';
import type { Blob } from './readable-bytes.ts';
import { readLeet } from './spelling.ts';
import { addDecoded, addPlain, finishView, startView, type View, type ViewBuilder } from './view.ts';

/**
 * Decodes the units from `start` to `end` of a text: escapes are decoded, look-alikes become the letters that
 * they look like, string literals are joined, and invisible characters are left out. Returns `null` if
 * nothing changes. Linear.
 */
export function decodeEscapeView(text: string, start: number, end: number): View | null {
  const builder = startView();
  let plainFrom = start;
  for (let at = findNextOdd(text, start); at < end; ) {
    const decoded = decodeAt(text, at, end);
    if (decoded !== null) {
      addPlain(builder, text, plainFrom, at);
      addDecoded(builder, decoded.text, at, decoded.end);
      plainFrom = decoded.end;
    }
    at = findNextOdd(text, decoded === null ? at + 1 : decoded.end);
  }
  if (plainFrom === start) return null;
  addPlain(builder, text, plainFrom, end);
  return finishView(builder);
}

const ODD = /[^\t-\r -!#$()+-;=-Z\]-_a-~]/g;

function findNextOdd(text: string, from: number): number {
  ODD.lastIndex = from;
  return ODD.test(text) ? ODD.lastIndex - 1 : text.length;
}

/** Decodes the blobs in that part, and keeps all other units as written. Returns `null` if there are none. */
export function decodeBlobs(text: string, start: number, end: number, blobs: readonly Blob[]): View | null {
  const builder = startView();
  let plainFrom = start;
  for (let at = findFirstBlob(blobs, start); at < blobs.length && blobs[at]!.end <= end; at++) {
    const blob = blobs[at]!;
    addPlain(builder, text, plainFrom, blob.start);
    addDecoded(builder, blob.text, blob.start, blob.end);
    plainFrom = blob.end;
  }
  if (plainFrom === start) return null;
  addPlain(builder, text, plainFrom, end);
  return finishView(builder);
}

/** Returns the number of the first blob at or after the offset. */
function findFirstBlob(blobs: readonly Blob[], start: number): number {
  let low = 0;
  let high = blobs.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (blobs[middle]!.start < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

const PLAIN = 0;
const UNSEEN = 1;
const BEYOND_ASCII = 2;
const PERCENT = 3;
const AMPERSAND = 4;
const BACKSLASH = 5;
const QUOTE = 6;
const PAIR = 7;
const TERMINAL = 8;
const BRACKET = 9;
const LOCAL = 10;
const MARKUP = 11;

/** The kind of decoding that a unit begins. */
const KINDS = new Uint8Array(0x10000);
KINDS.fill(BEYOND_ASCII, 0xa0);
KINDS.fill(PAIR, 0xd800, 0xdc00);
for (const [low, high] of parseUnits(INVISIBLE)) KINDS.fill(UNSEEN, low, high + 1);
for (const [low, high] of parseUnits(LOCAL_DIGIT)) KINDS.fill(LOCAL, low, high + 1);
for (const first of '\u001b\u009b\u009d') KINDS[first.charCodeAt(0)] = TERMINAL;
KINDS['['.charCodeAt(0)] = BRACKET;
KINDS['%'.charCodeAt(0)] = PERCENT;
KINDS['&'.charCodeAt(0)] = AMPERSAND;
KINDS['\\'.charCodeAt(0)] = BACKSLASH;
for (const sign of '<*') KINDS[sign.charCodeAt(0)] = MARKUP;
for (const quote of '"\'`') KINDS[quote.charCodeAt(0)] = QUOTE;

/**
 * Decodes the unit at an offset, with those after it, at most to `end`; returns `null` if it reads as
 * written.
 */
export function decodeAt(text: string, at: number, end: number): DecodedUnits | null {
  const kind = at < end ? KINDS[text.charCodeAt(at)]! : PLAIN;
  if (kind === PLAIN) return null;
  if (kind === PERCENT) return decodePercent(text, at);
  if (kind === AMPERSAND) return decodeEntity(text, at);
  if (kind === BACKSLASH) return decodeBackslash(text, at);
  if (kind === QUOTE) return decodeStringJoin(text, at) ?? decodePartJoin(text, at);
  if (kind === MARKUP) return decodeMarkup(text, at);
  if (kind === TERMINAL) return decodeTerminal(text, at);
  if (kind === BRACKET) return decodeColourRemainder(text, at);
  if (kind === LOCAL) return readDigits(text, at, end);
  return decodeHidden(text, at, end) ?? (kind === UNSEEN ? { text: '', end: at + 1 } : foldUnit(text, at));
}

/** Reads a run of digits of another script. A number is one piece, so that a long table of numbers stays cheap. */
function readDigits(text: string, at: number, end: number): DecodedUnits {
  let digits = '';
  let next = at;
  for (; next < end; next++) {
    const digit = readLocalDigit(text.charCodeAt(next));
    if (digit === undefined) break;
    digits += digit;
  }
  return { text: digits, end: next };
}

function foldUnit(text: string, at: number): DecodedUnits | null {
  const point = text.codePointAt(at)!;
  const letter = String.fromCodePoint(point);
  const reads = foldToAscii(point);
  return reads === letter ? null : { text: reads, end: at + letter.length };
}

/** Letters with blanks between them. */
export const SPACED_LETTERS = /(?<![^\s=:,;"'`([{<])(?:\S[ \u00a0]{1,3}){7,2000}\S(?!\S)/g;
/** Letters with a hyphen or a dot between them. */
const DASHED_LETTERS = /(?<![\w.-])[A-Za-z0-9+](?:-[ -~]){7,2000}(?![A-Za-z0-9])/g;
const DOTTED_LETTERS = /(?<![\w.-])[A-Za-z0-9+](?:\.[ -~]){7,2000}(?![A-Za-z0-9])/g;
/** Text that is shown in reverse. */
export const RTL_OVERRIDE = /\u202e([^\u202a-\u202e\n]{4,2000})/g;
const WORD_GAP = /(\S)([ \u00a0]{1,3})/g;
const LETTERS_MIN = 4;
/** The form of an IBAN, which can have two letters only. */
const COUNTRY_NUMBER = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/;

/**
 * Restores the reading order of units between `start` and `end`, each run on a line of its own: letters with
 * blanks, hyphens or dots between them become words, and text after a right-to-left override is reversed. Returns `null` if there are no
 * such units.
 */
export function restoreOrder(text: string, start: number, end: number): View | null {
  const builder = startView();
  const part = text.slice(start, end);
  for (const { 0: run, index } of part.matchAll(SPACED_LETTERS)) {
    const words = run.replace(
      WORD_GAP,
      (_, letter: string, gap: string) => letter + (gap.length > 1 ? ' ' : ''),
    );
    if (!hasLetters(words) && !isSpacedNumber(words)) continue;
    addLine(builder, words, start + index, start + index + run.length);
  }
  for (const pattern of [DASHED_LETTERS, DOTTED_LETTERS])
    for (const { 0: run, index } of part.matchAll(pattern)) {
      const words = run.replace(/(.)./gs, '$1');
      if (hasLetters(words) || isMarkedNumber(words, pattern))
        addLine(builder, words, start + index, start + index + run.length);
    }
  if (part.includes('\u202e')) {
    for (const { 0: run, 1: shown, index } of part.matchAll(RTL_OVERRIDE))
      addLine(builder, [...shown!].reverse().join(''), start + index, start + index + run.length);
  }
  return builder.length > 0 ? finishView(builder) : null;
}

function hasLetters(words: string): boolean {
  return words.replace(/[^A-Za-z]/g, '').length >= LETTERS_MIN || COUNTRY_NUMBER.test(words);
}

/** The digits of a card, and the fewest different ones in a number. Rows of a table have more, fewer or the same. */
const CARD_DIGITS = 16;
const DIGITS_DIFFERENT_MIN = 5;

function hasDigits(words: string, least: number): boolean {
  const digits = words.replace(/\D/g, '');
  return digits.length >= least && new Set(digits).size >= DIGITS_DIFFERENT_MIN;
}

/** Returns whether digits with blanks between them can be a number with a country code, with groups, or of a card. */
function isSpacedNumber(words: string): boolean {
  if (/^\+\d[\d ]+$/.test(words)) return hasDigits(words, 8);
  if (/^\d{1,4}-\d{1,4}-\d{1,4}$/.test(words)) return hasDigits(words, 8);
  return /^\d+$/.test(words) && words.length === CARD_DIGITS && hasDigits(words, CARD_DIGITS);
}

/** Returns whether digits with hyphens or dots between them can be such a number. Object identifiers have dots. */
function isMarkedNumber(words: string, pattern: RegExp): boolean {
  if (/^\+\d[\d ]+$/.test(words)) return hasDigits(words, 8);
  return pattern === DASHED_LETTERS && /^\d+$/.test(words) && hasDigits(words, 13);
}

function addLine(builder: ViewBuilder, text: string, start: number, end: number): void {
  const corrected = readLeet(text);
  addDecoded(builder, corrected === null ? `\n${text}\n` : `\n${text}\n\n${corrected}\n`, start, end);
}
