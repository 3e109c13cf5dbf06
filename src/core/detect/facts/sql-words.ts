/** Helpers for sequences of SQL tokens. */
import { countSteps } from '../../steps.ts';
import type { SqlToken } from './sql-tokens.ts';

/** The most tokens between the first word of a statement and the words that separate it from a sentence. */
export const LOOKAHEAD_MAX = 200;

/** Steps to inspect a token ahead. */
const TOKEN_STEPS = 2;

/** Returns the index after a name of one or more parts: `a.b."c"`, `a.*`. */
export function findNameEnd(tokens: readonly SqlToken[], at: number): number {
  let end = at;
  while (isSqlSign(tokens[end], '#') || isSqlSign(tokens[end], ':')) end += 1;
  if (!isSqlName(tokens[end])) return at;
  end += 1;
  while (isSqlSign(tokens[end], '.') && (isSqlName(tokens[end + 1]) || isSqlSign(tokens[end + 1], '*')))
    end += 2;
  return end;
}

/** Returns the index after such words, and after the signs that follow them. */
export function skipWords(tokens: readonly SqlToken[], at: number, words: RegExp, signs?: RegExp): number {
  let next = at;
  const highest = Math.min(tokens.length, at + 24);
  while (
    next < highest &&
    (words.test(getWord(tokens, next)) || (next > at && signs?.test(tokens[next]!.text) === true))
  )
    next += 1;
  return next;
}

/** Returns whether such a word is among the next tokens. */
export function hasAhead(tokens: readonly SqlToken[], at: number, words: RegExp): boolean {
  for (let place = at; place < Math.min(tokens.length, at + LOOKAHEAD_MAX); place += 1) {
    countSteps(TOKEN_STEPS);
    if (words.test(getWord(tokens, place))) return true;
  }
  return false;
}

/** Returns the index after the parenthesis that closes this one, or after the lookahead. */
export function findGroupEnd(tokens: readonly SqlToken[], at: number): number {
  let depth = 0;
  for (let place = at; place < Math.min(tokens.length, at + LOOKAHEAD_MAX); place += 1) {
    countSteps(TOKEN_STEPS);
    if (isSqlSign(tokens[place], '(')) depth += 1;
    if (isSqlSign(tokens[place], ')')) depth -= 1;
    if (depth === 0) return place + 1;
  }
  return tokens.length;
}

/** Returns the index of a word, or -1. */
export function findWord(tokens: readonly SqlToken[], from: number, until: number, word: string): number {
  for (let place = from; place < Math.min(tokens.length, until); place += 1) {
    countSteps(TOKEN_STEPS);
    if (isSqlWord(tokens[place], word)) return place;
  }
  return -1;
}

/** Returns whether such a sign is among the next tokens. */
export function hasSign(tokens: readonly SqlToken[], at: number, sign: string): boolean {
  for (let place = at; place < Math.min(tokens.length, at + LOOKAHEAD_MAX); place += 1) {
    countSteps(TOKEN_STEPS);
    if (isSqlSign(tokens[place], sign)) return true;
  }
  return false;
}

/** Returns the word at an index, and the empty text if there is none. */
export function getWord(tokens: readonly SqlToken[], at: number): string {
  const token = tokens[at];
  return token?.kind === 'word' ? token.text : '';
}

/** Returns whether a token is this word. */
export function isSqlWord(token: SqlToken | undefined, text: string): boolean {
  return token?.kind === 'word' && token.text === text;
}

/** Returns whether a token can be a name. */
export function isSqlName(token: SqlToken | undefined): boolean {
  return token?.kind === 'word' || token?.kind === 'name';
}

/** Returns whether a token is this sign. */
export function isSqlSign(token: SqlToken | undefined, text: string): boolean {
  return token?.kind === 'sign' && token.text === text;
}

/** Returns whether the call of a function begins here. */
export function isSqlCall(tokens: readonly SqlToken[], at: number): boolean {
  const nameEnd = findNameEnd(tokens, at);
  return nameEnd > at && isSqlSign(tokens[nameEnd], '(');
}
