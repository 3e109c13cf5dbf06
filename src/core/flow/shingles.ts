import type { ValuesSeen } from '../types/index.ts';
import { foldValue } from './fold-value.ts';

/** Words in a shingle. */
export const SHINGLE_WORDS = 8;
/** The smallest of so many neighbours is kept (winnowing), so that each run of 23 words keeps one. */
const NEIGHBOURS = 16;
/** Longer words are cut. */
const WORD_UNITS_MAX = 64;

/** A run of eight words that is kept, and its place in the text. */
export interface Shingle {
  readonly hash: string;
  readonly start: number;
  readonly end: number;
}

/** With invisible characters, which a reader of the text does not see. */
const WORD = /[\p{L}\p{N}][\p{L}\p{N}\p{M}\p{Default_Ignorable_Code_Point}'’_-]*/gu;

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
  // Repeated words must not use up the limit.
  const different = new Set<string>();
  const seed = Number.parseInt(hashValue('shingle', 'seed').slice(0, 8), 16) | 1;
  const words: string[] = [];
  const sums: number[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  const oldest = computePower(seed);
  const pick = createWinnow();
  const keep = (first: number): void => {
    const last = first + SHINGLE_WORDS - 1;
    const hash = hashValue('shingle', words.slice(first, last + 1).join(' '));
    different.add(hash);
    found.push({ hash, start: starts[first]!, end: ends[last]! });
  };
  let rolling = 0;
  for (const { 0: written, index } of text.matchAll(WORD)) {
    const word = foldValue(written.slice(0, WORD_UNITS_MAX));
    const sum = sumWord(word, seed);
    words.push(word);
    sums.push(sum);
    starts.push(index);
    ends.push(index + written.length);
    rolling = (Math.imul(rolling, seed) + sum) | 0;
    const first = words.length - SHINGLE_WORDS;
    if (first < 0) continue;
    const picked = pick.add(mix(rolling, seed));
    if (picked !== null) keep(picked);
    if (different.size >= shinglesMax) return found;
    rolling = (rolling - Math.imul(sums[first]!, oldest)) | 0;
  }
  const rest = pick.finish();
  if (rest !== null) keep(rest);
  return found;
}

/** Chooses the smallest number of each run of neighbours, each once. */
interface Winnow {
  /** Returns the place of a number that is chosen now; `null` if there is none. */
  readonly add: (value: number) => number | null;
  /** Returns the smallest place in a list that is shorter than a run; `null` otherwise. */
  readonly finish: () => number | null;
}

function createWinnow(): Winnow {
  const values: number[] = [];
  let smallest = -1;
  let chosen = -1;
  const findSmallest = (from: number): number => {
    let at = from;
    for (let next = from + 1; next < values.length; next++) if (values[next]! <= values[at]!) at = next;
    return at;
  };
  return {
    add: (value) => {
      const at = values.push(value) - 1;
      const from = Math.max(0, at - NEIGHBOURS + 1);
      if (smallest < from) smallest = findSmallest(from);
      else if (value < values[smallest]!) smallest = at;
      if (at + 1 < NEIGHBOURS || chosen === smallest) return null;
      chosen = smallest;
      return chosen;
    },
    finish: () => (values.length === 0 || values.length >= NEIGHBOURS ? null : smallest),
  };
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

function mix(rolling: number, seed: number): number {
  let mixed = Math.imul(rolling ^ (rolling >>> 16), 0x85ebca6b) ^ seed;
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
