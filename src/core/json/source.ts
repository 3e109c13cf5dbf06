import type { Content, Json } from '../types/index.ts';
import type { JsonMember, JsonNode, JsonSource, Splice, StringNode } from '../types/json.ts';
import { parseJsonTree } from './json-tree.ts';
import { getMember } from './nodes.ts';
import { applySplices, quoteJson } from './splice.ts';
import { UNLIMITED_WALK, type WalkLimits } from './walk.ts';

type JsonContent = Extract<Content, { kind: 'json' }>;

/**
 * Returns the content of a JSON text, with the offsets of every value. The content is plain text if the text is not
 * JSON, exceeds the limits, or has duplicate keys in an object, because programs differ in which duplicate they
 * use.
 */
export function parseJsonContent(text: string, limits: WalkLimits): Content {
  const root = parseJsonTree(text, limits);
  if (root.kind === 'problem' || hasDuplicateKeys(root)) return { kind: 'text', text };
  return { kind: 'json', value: JSON.parse(text) as Json, source: { text, root } };
}

/** Returns the content of a value: text for a string, else JSON with its source if that is known. */
export function createContent(value: Json, source: JsonSource | null = null): Content {
  if (typeof value === 'string') return { kind: 'text', text: value };
  return source === null ? { kind: 'json', value } : { kind: 'json', value, source };
}

/** Returns the source of a member; `null` if the object has no such member. */
export function findMemberSource({ text, root }: JsonSource, name: string): JsonSource | null {
  const node = getMember(root, name);
  return node === null ? null : { text, root: node };
}

/** Returns the JSON text of a content. If it has a source, that source is copied digit for digit. */
export function writeContentJson(content: Content): string {
  if (content.kind === 'text') return quoteJson(content.text);
  return content.source === undefined ? JSON.stringify(content.value) : sliceSource(content.source);
}

function sliceSource({ text, root }: JsonSource): string {
  return text.slice(root.start, root.end);
}

/** Returns the source of a content. A value that was never text gets the text that `JSON.stringify` writes. */
export function getContentSource(content: JsonContent): JsonSource {
  if (content.source !== undefined) return content.source;
  const text = writeValue(content.value);
  const root = parseJsonTree(text, UNLIMITED_WALK);
  if (root.kind === 'problem') throw new TypeError('The content is not a JSON value.');
  return { text, root };
}

/**
 * Uses `JSON.stringify`, which is fastest but recursive. A value that nests too deeply for it is written
 * iteratively.
 */
function writeValue(value: Json): string {
  try {
    return JSON.stringify(value);
  } catch {
    return writeDeepValue(value);
  }
}

function writeDeepValue(root: Json): string {
  const parts: string[] = [];
  const ahead: (Json | { readonly [PUNCTUATION]: string })[] = [root];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    if (typeof next !== 'object' || next === null) parts.push(JSON.stringify(next));
    else if (PUNCTUATION in next) parts.push(next[PUNCTUATION] as string);
    else {
      const isList = Array.isArray(next);
      const members = Object.entries(next as object) as [string, Json][];
      ahead.push({ [PUNCTUATION]: isList ? ']' : '}' });
      for (let at = members.length - 1; at >= 0; at--) {
        const [key, value] = members[at]!;
        const comma = at === 0 ? '' : ',';
        ahead.push(value, { [PUNCTUATION]: isList ? comma : `${comma}${quoteJson(key)}:` });
      }
      parts.push(isList ? '[' : '{');
    }
  }
  return parts.join('');
}

const PUNCTUATION = Symbol('text of the document itself');

/** Returns the content with other text in place of some parts. Every byte between them is copied. */
export function spliceSource({ text, root }: JsonSource, splices: readonly Splice[]): JsonContent {
  const moved = splices.map((each) => ({
    start: each.start - root.start,
    end: each.end - root.start,
    text: each.text,
  }));
  const changed = applySplices(sliceSource({ text, root }), moved);
  const node = parseJsonTree(changed, UNLIMITED_WALK);
  if (node.kind === 'problem') throw new TypeError('The splices do not leave a JSON text.');
  return { kind: 'json', value: JSON.parse(changed) as Json, source: { text: changed, root: node } };
}

/** Returns whether any object has two members with the same name. */
export function hasDuplicateKeys(root: JsonNode): boolean {
  const ahead: JsonNode[] = [root];
  for (let node = ahead.pop(); node !== undefined; node = ahead.pop()) {
    if (node.kind === 'array') for (const item of node.items) pushContainer(ahead, item);
    if (node.kind !== 'object') continue;
    const { members } = node;
    if (members.length > 1 && new Set(members.map(({ key }) => key.value)).size < members.length) return true;
    for (const { value } of members) pushContainer(ahead, value);
  }
  return false;
}

function pushContainer(ahead: JsonNode[], node: JsonNode): void {
  if (node.kind === 'object' || node.kind === 'array') ahead.push(node);
}

/** Names of an object that a masked key must not take. */
interface KeyNames {
  readonly taken: Set<string>;
  readonly counts: Map<string, number>;
}

/**
 * Returns the splices that replace the texts of some leaves, by leaf number (see `walkJson`). A replaced number
 * becomes a string. A replaced key that its object already has gets a suffix: `_2`, `_3` and so on.
 */
export function buildLeafSplices(root: JsonNode, texts: ReadonlyMap<number, string>): readonly Splice[] {
  const splices: Splice[] = [];
  let leaf = 0;
  visitLeaves(root, (node, names) => {
    const text = texts.get(leaf++);
    if (text === undefined) return;
    if (names === null) splices.push(replaceNode(node, text));
    else if (text !== node.value) splices.push(replaceNode(node, chooseFreeName(text, names())));
  });
  return splices;
}

/**
 * Returns the numbers of the leaves that the splices do not remove. The first entry is the old number of the leaf
 * that is number 0 after the splices.
 */
export function listKeptLeaves(root: JsonNode, splices: readonly Splice[]): readonly number[] {
  const kept: number[] = [];
  const sorted = splices.toSorted((one, other) => one.start - other.start);
  let leaf = 0;
  let at = 0;
  visitLeaves(root, ({ start }) => {
    while (at < sorted.length && sorted[at]!.end <= start) at += 1;
    const splice = sorted[at];
    if (splice === undefined || start < splice.start) kept.push(leaf);
    leaf += 1;
  });
  return kept;
}

type LeafNode = Extract<JsonNode, { kind: 'string' | 'number' }>;

/**
 * Visits keys, strings and numbers in document order. A key comes with the names that its object already has.
 */
function visitLeaves(root: JsonNode, visit: (node: LeafNode, names: (() => KeyNames) | null) => void): void {
  const ahead: (JsonNode | { readonly key: StringNode; readonly names: () => KeyNames })[] = [root];
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    if ('key' in next) visit(next.key, next.names);
    else if (next.kind === 'string' || next.kind === 'number') visit(next, null);
    else if (next.kind === 'array') {
      for (let at = next.items.length - 1; at >= 0; at--) ahead.push(next.items[at]!);
    } else if (next.kind === 'object') {
      const { members } = next;
      const names = collectKeyNames(members);
      for (let at = members.length - 1; at >= 0; at--)
        ahead.push(members[at]!.value, { key: members[at]!.key, names });
    }
  }
}

function collectKeyNames(members: readonly JsonMember[]): () => KeyNames {
  let names: KeyNames | null = null;
  return () => {
    names ??= { taken: new Set(members.map(({ key }) => key.value)), counts: new Map() };
    return names;
  };
}

function replaceNode({ start, end }: JsonNode, text: string): Splice {
  return { start, end, text: quoteJson(text) };
}

/**
 * Returns a name that is not taken. Counting continues where it stopped for the same name, so that many collisions
 * cost linear time.
 */
function chooseFreeName(name: string, { taken, counts }: KeyNames): string {
  let free = name;
  let count = counts.get(name) ?? 1;
  while (taken.has(free)) {
    count += 1;
    free = `${name}_${count}`;
  }
  counts.set(name, count);
  taken.add(free);
  return free;
}

/** Parses JSON text within limits; returns `null` if it is malformed or exceeds them. */
export function parseJsonSource(text: string, limits: WalkLimits): JsonSource | null {
  const root = parseJsonTree(text, limits);
  return root.kind === 'problem' ? null : { text, root };
}
