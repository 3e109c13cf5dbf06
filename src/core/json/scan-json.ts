import { ARRAY, BACKSLASH, COLON, COMMA, LETTER_U, OBJECT, QUOTE, skipJsonSpace } from './json-lexemes.ts';
import type { WalkLimits } from './walk.ts';

/**
 * A key, string or number of a JSON document with its offsets in the source; a string without its quotes. A scan
 * has one such record and overwrites it on each visit, so a visitor must copy the fields that it keeps.
 */
export interface SourceLeaf {
  kind: 'key' | 'string' | 'number';
  start: number;
  end: number;
  has_escapes: boolean;
  /** `true` if this leaf is the value of the key that was visited just before. */
  is_member: boolean;
}

/** `malformed`: the text is not a JSON document. This may be found only after some leaves were visited. */
export type JsonScanResult = 'read' | 'malformed' | 'depth_max' | 'nodes_max';

/**
 * Visits the leaves of a JSON document (RFC 8259) in document order, in one pass and without recursion. Unlike
 * `JSON.parse` it reports their offsets, visits every duplicate key, and builds no value.
 */
export function scanJson(
  source: string,
  limits: WalkLimits,
  visit: (leaf: Readonly<SourceLeaf>) => void,
): JsonScanResult {
  const { result, end } = readJsonAt(source, 0, limits, visit);
  return result === 'read' && skipJsonSpace(source, end) < source.length ? 'malformed' : result;
}

/** The end of a document in a text; of one that is not read to its end, the offset of the first token that is not. */
interface ReadDocument {
  readonly result: JsonScanResult;
  readonly end: number;
}

/** Visits the leaves of the document that begins at an offset, as `scanJson` does. Other text may follow it. */
export function readJsonAt(
  source: string,
  from: number,
  limits: WalkLimits,
  visit: (leaf: Readonly<SourceLeaf>) => void,
): ReadDocument {
  const leaf: SourceLeaf = { kind: 'key', start: 0, end: 0, has_escapes: false, is_member: false };
  const open: number[] = [];
  let nodes = 0;
  let depth = 0;
  let awaits: Awaits = VALUE;
  let at = skipJsonSpace(source, from);
  for (; at < source.length; at = skipJsonSpace(source, at)) {
    const unit = source.charCodeAt(at);
    if (unit === OBJECT || unit === ARRAY) {
      if (awaits !== VALUE && awaits !== FIRST_VALUE) return { result: 'malformed', end: at };
      if (depth >= limits.depth_max) return { result: 'depth_max', end: at };
      open[depth] = unit;
      depth += 1;
      awaits = unit === OBJECT ? FIRST_KEY : FIRST_VALUE;
      at += 1;
    } else if (unit === OBJECT_END || unit === ARRAY_END) {
      const isPlace = awaits === SEPARATOR || awaits === FIRST_KEY || awaits === FIRST_VALUE;
      if (!isPlace || depth === 0 || open[depth - 1] !== unit - 2) return { result: 'malformed', end: at };
      depth -= 1;
      awaits = SEPARATOR;
      at += 1;
    } else if (unit === COMMA) {
      if (awaits !== SEPARATOR || depth === 0) return { result: 'malformed', end: at };
      awaits = open[depth - 1] === OBJECT ? KEY : VALUE;
      at += 1;
    } else {
      if (awaits === SEPARATOR) return { result: 'malformed', end: at };
      const isKey: boolean = awaits === KEY || awaits === FIRST_KEY;
      const end = readLeaf(source, at, leaf, isKey, depth > 0 && open[depth - 1] === OBJECT);
      if (end === MALFORMED) return { result: 'malformed', end: at };
      at = end;
      nodes += 1;
      if (nodes > limits.nodes_max) return { result: 'nodes_max', end: at };
      if (leaf.end > leaf.start || leaf.kind !== 'number') visit(leaf);
      awaits = isKey ? VALUE : SEPARATOR;
    }
    if (depth === 0 && awaits === SEPARATOR) return { result: 'read', end: at };
  }
  return { result: 'malformed', end: source.length };
}

/**
 * Returns whether a text must be parsed as JSON to be read correctly: it begins like a document and has escapes.
 */
export function isEscapedJson(text: string): boolean {
  const first = text[skipJsonSpace(text, 0)];
  return (first === '{' || first === '[' || first === '"') && text.includes('\\');
}

/** The leaf fields that reading a string fills. */
export type StringLeaf = Pick<SourceLeaf, 'start' | 'end' | 'has_escapes'>;
type Span = Readonly<Pick<SourceLeaf, 'start' | 'end'>>;

/** Returns the decoded string of a leaf that has escapes. */
export function decodeLeaf(source: string, { start, end }: Span): string {
  return JSON.parse(source.slice(start - 1, end + 1));
}

/** Returns the decoded strings at these offsets, in their order. */
export function decodeLeaves(
  source: string,
  starts: readonly number[],
  ends: readonly number[],
): readonly string[] {
  return JSON.parse(`[${starts.map((start, at) => source.slice(start - 1, ends[at]! + 1)).join()}]`);
}

/** Returns the source offset of each unit of a decoded leaf, followed by the offset of its end. */
export function mapLeafOffsets(source: string, { start, end }: Span): Uint32Array {
  const offsets = new Uint32Array(end - start + 1);
  let length = 0;
  for (let at = start; at < end; length++) {
    offsets[length] = at;
    if (source.charCodeAt(at) !== BACKSLASH) at += 1;
    else at += source.charCodeAt(at + 1) === LETTER_U ? UNICODE_UNITS : 2;
  }
  offsets[length] = end;
  return offsets.subarray(0, length + 1);
}

/**
 * The token that may come next. The two `FIRST_` states follow an opening bracket, so a closing one may come as
 * well.
 */
type Awaits = 0 | 1 | 2 | 3 | 4;
const VALUE = 0;
const FIRST_VALUE = 1;
const KEY = 2;
const FIRST_KEY = 3;
const SEPARATOR = 4;

const OBJECT_END = 125;
const ARRAY_END = 93;
const LETTERS = 65;
/** The length of `\\u0041`. */
const UNICODE_UNITS = 6;
/**
 * Returned in place of an offset. It lies beyond the end of any text, so a scan that continues there finds nothing.
 */
export const MALFORMED = Number.MAX_SAFE_INTEGER;

const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;

/** Fills `leaf` and returns the offset after it (for a key, after its colon), or `MALFORMED`. */
function readLeaf(source: string, at: number, leaf: SourceLeaf, isKey: boolean, isInObject: boolean): number {
  leaf.is_member = !isKey && isInObject;
  if (source.charCodeAt(at) !== QUOTE) return isKey ? MALFORMED : readWord(source, at, leaf);
  leaf.kind = isKey ? 'key' : 'string';
  const end = readString(source, at, leaf);
  if (!isKey) return end;
  const colon = skipJsonSpace(source, end);
  return source.charCodeAt(colon) === COLON ? colon + 1 : MALFORMED;
}

/** Fills `leaf` with the string behind a quote. Returns the offset after its second quote, or `MALFORMED`. */
export function readString(source: string, quote: number, leaf: StringLeaf): number {
  leaf.start = quote + 1;
  leaf.has_escapes = false;
  for (let at = quote + 1; at < source.length; ) {
    const unit = source.charCodeAt(at);
    if (unit === QUOTE) {
      leaf.end = at;
      return at + 1;
    }
    if (unit < 32) return MALFORMED;
    if (unit === BACKSLASH) {
      ESCAPE.lastIndex = at;
      if (!ESCAPE.test(source)) return MALFORMED;
      leaf.has_escapes = true;
      at = ESCAPE.lastIndex;
    } else at += 1;
  }
  return MALFORMED;
}

/** Reads a number, or `true`, `false` or `null`, which becomes an empty leaf that is not visited. */
function readWord(source: string, start: number, leaf: SourceLeaf): number {
  WORD.lastIndex = start;
  if (!WORD.test(source)) return MALFORMED;
  leaf.kind = 'number';
  leaf.start = start;
  leaf.end = source.charCodeAt(start) < LETTERS ? WORD.lastIndex : start;
  leaf.has_escapes = false;
  return WORD.lastIndex;
}
