import type { ValuesSeen } from '../types/index.ts';
import { foldValue } from './fold-value.ts';

/** Words in a shingle. */
export const SHINGLE_WORDS = 8;
/** One of so many shingles is kept, chosen by its hash (winnowing). */
const KEPT_ONE_IN = 16;
/** Longer words are cut. */
const WORD_UNITS_MAX = 64;

/** A run of eight words that is kept, and its place in the text. */
export interface Shingle {
  readonly hash: string;
  readonly start: number;
  readonly end: number;
}

const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’_-]*/gu;

/**
 * Returns the shingles that are kept from a text. The session's key chooses them, so that an attacker cannot write a
 * text that has none. Linear: a rolling sum over the words decides, and only kept shingles are hashed.
 */
export function findShingles(
  text: string,
  hashValue: ValuesSeen['hashValue'],
  shinglesMax: number,
): readonly Shingle[] {
  const found: Shingle[] = [];
  const seed = Number.parseInt(hashValue('shingle', 'seed').slice(0, 8), 16) | 1;
  const words: string[] = [];
  const sums: number[] = [];
  const starts: number[] = [];
  const oldest = computePower(seed);
  let rolling = 0;
  for (const { 0: written, index } of text.matchAll(WORD)) {
    const word = foldValue(written.slice(0, WORD_UNITS_MAX));
    const sum = sumWord(word, seed);
    words.push(word);
    sums.push(sum);
    starts.push(index);
    rolling = (Math.imul(rolling, seed) + sum) | 0;
    const first = words.length - SHINGLE_WORDS;
    if (first < 0) continue;
    if (isKept(rolling, seed)) {
      const joined = words.slice(first).join(' ');
      found.push({
        hash: hashValue('shingle', joined),
        start: starts[first]!,
        end: index + written.length,
      });
      if (found.length >= shinglesMax) return found;
    }
    rolling = (rolling - Math.imul(sums[first]!, oldest)) | 0;
  }
  return found;
}

function sumWord(word: string, seed: number): number {
  let sum = seed;
  for (let at = 0; at < word.length; at++) sum = Math.imul(sum ^ word.charCodeAt(at), 0x01000193);
  return sum ^ (sum >>> 15);
}

/** The factor for the first word in a shingle. */
function computePower(seed: number): number {
  let factor = 1;
  for (let at = 1; at < SHINGLE_WORDS; at++) factor = Math.imul(factor, seed);
  return factor;
}

function isKept(rolling: number, seed: number): boolean {
  let mixed = Math.imul(rolling ^ (rolling >>> 16), 0x85ebca6b) ^ seed;
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) % KEPT_ONE_IN === 0;
}
