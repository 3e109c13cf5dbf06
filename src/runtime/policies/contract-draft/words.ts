import { splitToolName } from '../../../core/policy/tool-effect.ts';
import { WORDS_UNITS_MAX } from './tool-description.ts';

/** Returns the words of a name in lower case and singular, joined by blanks: `userIds` is `user id`. */
export function readNameWords(name: string): string {
  return splitToolName(name).map(toSingular).join(' ');
}

/** Returns the words of a description's beginning, for searches by phrase. */
export function readPhrase(description: string): string {
  return description
    .slice(0, WORDS_UNITS_MAX)
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter((word) => word !== '')
    .map(toSingular)
    .join(' ');
}

/** Returns whether one of the words, or word pairs, is among joined words. */
export function hasWord(words: string, wanted: readonly string[]): boolean {
  const padded = ` ${words} `;
  return wanted.some((each) => padded.includes(` ${each} `));
}

/** Returns the last word. In an English compound it says what the thing is: `start_date` is a date. */
export function getHead(words: string): string {
  return words.slice(words.lastIndexOf(' ') + 1);
}

/** Splits a table's row into words. Pairs are joined by `_`. */
export function listWords(row: string): readonly string[] {
  return row
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => word.replaceAll('_', ' '));
}

const KEPT = new Set([
  'address',
  'access',
  'cc',
  'bcc',
  'dns',
  'sms',
  'rss',
  'status',
  'news',
  'is',
  'has',
  'as',
  'gps',
  'https',
  'canvas',
]);

function toSingular(word: string): string {
  if (word.length < 3 || !word.endsWith('s') || word.endsWith('ss') || KEPT.has(word)) return word;
  if (word.endsWith('ies') && word.length > 4) return `${word.slice(0, -3)}y`;
  return /(?:ss|x|ch|sh)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}
