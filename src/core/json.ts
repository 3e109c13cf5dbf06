import type { WalkLimits } from './payload.ts';

/** A key, string or number of a JSON document, by its place in the source; strings without their quotes. */
export interface SourceLeaf {
  readonly kind: 'key' | 'string' | 'number';
  readonly start: number;
  readonly end: number;
  readonly has_escapes: boolean;
  /** Whether it is the value of the key that is the leaf before. */
  readonly is_member: boolean;
}

/** A string as it reads, and where each unit of it stands in the source; one more offset for the end. */
export interface Decoded {
  readonly text: string;
  readonly offsets: Uint32Array;
}

/** `null`: the text is no JSON document. A string: the limit that it is over. */
export type Reading = readonly SourceLeaf[] | 'depth_max' | 'nodes_max' | null;

/**
 * Reads a JSON document (RFC 8259) for its leaves, in one pass and without recursion. Unlike `JSON.parse` it
 * tells where they stand, keeps all of several equal keys, and builds nothing.
 */
export function readJson(source: string, limits: WalkLimits): Reading {
  const leaves: SourceLeaf[] = [];
  const open = new Uint8Array(Math.min(limits.depth_max, source.length));
  let depth = 0;
  let awaits: Awaits = VALUE;
  for (let at = skipSpace(source, 0); at < source.length; at = skipSpace(source, at)) {
    const unit = source.charCodeAt(at);
    if (unit === OBJECT || unit === ARRAY) {
      if (awaits !== VALUE && awaits !== FIRST_VALUE) return null;
      if (depth >= limits.depth_max) return 'depth_max';
      open[depth] = unit;
      depth += 1;
      awaits = unit === OBJECT ? FIRST_KEY : FIRST_VALUE;
      at += 1;
    } else if (unit === OBJECT_END || unit === ARRAY_END) {
      const is_place = awaits === SEPARATOR || awaits === FIRST_KEY || awaits === FIRST_VALUE;
      if (!is_place || depth === 0 || open[depth - 1] !== unit - 2) return null;
      depth -= 1;
      awaits = SEPARATOR;
      at += 1;
    } else if (unit === COMMA) {
      if (awaits !== SEPARATOR || depth === 0) return null;
      awaits = open[depth - 1] === OBJECT ? KEY : VALUE;
      at += 1;
    } else if (awaits === SEPARATOR) {
      return null;
    } else if (awaits === KEY || awaits === FIRST_KEY) {
      at = skipSpace(source, readString(source, at, leaves, 'key', false));
      if (source.charCodeAt(at) !== COLON) return null;
      awaits = VALUE;
      at += 1;
    } else {
      const is_member = depth > 0 && open[depth - 1] === OBJECT;
      const read =
        unit === QUOTE
          ? readString(source, at, leaves, 'string', is_member)
          : readWord(source, at, leaves, is_member);
      if (read === MALFORMED) return null;
      awaits = SEPARATOR;
      at = read;
    }
    if (leaves.length > limits.nodes_max) return 'nodes_max';
  }
  return awaits === SEPARATOR && depth === 0 ? leaves : null;
}

/** Whether a text can only be read right as JSON: it begins like a document and holds escapes. */
export function isEscapedJson(text: string): boolean {
  const first = text[skipSpace(text, 0)];
  return (first === '{' || first === '[' || first === '"') && text.includes('\\');
}

/** The string that a leaf with escapes stands for. */
export function decode(source: string, { start, end }: SourceLeaf): Decoded {
  const offsets = new Uint32Array(end - start + 1);
  const parts: string[] = [];
  let length = 0;
  let plain_from = start;
  for (let at = start; at < end; ) {
    offsets[length] = at;
    length += 1;
    if (source.charCodeAt(at) !== BACKSLASH) {
      at += 1;
      continue;
    }
    const letter = source[at + 1]!;
    const is_unicode = letter === 'u';
    const char = is_unicode ? unicode(source.slice(at + 2, at + 6)) : (ESCAPES[letter] ?? letter);
    parts.push(source.slice(plain_from, at), char);
    at += is_unicode ? 6 : 2;
    plain_from = at;
  }
  offsets[length] = end;
  parts.push(source.slice(plain_from, end));
  return { text: parts.join(''), offsets: offsets.subarray(0, length + 1) };
}

/** What may come next; the two firsts are the places behind an opening bracket, where a closing one may too. */
type Awaits = 0 | 1 | 2 | 3 | 4;
const VALUE = 0;
const FIRST_VALUE = 1;
const KEY = 2;
const FIRST_KEY = 3;
const SEPARATOR = 4;

const OBJECT = 123;
const OBJECT_END = 125;
const ARRAY = 91;
const ARRAY_END = 93;
const COMMA = 44;
const COLON = 58;
const QUOTE = 34;
const BACKSLASH = 92;
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
/** Instead of an offset; it is beyond any text, so that reading on there finds nothing. */
const MALFORMED = Number.MAX_SAFE_INTEGER;

const WORD = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4})/y;

function skipSpace(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit !== 32 && unit !== 10 && unit !== 13 && unit !== 9) break;
  }
  return at;
}

/** Adds the leaf and returns the offset behind the closing quote, or `MALFORMED`. */
function readString(
  source: string,
  quote: number,
  leaves: SourceLeaf[],
  kind: SourceLeaf['kind'],
  is_member: boolean,
): number {
  if (source.charCodeAt(quote) !== QUOTE) return MALFORMED;
  let has_escapes = false;
  for (let at = quote + 1; at < source.length; ) {
    const unit = source.charCodeAt(at);
    if (unit === QUOTE) {
      leaves.push({ kind, start: quote + 1, end: at, has_escapes, is_member });
      return at + 1;
    }
    if (unit < 32) return MALFORMED;
    if (unit === BACKSLASH) {
      ESCAPE.lastIndex = at;
      if (!ESCAPE.test(source)) return MALFORMED;
      has_escapes = true;
      at = ESCAPE.lastIndex;
    } else at += 1;
  }
  return MALFORMED;
}

function readWord(source: string, start: number, leaves: SourceLeaf[], is_member: boolean): number {
  WORD.lastIndex = start;
  if (!WORD.test(source)) return MALFORMED;
  if (source.charCodeAt(start) < 65)
    leaves.push({ kind: 'number', start, end: WORD.lastIndex, has_escapes: false, is_member });
  return WORD.lastIndex;
}

function unicode(hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}
