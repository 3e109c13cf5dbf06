import type { UnitSet } from './anchors.ts';
import type { Tree } from './tree.ts';

/** A tree of anchors as a walk needs it: where one comes from a node by a class of units. */
export interface Trie {
  /** Per node, where its edges begin; those of the next node are its end. */
  readonly edges_from: Int32Array;
  /** Per edge, the set of units that it takes, and the node behind it. */
  readonly edge_sets: Uint16Array;
  readonly edge_nodes: Int32Array;
  /** Per node, where its part of `endings` begins: the anchors that end there, by number. */
  readonly endings_from: Int32Array;
  readonly endings: Int32Array;
  /** Units from the root to the node furthest from it. */
  readonly depth: number;
  /** The class of each of the 65,536 UTF-16 units; the first `wide_count` are those of units beyond ASCII. */
  readonly classes: Uint16Array;
  readonly class_count: number;
  readonly wide_count: number;
  /** 1 at `set * class_count + class` where the set holds the class. */
  readonly holds: Uint8Array;
}

const CLASSES_MAX = 2048;
const ASCII_UNITS = 128;
const UNITS = 0x10000;

/** Throws where the sets tell more classes of units apart than there may be. */
export function makeTrie({ sets, parents, node_sets, ends }: Tree): Trie {
  const nodes = parents.length;
  const edges_from = startsOf(parents, 1, nodes);
  const endings_from = startsOf(ends, 0, nodes);
  const edge_sets = new Uint16Array(nodes);
  const edge_nodes = new Int32Array(nodes);
  const endings = new Int32Array(ends.length);
  const next = edges_from.slice();
  const depths = new Uint16Array(nodes);
  let depth = 0;
  for (let node = 1; node < nodes; node++) {
    const parent = parents[node]!;
    edge_sets[next[parent]!] = node_sets[node]!;
    edge_nodes[next[parent]!++] = node;
    depths[node] = depths[parent]! + 1;
    depth = Math.max(depth, depths[node]!);
  }
  const next_ending = endings_from.slice();
  ends.forEach((node, anchor) => {
    endings[next_ending[node]!++] = anchor;
  });
  return { edges_from, edge_sets, edge_nodes, endings_from, endings, depth, ...partition(sets) };
}

/** Where the part of each node begins in a list by nodes, of which `of` names the node of each entry. */
function startsOf(of: Int32Array, first: number, nodes: number): Int32Array {
  const starts = new Int32Array(nodes + 1);
  for (let at = first; at < of.length; at++) starts[of[at]! + 1]! += 1;
  for (let node = 0; node < nodes; node++) starts[node + 1]! += starts[node]!;
  return starts;
}

/** Splits all units into classes that no set tells apart: from bound to bound the same sets hold the units. */
function partition(sets: readonly UnitSet[]): Pick<Trie, 'classes' | 'class_count' | 'wide_count' | 'holds'> {
  const bounds = [...boundsOf(sets).entries()].sort(([a], [b]) => a - b);
  const holding = new Uint8Array(sets.length);
  const members: (readonly number[])[] = [];
  const known = new Map<string, number>();
  const spans = bounds.map(([low, changes], at) => {
    for (const set of changes) holding[set]! ^= 1;
    const high = bounds[at + 1]?.[0] ?? UNITS;
    return { low, high, held: heldBy(holding) };
  });
  const classes = new Uint16Array(UNITS);
  const addSpan = ({ low, high, held }: (typeof spans)[number]): void => {
    const key = held.join();
    if (!known.has(key)) known.set(key, members.push(held) - 1);
    classes.fill(known.get(key)!, low, high);
  };
  spans.filter(({ low }) => low >= ASCII_UNITS).forEach(addSpan);
  const wide_count = members.length;
  spans.filter(({ low }) => low < ASCII_UNITS).forEach(addSpan);
  if (members.length > CLASSES_MAX) throw new Error(`the anchors need more than ${CLASSES_MAX} classes`);
  const holds = new Uint8Array(sets.length * members.length);
  members.forEach((held, c) => {
    for (const set of held) holds[set * members.length + c] = 1;
  });
  return { classes, class_count: members.length, wide_count, holds };
}

/** At which units which sets begin or end. */
function boundsOf(sets: readonly UnitSet[]): ReadonlyMap<number, readonly number[]> {
  const bounds = new Map<number, number[]>([
    [0, []],
    [ASCII_UNITS, []],
  ]);
  const add = (unit: number, set: number): void => {
    if (unit === UNITS) return;
    const known = bounds.get(unit);
    if (known === undefined) bounds.set(unit, [set]);
    else known.push(set);
  };
  sets.forEach((ranges, set) => {
    for (const [low, high] of ranges) {
      add(low, set);
      add(high + 1, set);
    }
  });
  return bounds;
}

function heldBy(holding: Uint8Array): readonly number[] {
  const held: number[] = [];
  for (let set = 0; set < holding.length; set++) if (holding[set] === 1) held.push(set);
  return held;
}
