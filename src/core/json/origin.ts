import type { Content, Json } from '../types/index.ts';
import type { JsonNode, JsonSource } from '../types/json.ts';
import { UNLIMITED, type WalkLimits, walk } from './payload.ts';
import { readJson } from './scan-json.ts';
import { readSource, sourceOfMember } from './source.ts';

/**
 * Where values were read from. A transport remembers the text of what it parsed, so that a value that crosses is judged
 * and changed in that text. A value that nobody remembers is as `JSON.stringify` writes it.
 */
const texts = new WeakMap<object, string>();
const sources = new WeakMap<object, JsonSource>();

/** Up to here places are read of what comes over a socket or from a program; what is larger is over a scan's limits. */
export const PLACES_MAX: WalkLimits = { depth_max: 10_000, nodes_max: 1_000_000 };

/** Parses a JSON text and remembers it. @throws SyntaxError, whose message holds a piece of the text */
export function parseJson(text: string): Json {
  const value = JSON.parse(text) as Json;
  if (isContainer(value)) texts.set(value, text);
  return value;
}

/** Returns the value of a content, and remembers its source. */
export function contentValue(content: Content): Json {
  if (content.kind === 'text') return content.text;
  if (content.source !== undefined) rememberSource(content.value, content.source);
  return content.value;
}

/** Remembers that a value is the one of a source. */
export function rememberSource(value: Json, source: JsonSource): void {
  if (isContainer(value)) sources.set(value, source);
}

/** Returns the text that a value was parsed from; `null` if nobody remembers it. */
export function textOf(value: Json): string | null {
  return isContainer(value) ? (texts.get(value) ?? null) : null;
}

/** Returns the source of a value; `null` if nobody remembers it, or if its text is over the limits. */
export function sourceOfValue(value: Json, limits: WalkLimits): JsonSource | null {
  if (!isContainer(value)) return null;
  const known = sources.get(value);
  if (known !== undefined) return known;
  const text = texts.get(value);
  const source = text === undefined ? null : readSource(text, limits);
  if (source !== null) sources.set(value, source);
  return source;
}

/** Returns the source of a member of a value, which may be a scalar; `null` if it is not known. */
export function sourceOfMemberOf(value: Json, name: string, limits: WalkLimits): JsonSource | null {
  const source = sourceOfValue(value, limits);
  return source === null ? null : sourceOfMember(source, name);
}

/** Remembers the sources of the containers in a value that was parsed from a text, a few levels deep. */
export function rememberWithin(value: Json, limits: WalkLimits, levels: number): void {
  const source = sourceOfValue(value, limits);
  if (source !== null) rememberNode(value, source, levels);
}

function rememberNode(value: Json, { text, root }: JsonSource, levels: number): void {
  if (!isContainer(value)) return;
  rememberSource(value, { text, root });
  if (levels === 0) return;
  for (const [key, child] of Object.entries(value)) {
    const node = childNode(root, key);
    if (node !== null) rememberNode(child, { text, root: node }, levels - 1);
  }
}

function childNode(node: JsonNode, key: string): JsonNode | null {
  if (node.kind === 'array') return node.items[Number(key)] ?? null;
  return node.kind === 'object'
    ? (node.members.findLast((each) => each.key.value === key)?.value ?? null)
    : null;
}

/** Writes a value as JSON; parts whose source is known are written as they stand there, a few levels deep. */
export function exactJson(value: unknown, levels = LEVELS): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const source = sources.get(value);
  if (source !== undefined) return source.text.slice(source.root.start, source.root.end);
  if (!holdsKnown(value, levels)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => exactJson(each, levels - 1)).join(',')}]`;
  const members = Object.entries(value).filter(([, each]) => each !== undefined);
  return `{${members.map(([key, each]) => `${JSON.stringify(key)}:${exactJson(each, levels - 1)}`).join(',')}}`;
}

/** How deep in an answer changed content may be. */
const LEVELS = 4;

/** Whether the source of a part is known. Most answers have none, and the engine writes those fastest. */
function holdsKnown(value: object, levels: number): boolean {
  if (levels === 0) return false;
  for (const each of Object.values(value)) {
    if (typeof each !== 'object' || each === null) continue;
    if (sources.has(each) || holdsKnown(each, levels - 1)) return true;
  }
  return false;
}

/** Whether a text has members that its value has not: of equal names in an object only the last is there. */
export function hasHiddenMembers(text: string, value: Json): boolean {
  let hidden = 0;
  readJson(text, UNLIMITED, ({ kind }) => {
    if (kind === 'key') hidden += 1;
  });
  walk(value, UNLIMITED, ({ kind }) => {
    if (kind === 'key') hidden -= 1;
  });
  return hidden !== 0;
}

function isContainer(value: Json): value is readonly Json[] | { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null;
}
