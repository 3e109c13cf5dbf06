import { ARRAY, BACKSLASH, COLON, COMMA, isJsonSpace, OBJECT, QUOTE } from './json-lexemes.ts';
import { MALFORMED, readJsonAt, readString, type SourceLeaf, type StringLeaf } from './scan-json.ts';

/** The keys and strings of all JSON documents in a text, ascending and disjoint; offsets without their quotes. */
export interface EmbeddedStrings {
  readonly starts: number[];
  readonly ends: number[];
  readonly has_escapes: boolean[];
}

/** Documents in other text are small. A deeper one is read up to this level. */
const LIMITS = { depth_max: 64, nodes_max: Number.MAX_SAFE_INTEGER };

/**
 * Finds the JSON objects and arrays in a text, such as one per line, in a code fence or between sentences. An object
 * counts up to where it is cut or malformed; an array counts if it is complete and not a literal of a program.
 */
export function findEmbeddedStrings(text: string): EmbeddedStrings {
  return findStrings(text, text.length, addString);
}

/** Finds those of the embedded strings that have escapes. */
export function findEscapedStrings(text: string): EmbeddedStrings {
  return findStrings(text, text.lastIndexOf('\\'), (strings, leaf) => {
    if (leaf.has_escapes) addString(strings, leaf);
  });
}

/** Strings in a text; offsets without their quotes. */
export type StringSpans = Pick<EmbeddedStrings, 'starts' | 'ends'>;

/**
 * Finds the escaped strings in JSON documents, and others in the same notation, by the units around them. Few
 * texts have one, so that their documents need not be read. Linear.
 */
export function findPossibleStrings(text: string): StringSpans {
  const spans: StringSpans = { starts: [], ends: [] };
  const leaf: StringLeaf = { start: 0, end: 0, has_escapes: false };
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', at + 1)) {
    const quote = findStringQuote(text, at);
    if (quote < 0 || readString(text, quote, leaf) === MALFORMED) continue;
    spans.starts.push(leaf.start);
    spans.ends.push(leaf.end);
    at = leaf.end;
  }
  return spans;
}

const FIRST_PRINTABLE = 32;

/** Returns where the string begins whose first backslash this can be, at its quote; -1 if it is in none. */
function findStringQuote(text: string, backslash: number): number {
  for (let quote = backslash - 1; quote > 0; quote--) {
    const unit = text.charCodeAt(quote);
    if (unit === QUOTE) return isStringPlace(text, quote) ? quote : -1;
    if (unit === BACKSLASH || unit < FIRST_PRINTABLE) return -1;
  }
  return -1;
}

/** Returns whether a JSON string can begin at an offset, by the sign in front of it. */
function isStringPlace(text: string, quote: number): boolean {
  let at = quote - 1;
  while (at >= 0 && isJsonSpace(text.charCodeAt(at))) at -= 1;
  const unit = text.charCodeAt(at);
  return unit === COMMA || unit === COLON || unit === OBJECT || unit === ARRAY;
}

/** Finds the strings of documents that begin before an offset. */
function findStrings(
  text: string,
  before: number,
  add: (strings: EmbeddedStrings, leaf: Readonly<SourceLeaf>) => void,
): EmbeddedStrings {
  const strings: EmbeddedStrings = { starts: [], ends: [], has_escapes: [] };
  const visit = (leaf: Readonly<SourceLeaf>) => add(strings, leaf);
  for (let at = findOpening(text, 0); at < before; ) {
    const known = strings.starts.length;
    const { result, end } = readJsonAt(text, at, LIMITS, visit);
    const isArray = text.charCodeAt(at) === ARRAY;
    if (isArray && ((result !== 'read' && end < text.length) || isLiteral(text, at)))
      dropStrings(strings, known);
    // A malformed token is read once more, for a document in it. No string in a string has quotes of its own, so each
    // unit is read three times at most.
    at = findOpening(text, Math.max(end, at + 1));
  }
  return strings;
}

/** Returns the index of the string that contains a span; -1 if none does. */
export function findStringAt({ starts, ends }: EmbeddedStrings, start: number, end: number): number {
  let low = 0;
  let high = starts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[middle]! <= start) low = middle + 1;
    else high = middle;
  }
  return low > 0 && end <= ends[low - 1]! ? low - 1 : -1;
}

function addString(strings: EmbeddedStrings, { kind, start, end, has_escapes }: Readonly<SourceLeaf>): void {
  if (kind === 'number') return;
  strings.starts.push(start);
  strings.ends.push(end);
  strings.has_escapes.push(has_escapes);
}

function dropStrings({ starts, ends, has_escapes }: EmbeddedStrings, length: number): void {
  starts.length = length;
  ends.length = length;
  has_escapes.length = length;
}

const OPENING = /\{(?=[ \t\r\n]*")|\[(?=[ \t\r\n]*["[{\d\-tfn])/g;

function findOpening(text: string, from: number): number {
  OPENING.lastIndex = from;
  return OPENING.test(text) ? OPENING.lastIndex - 1 : text.length;
}

/** Returns whether an array is the operand of an assignment or a call, as in `samples = ["..."]`. */
function isLiteral(text: string, at: number): boolean {
  let before = at - 1;
  while (before >= 0 && text[before] === ' ') before -= 1;
  return text[before] === '=' || text[before] === '(';
}
