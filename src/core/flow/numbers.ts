import { DECIMAL_DIGITS_MAX, writeOutDecimal } from '../text/plain-decimal.ts';
import type { Piece } from './pieces.ts';

/** The one number notation: digits, or groups of three with commas, then a fraction and an exponent. */
const NUMBER = /^([+-]?)(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Returns a number in plain digits, without leading or trailing zeros: `1,000.00` and `1e3` become `1000`. Returns
 * `null` for any other notation, and for longer numbers, which are compared as text alone.
 */
export function normalizeNumber(text: string): string | null {
  if (text.length > 2 * DECIMAL_DIGITS_MAX) return null;
  const [found, sign, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  if (found === undefined) return null;
  const plain = writeOutDecimal(whole.replaceAll(',', ''), fraction, Number(exponent));
  return plain !== null && sign === '-' && plain !== '0' ? `-${plain}` : plain;
}

/** Returns whether a plain number has fewer than three digits. */
export function isSmallNumber(plain: string): boolean {
  return /^-?\d{1,2}$/.test(plain);
}

const CANDIDATE = /[+-]?\d[\d,]{0,80}(?:\.\d{1,40})?(?:[eE][+-]?\d{1,3})?/g;
/** Text before or behind which a number is part of a date, a phone number or an identifier. */
const JOINED_BEFORE = /[\p{L}\p{N}_#@:/\\.,+-]$|(?:^|[^\p{L}\p{N}])\d+[ \u00a0]$/u;
const JOINED_AFTER = /^(?:[\p{L}\p{N}_@#:/\\-]|[.,]\d|[ \u00a0]\d)/u;
const MONTH =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?';
const MONTH_BEFORE = new RegExp(`(?:${MONTH})\\.?(?: \\d{1,2}(?:st|nd|rd|th)?)?,? $`, 'i');
const MONTH_AFTER = new RegExp(`^ (?:of )?(?:${MONTH})\\b`, 'i');
const CONTEXT_UNITS = 24;

/** Returns the numbers that are separate words in a text, in plain digits, with their places. */
export function findNumbers(text: string): readonly Piece[] {
  const found: Piece[] = [];
  for (const { 0: written, index } of text.matchAll(CANDIDATE)) {
    const trimmed = written.replace(/,+$/, '');
    const end = index + trimmed.length;
    const before = text.slice(Math.max(0, index - CONTEXT_UNITS), index);
    const after = text.slice(end, end + CONTEXT_UNITS);
    if (JOINED_BEFORE.test(before) || JOINED_AFTER.test(after)) continue;
    if (MONTH_BEFORE.test(before) || MONTH_AFTER.test(after)) continue;
    const plain = normalizeNumber(trimmed);
    if (plain !== null) found.push({ text: plain, start: index, end });
  }
  return found;
}
