import type { Content, Finding, Json } from './types.ts';

/** Limits of a walk; the rest of `ScanLimits` concerns the text. */
export interface WalkLimits {
  readonly depth_max: number;
  readonly nodes_max: number;
}

/** For what was held to its limits before. */
export const UNLIMITED: WalkLimits = {
  depth_max: Number.POSITIVE_INFINITY,
  nodes_max: Number.POSITIVE_INFINITY,
};

/**
 * One piece of text in a JSON value: a key, a string, or a number as JSON writes it. A walk has one such record
 * and fills it anew for every visit: take out of it what is to last.
 */
export interface Leaf {
  kind: 'key' | 'string' | 'number';
  text: string;
  /** Counted in document order from 0, a key before its value. `Finding.leaf` is this number. */
  index: number;
  /** Whether it is the value of the key visited just before. */
  is_member: boolean;
  /** The leaf's path, `$.user.email`, `$['odd key'][0]`; a key has the path of its member. Worked out on call. */
  readonly path: () => string;
  /** The containers around it, the outermost first: those that are open, so that the list changes with the walk. */
  readonly frames: readonly Frame[];
  /** Writes `['*']` for this key in paths from now on: a key in which something was found is no place name. */
  readonly hide: () => void;
}

/** Why a walk ended early, or `null` when all was seen. */
export type WalkEnd = null | { readonly limit: 'depth_max' | 'nodes_max'; readonly reason: string };

/**
 * Visits every leaf of a JSON value in document order. Never recursive, so that no nesting can exhaust the
 * stack; past a limit it stops and says which. The value itself counts as one node, each key and each
 * element as one more; a container in a container is one deeper than that one, the outermost at depth 1.
 */
export function walk(value: Json, limits: WalkLimits, visit: (leaf: Readonly<Leaf>) => void): WalkEnd {
  const open: Frame[] = [];
  const path = (): string => pathOf(open);
  const hide = (): void => hideKey(open);
  const leaf: Leaf = { kind: 'key', text: '', index: -1, is_member: false, path, hide, frames: open };
  let nodes = 1;
  const give = (kind: Leaf['kind'], text: string): void => {
    leaf.kind = kind;
    leaf.text = text;
    leaf.index += 1;
    leaf.is_member = kind !== 'key' && open.length > 0 && open[open.length - 1]!.keys !== null;
    visit(leaf);
  };
  /** Visits a scalar or opens a container; returns whether the depth allows it. */
  const enter = (entered: Json): boolean => {
    if (typeof entered === 'string') give('string', entered);
    else if (typeof entered === 'number') give('number', String(entered));
    else if (typeof entered === 'object' && entered !== null) {
      if (open.length >= limits.depth_max) return false;
      open.push(frameOf(entered));
    }
    return true;
  };
  if (!enter(value)) return depthEnd(limits);
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    frame.at += 1;
    frame.is_hidden = false;
    if (frame.at >= frame.length) {
      open.pop();
      continue;
    }
    nodes += frame.keys === null ? 1 : 2;
    if (nodes > limits.nodes_max) return nodesEnd(limits);
    if (frame.keys !== null) give('key', frame.keys[frame.at]!);
    if (!enter(childOf(frame))) return depthEnd(limits);
  }
  return null;
}

/** The text of each leaf that a finding lies in, by leaf number. Text content is leaf 0. */
export function leafTexts(content: Content, findings: readonly Finding[]): ReadonlyMap<number, string> {
  const texts = new Map<number, string>();
  if (findings.length === 0) return texts;
  if (content.kind === 'text') return texts.set(0, content.text);
  const wanted = new Set(findings.map(({ leaf }) => leaf));
  walk(content.value, UNLIMITED, ({ index, text }) => {
    if (wanted.has(index)) texts.set(index, text);
  });
  return texts;
}

/**
 * The same value with the texts of some leaves replaced, by leaf number. A replaced number becomes a string;
 * a replaced key that is taken already in its object gets `_2`, `_3` ... behind it. Nothing else changes, and
 * parts without a replacement are the same objects as before.
 */
export function replaceLeaves(value: Json, texts: ReadonlyMap<number, string>): Json {
  if (texts.size === 0) return value;
  const open: Building[] = [];
  let index = 0;
  let result: Json = value;
  const give = (made: Json): void => {
    const parent = open.at(-1);
    if (parent === undefined) result = made;
    else keep(parent, made);
  };
  const enter = (entered: Json): void => {
    if (typeof entered === 'object' && entered !== null) {
      open.push({ ...frameOf(entered), source: entered, made_keys: [], made: [], is_changed: false });
      return;
    }
    const is_leaf = typeof entered === 'string' || typeof entered === 'number';
    give(is_leaf ? (texts.get(index++) ?? entered) : entered);
  };
  enter(value);
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    frame.at += 1;
    if (frame.at >= frame.length) {
      open.pop();
      give(frame.is_changed ? build(frame) : frame.source);
      continue;
    }
    if (frame.keys !== null) frame.made_keys.push(texts.get(index++) ?? frame.keys[frame.at]!);
    enter(childOf(frame));
  }
  return result;
}

/** A longer key is cut in paths. */
const KEY_UNITS_MAX = 100;
/** Behind this many units a path is cut: thousands of findings can lie at the end of one long path. */
const PATH_UNITS_MAX = 500;

/** A container that a walk is in, and the place in it. */
export interface Frame {
  readonly container: readonly Json[] | { readonly [key: string]: Json };
  /** `null` for an array. */
  readonly keys: readonly string[] | null;
  readonly length: number;
  at: number;
  /** Whether the current key must not stand in a path. */
  is_hidden: boolean;
}

interface Building extends Frame {
  readonly source: Json;
  readonly made_keys: string[];
  readonly made: Json[];
  is_changed: boolean;
}

function frameOf(container: readonly Json[] | { readonly [key: string]: Json }): Frame {
  if (Array.isArray(container))
    return { container, keys: null, length: container.length, at: -1, is_hidden: false };
  const keys = Object.keys(container);
  return { container, keys, length: keys.length, at: -1, is_hidden: false };
}

function childOf({ container, keys, at }: Frame): Json {
  if (keys === null) return (container as readonly Json[])[at]!;
  return (container as { readonly [key: string]: Json })[keys[at]!]!;
}

function keep(parent: Building, made: Json): void {
  parent.made.push(made);
  const is_renamed = parent.keys !== null && parent.made_keys.at(-1) !== parent.keys[parent.at];
  if (is_renamed || made !== childOf(parent)) parent.is_changed = true;
}

/** `fromEntries` defines members, so that a key `__proto__` stays a member. */
function build({ keys, made_keys, made }: Building): Json {
  if (keys === null) return made;
  const taken = new Set(keys);
  const counts = new Map<string, number>();
  const names = made_keys.map((name, at) => {
    if (name === keys[at]) return name;
    const free = freeName(name, taken, counts);
    taken.add(free);
    return free;
  });
  return Object.fromEntries(names.map((name, at) => [name, made[at]!]));
}

/** Goes on counting where it stopped for the same name, so that many collisions stay linear. */
function freeName(name: string, taken: ReadonlySet<string>, counts: Map<string, number>): string {
  let free = name;
  let count = counts.get(name) ?? 1;
  while (taken.has(free)) {
    count += 1;
    free = `${name}_${count}`;
  }
  counts.set(name, count);
  return free;
}

function pathOf(open: readonly Frame[]): string {
  let path = '$';
  for (const { keys, at, is_hidden } of open) {
    if (path.length > PATH_UNITS_MAX) return `${path}...`;
    if (keys === null) path += `[${at}]`;
    else path += is_hidden ? "['*']" : memberPath(keys[at]!);
  }
  return path;
}

function hideKey(open: readonly Frame[]): void {
  const frame = open.at(-1);
  if (frame !== undefined) frame.is_hidden = true;
}

function memberPath(key: string): string {
  if (key.length <= KEY_UNITS_MAX && /^[A-Za-z_$][\w$]*$/.test(key)) return `.${key}`;
  const shown = key.length > KEY_UNITS_MAX ? `${key.slice(0, KEY_UNITS_MAX)}...` : key;
  return `['${shown.replace(/[\\']/g, '\\$&')}']`;
}

function depthEnd({ depth_max }: WalkLimits): WalkEnd {
  return { limit: 'depth_max', reason: `The payload is nested deeper than scan.depth_max (${depth_max}).` };
}

function nodesEnd({ nodes_max }: WalkLimits): WalkEnd {
  return { limit: 'nodes_max', reason: `The payload has more parts than scan.nodes_max (${nodes_max}).` };
}
