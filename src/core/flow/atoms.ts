import { foldValue, listDecodings } from './fold-value.ts';
import { findNumbers } from './numbers.ts';
import {
  ATOM_UNITS_MAX,
  findGroupedNumbers,
  findNames,
  findQuotations,
  findWords,
  isIdentifier,
  isPlaceholderText,
  type Piece,
  splitJoinedWord,
  trimBlanks,
} from './pieces.ts';
import { STOP_WORDS } from './stop-words.ts';
import { parseUrlParts } from './urls.ts';

/** The values that a person's text endorses. */
export interface PromptAtoms {
  readonly exact: readonly string[];
  readonly numbers: readonly string[];
}

/** The most values that one prompt endorses, so that a long one leaves some for later ones. */
const PROMPT_ATOMS_MAX = 512;
/** Words in the longest name that a prompt endorses without quotation marks. */
const NAME_WORDS_MAX = 6;

/**
 * Returns the values in a prompt: the whole, quoted strings, addresses, URLs with their parts, identifiers, numbers,
 * names of up to six words, and single words, because a task names people and channels in one word. `isExcluded` says
 * which places endorse nothing.
 */
export function findPromptAtoms(text: string, isExcluded: (piece: Piece) => boolean): PromptAtoms {
  const words = findWords(text);
  return findExactAtoms(text, words, isExcluded, PROMPT_ATOMS_MAX, [...words, ...words.flatMap(splitPair)]);
}

const PAIR = /^([\w.-]+)\/([\w.-]+)$/;

/** Returns both names in `acme/app`, as people write a repository and its owner. */
function splitPair({ text, start, end }: Piece): readonly Piece[] {
  const [, owner, name] = PAIR.exec(text) ?? [];
  return owner === undefined ? [] : [owner, name!].map((part) => ({ text: part, start, end }));
}

/** Returns the values in a text from a source that the person named. Single words do not count. */
export function findSourceAtoms(text: string, atomsMax: number): PromptAtoms {
  return findExactAtoms(text, findWords(text), () => false, atomsMax, []);
}

function findExactAtoms(
  text: string,
  words: readonly Piece[],
  isExcluded: (piece: Piece) => boolean,
  atomsMax: number,
  singles: readonly Piece[],
): PromptAtoms {
  const exact = new Set<string>();
  const add = (piece: Piece): void => {
    const value = trimBlanks(piece.text);
    const isKept = value !== '' && value.length <= ATOM_UNITS_MAX && !isPlaceholderText(value);
    if (isKept && exact.size < atomsMax && !isExcluded(piece)) exact.add(value);
  };
  add({ text, start: 0, end: text.length });
  for (const piece of listTypedPieces(text, words)) add(piece);
  for (const word of singles) if (!isStopWord(word.text) && !isPlainNumber(word.text)) add(word);
  for (const name of listNames(text, words)) add(name);
  const numbers = findNumbers(text).filter((piece) => !isExcluded(piece));
  return {
    exact: [...exact],
    numbers: [...new Set(numbers.map((piece) => piece.text))].slice(0, atomsMax),
  };
}

const LETTERS = /^[A-Za-z]+$/;

/** Returns the parts of a text whose form makes them values. */
function* listTypedPieces(text: string, words: readonly Piece[]): Generator<Piece> {
  yield* findQuotations(text);
  yield* findGroupedNumbers(text);
  for (const word of words) {
    if (LETTERS.test(word.text)) continue;
    for (const part of [word, ...splitJoinedWord(word)]) {
      if (!isIdentifier(part.text)) continue;
      yield part;
      for (const piece of listUrlParts(part.text)) yield { ...part, text: piece };
    }
  }
}

/** Returns a URL's host, its path, and the values in its query. */
function listUrlParts(text: string): readonly string[] {
  if (!text.includes('://') && !text.includes('/')) return [];
  const parts = parseUrlParts(text);
  if (parts === null) return [];
  return [
    parts.host,
    parts.path,
    parts.query,
    ...parts.values,
    text.replace(/^[a-z][a-z0-9+.-]*:\/\//i, ''),
  ].filter((part) => part !== '' && part !== '/');
}

/** Returns runs of two to six words that look like a name or an address: each word with a capital or a digit. */
function* listNames(text: string, words: readonly Piece[]): Generator<Piece> {
  for (let first = 0; first < words.length; first++) {
    const { start } = words[first]!;
    for (let last = first; last < Math.min(words.length, first + NAME_WORDS_MAX); last++) {
      const { end, text: word } = words[last]!;
      if (!/^[\p{Lu}\p{N}]/u.test(word)) break;
      if (last > first) yield { text: text.slice(start, end), start, end };
    }
  }
}

function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word.toLowerCase());
}

function isPlainNumber(word: string): boolean {
  return /^[+-]?[\d.,]+%?$/.test(word) && !isIdentifier(word);
}

/** The values in strangers' texts. */
export interface UntrustedAtoms {
  readonly folded: Set<string>;
  /** Numbers in plain digits. They count for arguments that are numbers alone, because short ones fill many texts. */
  readonly numbers: Set<string>;
}

/**
 * Adds the values in a stranger's text: the whole, addresses, URLs with their parts, paths, account numbers, numbers,
 * identifiers, quoted strings and names, also where they are encoded. Stops at `atomsMax` values of one form.
 */
export function addUntrustedAtoms({ folded, numbers }: UntrustedAtoms, text: string, atomsMax: number): void {
  const add = (value: string): boolean => {
    const trimmed = trimBlanks(value);
    if (trimmed !== '' && trimmed.length <= ATOM_UNITS_MAX && !isPlaceholderText(trimmed))
      folded.add(foldValue(trimmed));
    return folded.size < atomsMax;
  };
  if (!add(text)) return;
  const words = findWords(text);
  for (const { text: part } of listTypedPieces(text, words)) if (!add(part)) return;
  for (const { text: name } of findNames(text)) if (!add(name)) return;
  for (const { text: number } of findNumbers(text)) if (numbers.add(number).size >= atomsMax) return;
  for (const { text: word } of words) {
    for (const decoded of listDecodings(word)) {
      if (!add(decoded)) return;
      for (const { text: part } of listTypedPieces(decoded, findWords(decoded))) if (!add(part)) return;
    }
  }
}

/** Returns the parts of an argument in which a stranger's values may be hidden. Bounded by `piecesMax`. */
export function listHiddenPieces(text: string, piecesMax: number): readonly string[] {
  const found = new Set<string>();
  for (const { text: piece } of listTypedPieces(text, findWords(text))) {
    if (found.size >= piecesMax) break;
    if (piece !== text && piece.length <= ATOM_UNITS_MAX && !isPlaceholderText(piece)) found.add(piece);
  }
  return [...found];
}
