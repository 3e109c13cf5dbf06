import type { JsonMember, JsonNode, JsonParseError, StringNode } from '../types/json.ts';
import { ARRAY, BACKSLASH, COLON, COMMA, LETTER_U, OBJECT, QUOTE, skipJsonSpace } from './json-lexemes.ts';
import type { WalkLimits } from './walk.ts';

/**
 * Parses JSON text (RFC 8259, strict) into nodes with their offsets. It makes one pass and does not recurse, so
 * deep nesting cannot exhaust the stack. Duplicate members are all kept, because a guard that saw only one of them
 * could be bypassed with the other. Nodes are counted as `walkJson` counts them: the root, each key and each
 * element. With `drops_vectors`, numbers in arrays are parsed but neither kept nor counted.
 */
export function parseJsonTree(
  text: string,
  limits: WalkLimits,
  { drops_vectors = false }: { readonly drops_vectors?: boolean } = {},
): JsonNode | JsonParseError {
  const open: Open[] = [];
  let nodes = 0;
  let at = skipJsonSpace(text, 0);
  for (;;) {
    nodes += 1;
    if (nodes > limits.nodes_max) return buildParseError('nodes_max', at);
    const unit = text.charCodeAt(at);
    let node: JsonNode | JsonParseError;
    if (unit === OBJECT || unit === ARRAY) {
      if (open.length >= limits.depth_max) return buildParseError('depth_max', at);
      const opened = openNode(unit === OBJECT, at);
      at = skipJsonSpace(text, at + 1);
      if (text.charCodeAt(at) !== unit + 2) {
        open.push(opened);
        if (unit === ARRAY) continue;
        const next = readKey(text, at, opened);
        if (typeof next !== 'number') return next;
        nodes += 1;
        at = next;
        continue;
      }
      opened.node.end = at + 1;
      node = opened.node as JsonNode;
    } else node = unit === QUOTE ? readString(text, at) : readWord(text, at, unit);
    if (node.kind === 'problem') return node;
    for (;;) {
      at = skipJsonSpace(text, node.end);
      const parent = open.at(-1);
      if (parent === undefined) return at === text.length ? node : buildParseError('malformed', at);
      if (drops_vectors && parent.members === null && node.kind === 'number') nodes -= 1;
      else if (parent.members === null) parent.items.push(node);
      else parent.members.push({ key: parent.key as StringNode, value: node });
      const next = text.charCodeAt(at);
      if (next === COMMA) {
        at = skipJsonSpace(text, at + 1);
        if (parent.members === null) break;
        const keyEnd = readKey(text, at, parent);
        if (typeof keyEnd !== 'number') return keyEnd;
        nodes += 1;
        at = keyEnd;
        break;
      }
      if (next !== parent.closing) return buildParseError('malformed', at);
      open.pop();
      parent.node.end = at + 1;
      node = parent.node as JsonNode;
    }
  }
}

/** A container that is being read. Its node is complete once its end is known. */
interface Open {
  readonly node: { kind: 'object' | 'array'; start: number; end: number };
  readonly closing: number;
  readonly members: JsonMember[] | null;
  readonly items: JsonNode[];
  /** The key whose value comes next. */
  key: StringNode | null;
}

const MINUS = 45;
const ZERO = 48;
const NINE = 57;

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const FOUR_HEX = /[0-9A-Fa-f]{4}/y;
/** Characters that may follow a backslash, except `u`. */
const ESCAPED = '"\\/bfnrt';

function openNode(isObject: boolean, start: number): Open {
  const members: JsonMember[] = [];
  const items: JsonNode[] = [];
  return isObject
    ? {
        node: { kind: 'object', start, end: 0, members } as Open['node'],
        closing: 125,
        members,
        items,
        key: null,
      }
    : {
        node: { kind: 'array', start, end: 0, items } as Open['node'],
        closing: 93,
        members: null,
        items,
        key: null,
      };
}

function buildParseError(reason: JsonParseError['reason'], at: number): JsonParseError {
  return { kind: 'problem', reason, at };
}

/** Stores the key in `parent` for the value that follows, and returns the offset of that value. */
function readKey(text: string, at: number, parent: Open): number | JsonParseError {
  if (text.charCodeAt(at) !== QUOTE) return buildParseError('malformed', at);
  const key = readString(text, at);
  if (key.kind === 'problem') return key;
  parent.key = key;
  const colon = skipJsonSpace(text, key.end);
  return text.charCodeAt(colon) === COLON
    ? skipJsonSpace(text, colon + 1)
    : buildParseError('malformed', colon);
}

function readString(text: string, start: number): StringNode | JsonParseError {
  let hasEscapes = false;
  let patience = start + LONG;
  for (let at = start + 1; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      // A slice without escapes shares the memory of the text. Only a string with escapes is copied.
      const value = hasEscapes ? JSON.parse(text.slice(start, at + 1)) : text.slice(start + 1, at);
      return { kind: 'string', start, end: at + 1, value };
    }
    if (unit < 32) return buildParseError('malformed', at);
    if (at >= patience) {
      patience = text.length;
      const node = readLong(text, start, at);
      if (node !== null) return node;
    }
    if (unit !== BACKSLASH) continue;
    hasEscapes = true;
    at += 1;
    if (text.charCodeAt(at) === LETTER_U) {
      FOUR_HEX.lastIndex = at + 1;
      if (!FOUR_HEX.test(text)) return buildParseError('malformed', at - 1);
      at += 4;
    } else if (at >= text.length || !ESCAPED.includes(text[at]!)) return buildParseError('malformed', at - 1);
  }
  return buildParseError('malformed', text.length);
}

/** From this length on `JSON.parse` is faster, although it copies the value. */
const LONG = 64;

/**
 * Reads a long string with `JSON.parse`. Returns `null` if the string is malformed; the caller then finds the
 * offset.
 */
function readLong(text: string, start: number, from: number): StringNode | null {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 1) continue;
    try {
      return { kind: 'string', start, end: quote + 1, value: JSON.parse(text.slice(start, quote + 1)) };
    } catch {
      return null;
    }
  }
  return null;
}

function readWord(text: string, start: number, unit: number): JsonNode | JsonParseError {
  if (unit === MINUS || (unit >= ZERO && unit <= NINE)) {
    NUMBER.lastIndex = start;
    if (!NUMBER.test(text)) return buildParseError('malformed', start);
    const end = NUMBER.lastIndex;
    return { kind: 'number', start, end, value: Number(text.slice(start, end)) };
  }
  for (const kind of ['true', 'false', 'null'] as const) {
    if (text.startsWith(kind, start)) return { kind, start, end: start + kind.length };
  }
  return buildParseError('malformed', start);
}
