import type { AnchorTree } from './anchor-tree.ts';
import type { UnitSet } from './anchors.ts';
import { createTrie, type Trie } from './trie.ts';
import type { UnitClasses } from './unit-classes.ts';

/** Anchor notations in lists: one list per detector, then the others. */
export type AnchorNotations = readonly (readonly string[])[];

/** The anchors of a set of detectors, in the form that a walk uses. */
export interface AnchorSet {
  /** Per list of notations, its number of anchors. */
  readonly counts: Int32Array;
  /** Per anchor, its units without the lookbehind. */
  readonly lengths: Int32Array;
  readonly trie: Trie;
  /** The whole tree, for anchors that are added to it. */
  readonly tree: () => AnchorTree;
}

/**
 * A tree as text, generated for the notations that its hash identifies. Most of it is read in place: numbers of one
 * width, in order, of which a walk reads the ones it needs.
 */
export interface SerializedAnchorTree {
  readonly hash: string;
  readonly class_count: number;
  readonly wide_count: number;
  readonly node_count: number;
  readonly set_count: number;
  readonly anchor_count: number;
  /** The depth of the deepest node, in units. */
  readonly depth: number;
  /** Per list of notations, its number of anchors: one for each length. */
  readonly counts: string;
  /** Spans of units: the class, and its number of units. */
  readonly spans: string;
  /** Distances in the table of sets and classes between entries where a set contains a class. */
  readonly holds: string;
  /** The units that each set contains, as ranges. */
  readonly sets: string;
  /** Per node, the set on the edge to it, whether the next node is not its child, and whether anchors end there. */
  readonly nodes: string;
  /** Nodes that are not children of the node before them: their parents, and they, in the order of both. */
  readonly branch_from: string;
  readonly branch_to: string;
  /** The end node of each anchor, and its number, in the order of both. */
  readonly end_nodes: string;
  readonly end_anchors: string;
  /** Per anchor, its units without the lookbehind. */
  readonly lengths: string;
}

/** A tree that was built, or generated and read. */
export interface CompiledAnchorTree {
  readonly counts: readonly number[];
  readonly classes: UnitClasses;
  readonly tree: AnchorTree;
}

/** Serializes a tree. The same notations give the same text. Throws if a number is too large for its digits. */
export function serializeAnchorTree(
  notations: AnchorNotations,
  { counts, classes, tree }: CompiledAnchorTree,
): SerializedAnchorTree {
  const { sets, parents, ends, lengths, depth } = tree;
  const branches = sortPairs(parents, (parent, node) =>
    node > 0 && parent !== node - 1 ? [[parent, node]] : [],
  );
  const endings = sortPairs(ends, (end, anchor) => [[end, anchor]]);
  return {
    hash: hashNotations(notations),
    class_count: classes.class_count,
    wide_count: classes.wide_count,
    node_count: parents.length,
    set_count: sets.length,
    anchor_count: ends.length,
    depth,
    counts: toText(counts, COUNT_DIGITS),
    spans: toText(getSpans(classes.classes), DIGITS_PER_NUMBER),
    holds: toText(getSteps(classes.holds), STEP_DIGITS),
    sets: toText(
      sets.flatMap((set) => [set.length, ...set.flat()]),
      DIGITS_PER_NUMBER,
    ),
    nodes: toText(getNodes(tree), NODE_DIGITS),
    branch_from: toText(
      branches.map(([from]) => from),
      DIGITS_PER_NUMBER,
    ),
    branch_to: toText(
      branches.map(([, to]) => to),
      DIGITS_PER_NUMBER,
    ),
    end_nodes: toText(
      endings.map(([node]) => node),
      DIGITS_PER_NUMBER,
    ),
    end_anchors: toText(
      endings.map(([, anchor]) => anchor),
      DIGITS_PER_NUMBER,
    ),
    lengths: toText([...lengths], 1),
  };
}

type Pair = readonly [number, number];

function sortPairs(
  list: Int32Array,
  pairsOf: (value: number, index: number) => readonly Pair[],
): readonly Pair[] {
  return [...list].flatMap(pairsOf).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

function getSpans(classes: Uint16Array): readonly number[] {
  const spans: number[] = [];
  for (let from = 0, to = 0; from < classes.length; from = to) {
    while (classes[to] === classes[from]) to += 1;
    spans.push(classes[from]!, to - from);
  }
  return spans;
}

function getSteps(holds: Uint8Array): readonly number[] {
  const places = [...holds.keys()].filter((place) => holds[place] === 1);
  return places.map((place, at) => place - (places[at - 1] ?? 0));
}

function getNodes({ parents, node_sets, ends, sets }: AnchorTree): readonly number[] {
  if (sets.length > NODE_SET) throw new Error(`there are more than ${NODE_SET} sets of units`);
  const ending = new Set(ends);
  return [...node_sets].map(
    (set, node) =>
      set + (parents[node + 1] === node ? 0 : NODE_IS_LAST) + (ending.has(node) ? NODE_HAS_ENDS : 0),
  );
}

/** Returns whether a tree was generated for these notations. */
export function isSerializedFrom(notations: AnchorNotations, { hash }: SerializedAnchorTree): boolean {
  return hash === hashNotations(notations);
}

/** Returns the anchors of a tree, which are read on demand. */
export function readAnchorSet(written: SerializedAnchorTree): AnchorSet {
  const lengths = new Int32Array(written.anchor_count);
  const nodeAt = (node: number): number => decodeNumber(written.nodes, NODE_DIGITS, node);
  return {
    counts: Int32Array.from(toNumbers(written.counts, COUNT_DIGITS)),
    lengths,
    trie: createTrie(readClasses(written), written, {
      childrenAt: (node) => {
        const others = findPairedNumbers(written.branch_from, written.branch_to, node);
        return (nodeAt(node) & NODE_IS_LAST) === 0 ? [node + 1, ...others] : others;
      },
      anchorsAt: (node) => {
        if ((nodeAt(node) & NODE_HAS_ENDS) === 0) return NONE;
        const anchors = findPairedNumbers(written.end_nodes, written.end_anchors, node);
        // The length of an anchor is needed only after it was seen to end somewhere.
        for (const anchor of anchors) lengths[anchor] = decodeNumber(written.lengths, 1, anchor);
        return anchors;
      },
      setAt: (node) => nodeAt(node) & (NODE_SET - 1),
    }),
    tree: () => parseAnchorTree(written).tree,
  };
}

const NONE: readonly number[] = [];

function readClasses({
  spans,
  holds,
  set_count,
  class_count,
  wide_count,
}: SerializedAnchorTree): UnitClasses {
  const classes = new Uint16Array(UNITS);
  const numbers = toNumbers(spans, DIGITS_PER_NUMBER);
  for (let at = 0, from = 0; at < numbers.length; at += 2) {
    const to = from + numbers[at + 1]!;
    classes.fill(numbers[at]!, from, to);
    from = to;
  }
  const held = new Uint8Array(set_count * class_count);
  for (let at = 0, place = 0; at < holds.length / STEP_DIGITS; at++) {
    place += decodeNumber(holds, STEP_DIGITS, at);
    held[place] = 1;
  }
  return { classes, class_count, wide_count, holds: held };
}

const UNITS = 0x10000;

/** Returns the numbers in `values` at the indices at which the sorted `keys` contain a key. */
function findPairedNumbers(keys: string, values: string, key: number): readonly number[] {
  const count = keys.length / DIGITS_PER_NUMBER;
  let low = 0;
  for (let high = count; low < high; ) {
    const middle = (low + high) >> 1;
    if (decodeNumber(keys, DIGITS_PER_NUMBER, middle) < key) low = middle + 1;
    else high = middle;
  }
  const found: number[] = [];
  for (; low < count && decodeNumber(keys, DIGITS_PER_NUMBER, low) === key; low++)
    found.push(decodeNumber(values, DIGITS_PER_NUMBER, low));
  return found;
}

/** Reads the whole tree. */
export function parseAnchorTree(written: SerializedAnchorTree): CompiledAnchorTree {
  const { node_count, anchor_count, depth } = written;
  const parents = Int32Array.from({ length: node_count }, (_, node) => Math.max(0, node - 1));
  const from = toNumbers(written.branch_from, DIGITS_PER_NUMBER);
  toNumbers(written.branch_to, DIGITS_PER_NUMBER).forEach((to, at) => {
    parents[to] = from[at]!;
  });
  const ends = new Int32Array(anchor_count);
  const endNodes = toNumbers(written.end_nodes, DIGITS_PER_NUMBER);
  toNumbers(written.end_anchors, DIGITS_PER_NUMBER).forEach((anchor, at) => {
    ends[anchor] = endNodes[at]!;
  });
  const nodes = toNumbers(written.nodes, NODE_DIGITS);
  const tree: AnchorTree = {
    sets: readSets(toNumbers(written.sets, DIGITS_PER_NUMBER)),
    parents,
    node_sets: Int32Array.from(nodes, (node) => node & (NODE_SET - 1)),
    ends,
    lengths: Int32Array.from(toNumbers(written.lengths, 1)),
    depth,
  };
  return {
    counts: toNumbers(written.counts, COUNT_DIGITS),
    classes: readClasses(written),
    tree,
  };
}

function readSets(numbers: readonly number[]): readonly UnitSet[] {
  const sets: UnitSet[] = [];
  for (let at = 0; at < numbers.length; ) {
    const end = at + 1 + 2 * numbers[at]!;
    const set: [number, number][] = [];
    for (at += 1; at < end; at += 2) set.push([numbers[at]!, numbers[at + 1]!]);
    sets.push(set);
  }
  return sets;
}

/** Each digit is six bits of a number, the lowest first. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const BITS = 6;
const DIGITS_PER_NUMBER = 3;
const COUNT_DIGITS = 3;
const STEP_DIGITS = 2;
/** A node is the number of a set, and two flags. */
const NODE_DIGITS = 2;
const NODE_SET = 1 << 10;
const NODE_IS_LAST = 1 << 10;
const NODE_HAS_ENDS = 1 << 11;

const values = new Uint8Array(128);
for (let value = 0; value < DIGITS.length; value++) values[DIGITS.charCodeAt(value)] = value;

function toText(numbers: readonly number[], digits: number): string {
  return numbers.map((number) => getDigits(number, digits)).join('');
}

function getDigits(number: number, digits: number): string {
  if (number >= 1 << (BITS * digits)) throw new Error(`${number} has more than ${digits} digits`);
  return Array.from(
    { length: digits },
    (_, at) => DIGITS[(number >> (BITS * at)) & (DIGITS.length - 1)],
  ).join('');
}

function decodeNumber(text: string, digits: number, index: number): number {
  let number = 0;
  for (let at = digits - 1; at >= 0; at--)
    number = (number << BITS) | values[text.charCodeAt(index * digits + at)]!;
  return number;
}

function toNumbers(text: string, digits: number): readonly number[] {
  return Array.from({ length: text.length / digits }, (_, index) => decodeNumber(text, digits, index));
}

/** Hashes notations, to detect edits. It need not resist deliberate collisions. */
function hashNotations(lists: AnchorNotations): string {
  let low = 0x811c9dc5;
  let high = lists.length;
  for (const notations of lists) {
    high = Math.imul(high ^ notations.length, 0x9e3779b1);
    for (const notation of notations) {
      for (let at = 0; at < notation.length; at++) low = Math.imul(low ^ notation.charCodeAt(at), 0x01000193);
      high = Math.imul(high ^ low ^ notation.length, 0x85ebca6b);
    }
  }
  return `${(low >>> 0).toString(16)}-${(high >>> 0).toString(16)}`;
}
