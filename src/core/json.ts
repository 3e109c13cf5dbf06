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
  /** One entry per open container: true for an object. */
  const open: boolean[] = [];
  let awaits: Awaits = 'value';
  let at = 0;
  while (true) {
    at = skipSpace(source, at);
    if (at >= source.length) return awaits === 'separator' && open.length === 0 ? leaves : null;
    const token = TOKENS[source[at]!];
    if (token === undefined) return null;
    if (token === 'close') {
      if (open.length === 0 || (awaits !== 'separator' && awaits !== 'first')) return null;
      if (open.pop() !== (source[at] === '}')) return null;
      awaits = 'separator';
      at += 1;
    } else if (token === ',') {
      if (awaits !== 'separator' || open.length === 0) return null;
      awaits = open.at(-1) === true ? 'key' : 'value';
      at += 1;
    } else if (token === 'open') {
      if (awaits === 'key' || awaits === 'separator' || (awaits === 'first' && open.at(-1) === true))
        return null;
      if (open.length >= limits.depth_max) return 'depth_max';
      open.push(source[at] === '{');
      awaits = 'first';
      at += 1;
    } else {
      if (awaits === 'separator') return null;
      const is_key: boolean = awaits === 'key' || (awaits === 'first' && open.at(-1) === true);
      if (is_key && token !== 'string') return null;
      const kind = is_key ? 'key' : token === 'string' ? 'string' : 'number';
      const is_member = kind !== 'key' && open.at(-1) === true;
      const end =
        token === 'string'
          ? readString(source, at, leaves, kind, is_member)
          : readWord(source, at, leaves, is_member);
      if (end < 0) return null;
      if (leaves.length > limits.nodes_max) return 'nodes_max';
      at = end;
      if (is_key) {
        at = skipSpace(source, at);
        if (source[at] !== ':') return null;
        at += 1;
      }
      awaits = is_key ? 'value' : 'separator';
    }
  }
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

/** `first` is the place behind an opening bracket, where a closing one may follow. */
type Awaits = 'value' | 'first' | 'key' | 'separator';

const BACKSLASH = 92;
const ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const TOKENS: Readonly<Record<string, 'open' | 'close' | ',' | 'string' | 'word'>> = {
  '{': 'open',
  '[': 'open',
  '}': 'close',
  ']': 'close',
  ',': ',',
  '"': 'string',
  ...Object.fromEntries([...'-0123456789tfn'].map((first) => [first, 'word'] as const)),
};
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

/** Adds the leaf and returns the offset behind the closing quote; -1 where the string is malformed. */
function readString(
  source: string,
  quote: number,
  leaves: SourceLeaf[],
  kind: SourceLeaf['kind'],
  is_member: boolean,
): number {
  let has_escapes = false;
  for (let at = quote + 1; at < source.length; ) {
    const unit = source.charCodeAt(at);
    if (unit === 34) {
      leaves.push({ kind, start: quote + 1, end: at, has_escapes, is_member });
      return at + 1;
    }
    if (unit < 32) return -1;
    if (unit === BACKSLASH) {
      ESCAPE.lastIndex = at;
      if (!ESCAPE.test(source)) return -1;
      has_escapes = true;
      at = ESCAPE.lastIndex;
    } else at += 1;
  }
  return -1;
}

function readWord(source: string, start: number, leaves: SourceLeaf[], is_member: boolean): number {
  WORD.lastIndex = start;
  if (!WORD.test(source)) return -1;
  const is_number = 'tfn'.includes(source[start]!) === false;
  if (is_number) leaves.push({ kind: 'number', start, end: WORD.lastIndex, has_escapes: false, is_member });
  return WORD.lastIndex;
}

function unicode(hex: string): string {
  return String.fromCharCode(Number.parseInt(hex, 16));
}
