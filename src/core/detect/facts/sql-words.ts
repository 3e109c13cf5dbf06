/** Looks at rows of SQL tokens. */
import type { SqlToken } from './sql-tokens.ts';

/** Between the first word of a statement and those that tell it from a sentence are so many tokens at most. */
export const LOOKAHEAD_MAX = 200;

/** Where a name of one or more parts ends that begins here: `a.b."c"`, `a.*`. */
export function nameEnd(tokens: readonly SqlToken[], at: number): number {
  let end = at;
  while (isSign(tokens[end], '#') || isSign(tokens[end], ':')) end += 1;
  if (!isName(tokens[end])) return at;
  end += 1;
  while (isSign(tokens[end], '.') && (isName(tokens[end + 1]) || isSign(tokens[end + 1], '*'))) end += 2;
  return end;
}

/** Returns the place behind such words, and behind such signs that follow them. */
export function skipWords(tokens: readonly SqlToken[], at: number, words: RegExp, signs?: RegExp): number {
  let next = at;
  const highest = Math.min(tokens.length, at + 24);
  while (
    next < highest &&
    (words.test(wordAt(tokens, next)) || (next > at && signs?.test(tokens[next]!.text) === true))
  )
    next += 1;
  return next;
}

/** Returns whether such a word is among the next tokens. */
export function hasAhead(tokens: readonly SqlToken[], at: number, words: RegExp): boolean {
  for (let place = at; place < Math.min(tokens.length, at + LOOKAHEAD_MAX); place += 1)
    if (words.test(wordAt(tokens, place))) return true;
  return false;
}

/** The place behind the parenthesis that closes the one here, or behind what is looked at. */
export function groupEnd(tokens: readonly SqlToken[], at: number): number {
  let depth = 0;
  for (let place = at; place < Math.min(tokens.length, at + LOOKAHEAD_MAX); place += 1) {
    if (isSign(tokens[place], '(')) depth += 1;
    if (isSign(tokens[place], ')')) depth -= 1;
    if (depth === 0) return place + 1;
  }
  return tokens.length;
}

/** The place of a word, or -1. */
export function findWord(tokens: readonly SqlToken[], from: number, until: number, word: string): number {
  for (let place = from; place < Math.min(tokens.length, until); place += 1)
    if (isWord(tokens[place], word)) return place;
  return -1;
}

/** Returns whether such a sign is among the next tokens. */
export function hasSign(tokens: readonly SqlToken[], at: number, sign: string): boolean {
  for (let place = at; place < Math.min(tokens.length, at + LOOKAHEAD_MAX); place += 1)
    if (isSign(tokens[place], sign)) return true;
  return false;
}

/** Returns the word at a place, and the empty text if there is none. */
export function wordAt(tokens: readonly SqlToken[], at: number): string {
  const token = tokens[at];
  return token?.kind === 'word' ? token.text : '';
}

/** Returns whether a token is this word. */
export function isWord(token: SqlToken | undefined, text: string): boolean {
  return token?.kind === 'word' && token.text === text;
}

/** Returns whether a token can be a name. */
export function isName(token: SqlToken | undefined): boolean {
  return token?.kind === 'word' || token?.kind === 'name';
}

/** Returns whether a token is this sign. */
export function isSign(token: SqlToken | undefined, text: string): boolean {
  return token?.kind === 'sign' && token.text === text;
}

/** Returns whether the call of a function begins here. */
export function isCall(tokens: readonly SqlToken[], at: number): boolean {
  const behind = nameEnd(tokens, at);
  return behind > at && isSign(tokens[behind], '(');
}
