/**
 * Bodies for the sample tokens of detectors' examples: they look random, are the same every time, and are
 * never whole in the sources, so that the push protection of code hosts does not match.
 */

export const BASE62 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
export const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
export const HEX = '0123456789abcdef';
export const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
export const LOWER = 'abcdefghijklmnopqrstuvwxyz0123456789';
export const DIGITS = '0123456789';

/** `length` characters of `alphabet`, in a fixed order without a pattern. */
export function body(length: number, alphabet: string = BASE62): string {
  let state = 20261121 + length;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += alphabet[(state >>> 16) % alphabet.length];
  }
  return text;
}
