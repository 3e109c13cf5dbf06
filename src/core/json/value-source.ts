import type { Content, Json } from '../types/index.ts';
import type { JsonNode, JsonSource } from '../types/json.ts';
import { scanJson } from './scan-json.ts';
import { findMemberSource, parseJsonSource } from './source.ts';
import { UNLIMITED_WALK, type WalkLimits, walkJson } from './walk.ts';

/**
 * The JSON texts that values were parsed from. A transport stores the text of each value it parses, so that a value
 * that crosses a boundary is judged and changed in that text. A value without a stored text is written with
 * `JSON.stringify`.
 */
const texts = new WeakMap<object, string>();
const sources = new WeakMap<object, JsonSource>();

/**
 * Limits for JSON from a socket or a program whose offsets are read. Larger values exceed the limits of a scan
 * anyway.
 */
export const SOURCE_LIMITS: WalkLimits = { depth_max: 10_000, nodes_max: 1_000_000 };

/** Parses a JSON text and stores it. @throws SyntaxError, whose message contains a part of the text */
export function parseJson(text: string): Json {
  const value = JSON.parse(text) as Json;
  if (isContainer(value)) texts.set(value, text);
  return value;
}

/** Returns the value of a content and stores its source. */
export function getContentValue(content: Content): Json {
  if (content.kind === 'text') return content.text;
  if (content.source !== undefined) rememberSource(content.value, content.source);
  return content.value;
}

/** Stores the source of a value. */
export function rememberSource(value: Json, source: JsonSource): void {
  if (isContainer(value)) sources.set(value, source);
}

/** Parses the text of a value, and stores it as the source. A text beyond the limits is not stored. */
export function rememberText(value: Json, text: string): void {
  const source = parseJsonSource(text, SOURCE_LIMITS);
  if (source !== null) rememberSource(value, source);
}

/** Returns the JSON text of a value, digit for digit; `null` if its source is not known. */
export function findSourceText(value: Json): string | null {
  const source = findValueSource(value, SOURCE_LIMITS);
  return source === null ? null : source.text.slice(source.root.start, source.root.end);
}

/** Returns the text that a value was parsed from; `null` if none was stored. */
export function findParsedText(value: Json): string | null {
  return isContainer(value) ? (texts.get(value) ?? null) : null;
}

/** Returns the source of a value; `null` if none was stored or its text exceeds the limits. */
export function findValueSource(value: Json, limits: WalkLimits): JsonSource | null {
  if (!isContainer(value)) return null;
  const known = sources.get(value);
  if (known !== undefined) return known;
  const text = texts.get(value);
  const source = text === undefined ? null : parseJsonSource(text, limits);
  if (source !== null) sources.set(value, source);
  return source;
}

/**
 * Returns the source of a member of a value; the member may be a scalar. `null` if the source is not known.
 */
export function findValueMemberSource(value: Json, name: string, limits: WalkLimits): JsonSource | null {
  const source = findValueSource(value, limits);
  return source === null ? null : findMemberSource(source, name);
}

/** Stores the sources of the containers in a parsed value, down to `levels`. */
export function rememberNestedSources(value: Json, limits: WalkLimits, levels: number): void {
  const source = findValueSource(value, limits);
  if (source !== null) rememberNode(value, source, levels);
}

function rememberNode(value: Json, { text, root }: JsonSource, levels: number): void {
  if (!isContainer(value)) return;
  rememberSource(value, { text, root });
  if (levels === 0) return;
  for (const [key, child] of Object.entries(value)) {
    const node = findChildNode(root, key);
    if (node !== null) rememberNode(child, { text, root: node }, levels - 1);
  }
}

function findChildNode(node: JsonNode, key: string): JsonNode | null {
  if (node.kind === 'array') return node.items[Number(key)] ?? null;
  return node.kind === 'object'
    ? (node.members.findLast((each) => each.key.value === key)?.value ?? null)
    : null;
}

/** Writes a value as JSON. Parts whose source is known are copied from it, down to `levels`. */
export function writeExactJson(value: unknown, levels = LEVELS): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const source = sources.get(value);
  if (source !== undefined) return source.text.slice(source.root.start, source.root.end);
  if (!hasKnownSource(value, levels)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => writeExactJson(each, levels - 1)).join(',')}]`;
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${members.map(([key, each]) => `${JSON.stringify(key)}:${writeExactJson(each, levels - 1)}`).join(',')}}`;
}

/** The maximum depth of changed content in a response. */
const LEVELS = 4;

/**
 * Returns whether the source of a part is known. Most responses have none, and `JSON.stringify` writes those
 * fastest.
 */
function hasKnownSource(value: object, levels: number): boolean {
  if (levels === 0) return false;
  for (const each of Object.values(value)) {
    if (typeof each !== 'object' || each === null) continue;
    if (sources.has(each) || hasKnownSource(each, levels - 1)) return true;
  }
  return false;
}

/**
 * Returns whether a text has members that its value lacks: of equal names in an object `JSON.parse` keeps only the
 * last.
 */
export function hasHiddenMembers(text: string, value: Json): boolean {
  let hidden = 0;
  scanJson(text, UNLIMITED_WALK, ({ kind }) => {
    if (kind === 'key') hidden += 1;
  });
  walkJson(value, UNLIMITED_WALK, ({ kind }) => {
    if (kind === 'key') hidden -= 1;
  });
  return hidden !== 0;
}

function isContainer(value: Json): value is readonly Json[] | { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null;
}
