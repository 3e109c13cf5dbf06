import { writeOutDecimal } from '../text/plain-decimal.ts';
import type { Content, Finding, Json } from '../types/index.ts';
import type { JsonNode, JsonSource } from '../types/json.ts';

/** Limits of a walk. The other limits of `ScanLimits` concern the text. */
export interface WalkLimits {
  readonly depth_max: number;
  readonly nodes_max: number;
}

/** Limits for values that were checked against their limits before. */
export const UNLIMITED_WALK: WalkLimits = {
  depth_max: Number.POSITIVE_INFINITY,
  nodes_max: Number.POSITIVE_INFINITY,
};

/**
 * One piece of text in a JSON value: a key, a string, or a number as JSON writes it. A walk has one such record and
 * overwrites it on each visit, so a visitor must copy the fields that it keeps.
 */
export interface JsonLeaf {
  kind: 'key' | 'string' | 'number';
  text: string;
  /** Counted in document order from 0, a key before its value. `Finding.leaf` is this number. */
  index: number;
  /** `true` if this leaf is the value of the key that was visited just before. */
  is_member: boolean;
  /** Returns the path of the leaf: `$.user.email`, `$['odd key'][0]`. A key has the path of its member. */
  readonly path: () => string;
  /**
   * The containers around the leaf, outermost first. This is the live stack of the walk, so it changes with each
   * visit.
   */
  readonly frames: readonly WalkFrame[];
  /**
   * Makes later paths show `['*']` for this key, because a key that contains a finding must not appear in a path.
   */
  readonly hide: () => void;
}

/** The reason a walk ended early; `null` if it visited everything. */
export type WalkStop = null | { readonly limit: 'depth_max' | 'nodes_max'; readonly reason: string };

/**
 * Visits every leaf of a JSON value in document order. It does not recurse, so deep nesting cannot exhaust the
 * stack. Past a limit it stops and returns which one. The root counts as one node, and each key and each element as
 * one more. The outermost container has depth 1.
 */
export function walkJson(
  value: Json,
  limits: WalkLimits,
  visit: (leaf: Readonly<JsonLeaf>) => void,
): WalkStop {
  return walkTree(value, VALUES, limits, visit);
}

/**
 * Walks a content like `walkJson`. If it has a source, the walk follows the source text, so numbers have the digits
 * that are sent on and all of several equal keys are visited.
 */
export function walkContent(
  { value, source }: Extract<Content, { kind: 'json' }>,
  limits: WalkLimits,
  visit: (leaf: Readonly<JsonLeaf>) => void,
): WalkStop {
  return source === undefined
    ? walkJson(value, limits, visit)
    : walkTree(source.root, buildNodeTree(source), limits, visit);
}

/** Functions that read the values of a JSON tree, which are either plain values or nodes of a source. */
interface Tree<Value> {
  readonly kindOf: (value: Value) => 'string' | 'number' | 'container' | 'word';
  readonly textOf: (value: Value) => string;
  readonly frameOf: (container: Value) => WalkFrame<Value>;
  readonly childOf: (frame: WalkFrame<Value>) => Value;
}

function walkTree<Value>(
  root: Value,
  { kindOf, textOf, frameOf, childOf }: Tree<Value>,
  limits: WalkLimits,
  visit: (leaf: Readonly<JsonLeaf>) => void,
): WalkStop {
  const open: WalkFrame<Value>[] = [];
  const path = (): string => formatPath(open);
  const hide = (): void => hideKey(open);
  const leaf: JsonLeaf = { kind: 'key', text: '', index: -1, is_member: false, path, hide, frames: open };
  let nodes = 1;
  const give = (kind: JsonLeaf['kind'], text: string): void => {
    leaf.kind = kind;
    leaf.text = text;
    leaf.index += 1;
    leaf.is_member = kind !== 'key' && open.length > 0 && open[open.length - 1]!.keys !== null;
    visit(leaf);
  };
  /** Visits a scalar or opens a container; returns whether the depth limit allows it. */
  const enter = (entered: Value): boolean => {
    const kind = kindOf(entered);
    if (kind === 'string' || kind === 'number') give(kind, textOf(entered));
    else if (kind === 'container') {
      if (open.length >= limits.depth_max) return false;
      open.push(frameOf(entered));
    }
    return true;
  };
  if (!enter(root)) return stopAtDepth(limits);
  for (let frame = open.at(-1); frame !== undefined; frame = open.at(-1)) {
    frame.index += 1;
    frame.is_hidden = false;
    if (frame.index >= frame.length) {
      open.pop();
      continue;
    }
    nodes += frame.keys === null ? 1 : 2;
    if (nodes > limits.nodes_max) return stopAtNodes(limits);
    if (frame.keys !== null) give('key', frame.keys[frame.index]!);
    if (!enter(childOf(frame))) return stopAtDepth(limits);
  }
  return null;
}

/** Returns the text of each leaf that contains a finding, by leaf number. Text content is leaf 0. */
export function collectLeafTexts(
  content: Content,
  findings: readonly Finding[],
): ReadonlyMap<number, string> {
  const texts = new Map<number, string>();
  if (findings.length === 0) return texts;
  if (content.kind === 'text') return texts.set(0, content.text);
  const wanted = new Set(findings.map(({ leaf }) => leaf));
  walkContent(content, UNLIMITED_WALK, ({ index, text }) => {
    if (wanted.has(index)) texts.set(index, text);
  });
  return texts;
}

/** A longer key is truncated in paths, in UTF-16 units. */
const KEY_UNITS_MAX = 100;
/**
 * A path is truncated after this many units, because thousands of findings can lie at the end of one long path.
 */
const PATH_UNITS_MAX = 500;

/** A container that a walk is in, and the current position in it. */
export interface WalkFrame<Value = unknown> {
  readonly container: Value | readonly Value[];
  /** `null` for an array. */
  readonly keys: readonly string[] | null;
  readonly length: number;
  index: number;
  /** `true` if the current key must not appear in a path. */
  is_hidden: boolean;
}

const VALUES: Tree<Json> = {
  kindOf: (value) => {
    if (typeof value === 'string') return 'string';
    if (typeof value === 'number') return 'number';
    return typeof value === 'object' && value !== null ? 'container' : 'word';
  },
  textOf: String,
  frameOf: (container) => {
    if (Array.isArray(container))
      return { container, keys: null, length: container.length, index: -1, is_hidden: false };
    const keys = Object.keys(container as object);
    return { container, keys, length: keys.length, index: -1, is_hidden: false };
  },
  childOf: ({ container, keys, index }) => {
    if (keys === null) return (container as readonly Json[])[index]!;
    return (container as { readonly [key: string]: Json })[keys[index]!]!;
  },
};

function buildNodeTree({ text }: JsonSource): Tree<JsonNode> {
  return {
    kindOf: ({ kind }) => {
      if (kind === 'string' || kind === 'number') return kind;
      return kind === 'object' || kind === 'array' ? 'container' : 'word';
    },
    textOf: (node) => (node.kind === 'string' ? node.value : formatNumber(text.slice(node.start, node.end))),
    frameOf: (node) => {
      if (node.kind !== 'object') {
        const { items } = node as Extract<JsonNode, { kind: 'array' }>;
        return { container: items, keys: null, length: items.length, index: -1, is_hidden: false };
      }
      const keys = node.members.map(({ key }) => key.value);
      const container = node.members.map(({ value }) => value);
      return { container, keys, length: keys.length, index: -1, is_hidden: false };
    },
    childOf: ({ container, index }) => (container as readonly JsonNode[])[index]!,
  };
}

/**
 * Returns a number as a program prints it that keeps all digits: `4.1e3` becomes `4100`, and `1234567890123456789`
 * stays. A number that would need more than `DECIMAL_DIGITS_MAX` digits is written as JSON writes the double.
 */
function formatNumber(written: string): string {
  if (/^-?\d+$/.test(written)) return written;
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER.exec(written)!;
  const plain = writeOutDecimal(whole!, fraction, Number(exponent));
  return plain === null ? String(Number(written)) : `${sign}${plain}`;
}

const NUMBER = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

function formatPath(open: readonly WalkFrame<unknown>[]): string {
  let path = '$';
  for (const { keys, index, is_hidden } of open) {
    if (path.length > PATH_UNITS_MAX) return `${path}...`;
    if (keys === null) path += `[${index}]`;
    else path += is_hidden ? "['*']" : formatMemberStep(keys[index]!);
  }
  return path;
}

function hideKey(open: readonly WalkFrame<unknown>[]): void {
  const frame = open.at(-1);
  if (frame !== undefined) frame.is_hidden = true;
}

function formatMemberStep(key: string): string {
  if (key.length <= KEY_UNITS_MAX && /^[A-Za-z_$][\w$]*$/.test(key)) return `.${key}`;
  const shown = key.length > KEY_UNITS_MAX ? `${key.slice(0, KEY_UNITS_MAX)}...` : key;
  return `['${shown.replace(/[\\']/g, '\\$&')}']`;
}

function stopAtDepth({ depth_max }: WalkLimits): WalkStop {
  return { limit: 'depth_max', reason: `The payload is nested deeper than scan.depth_max (${depth_max}).` };
}

function stopAtNodes({ nodes_max }: WalkLimits): WalkStop {
  return { limit: 'nodes_max', reason: `The payload has more parts than scan.nodes_max (${nodes_max}).` };
}
