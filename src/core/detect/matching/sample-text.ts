/**
 * Bodies for the sample tokens of detectors' examples. They look random, are always the same, and are never whole in
 * the sources, so that the push protection of code hosts does not refuse this repository.
 */

export const BASE62 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
export const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
export const HEX_ALPHABET = '0123456789abcdef';
export const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
export const BASE36 = 'abcdefghijklmnopqrstuvwxyz0123456789';
export const DIGIT_ALPHABET = '0123456789';

/** Returns `length` characters of `alphabet`, in a fixed order without a pattern. */
export function sampleBody(length: number, alphabet: string = BASE62): string {
  let state = 20261121 + length;
  let text = '';
  while (text.length < length) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    text += alphabet[(state >>> 16) % alphabet.length];
  }
  return text;
}
