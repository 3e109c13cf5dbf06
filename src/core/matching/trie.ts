import { type Anchor, hasUnit, type UnitSet } from './anchors.ts';

/**
 * All anchors as one tree, those that begin alike on one way, with an edge for each class of units. Node 0 is the
 * root. Lists are flat: there are tens of thousands of nodes, most with one edge.
 */
export interface Trie {
  /** Per node, where its edges begin; those of the next node are its end. */
  readonly edges_from: Int32Array;
  /** Per edge, the set of units that it takes, and the node behind it. */
  readonly edge_sets: Uint16Array;
  readonly edge_nodes: Int32Array;
  /** Per node, which anchors end there, by number. */
  readonly endings: readonly (readonly number[])[];
  /** Units from the root to the node furthest from it. */
  readonly depth: number;
  /** The class of each of the 65,536 UTF-16 units; the first `wide_count` are those of units beyond ASCII. */
  readonly classes: Uint16Array;
  readonly class_count: number;
  readonly wide_count: number;
  /** 1 at `set * class_count + class` where the set holds the class. */
  readonly holds: Uint8Array;
}

/** A node while the tree grows: sets of units and the nodes behind them, by turns. */
interface Node {
  readonly edges: number[];
  endings: readonly number[];
}

const NONE: readonly number[] = [];
const CLASSES_MAX = 2048;
const ASCII_UNITS = 128;

/** The tree of the given anchors; `endings` name them by their place in the list. */
export function makeTrie(anchors: readonly Anchor[]): Trie {
  const sets = distinctSets(anchors);
  const nodes = grow(anchors, sets);
  const edges_from = new Int32Array(nodes.length + 1);
  nodes.forEach(({ edges }, node) => {
    edges_from[node + 1] = edges_from[node]! + edges.length / 2;
  });
  const flat = nodes.flatMap(({ edges }) => edges);
  return {
    edges_from,
    edge_sets: Uint16Array.from({ length: flat.length / 2 }, (_, edge) => flat[2 * edge]!),
    edge_nodes: Int32Array.from({ length: flat.length / 2 }, (_, edge) => flat[2 * edge + 1]!),
    endings: nodes.map(({ endings }) => endings),
    depth: anchors.reduce((most, anchor) => Math.max(most, anchor.sets.length), 0),
    ...partition([...sets.values()].map(({ set }) => set)),
  };
}

type SetIndex = ReadonlyMap<string, { readonly index: number; readonly set: UnitSet }>;

function distinctSets(anchors: readonly Anchor[]): SetIndex {
  const sets = new Map<string, { readonly index: number; readonly set: UnitSet }>();
  for (const set of anchors.flatMap((anchor) => anchor.sets)) {
    const key = setKey(set);
    if (!sets.has(key)) sets.set(key, { index: sets.size, set });
  }
  return sets;
}

const keys = new WeakMap<UnitSet, string>();

/** Most sets are the same few objects. */
function setKey(set: UnitSet): string {
  const known = keys.get(set);
  if (known !== undefined) return known;
  const key = set.join(';');
  keys.set(set, key);
  return key;
}

function grow(anchors: readonly Anchor[], sets: SetIndex): readonly Node[] {
  const nodes: Node[] = [{ edges: [], endings: NONE }];
  const children = new Map<number, number>();
  anchors.forEach((anchor, number) => {
    let at = 0;
    for (const each of anchor.sets) {
      const set = sets.get(setKey(each))!.index;
      const edge = at * sets.size + set;
      const to = children.get(edge) ?? nodes.push({ edges: [], endings: NONE }) - 1;
      if (!children.has(edge)) nodes[at]!.edges.push(set, to);
      children.set(edge, to);
      at = to;
    }
    nodes[at]!.endings = [...nodes[at]!.endings, number];
  });
  return nodes;
}

/** Splits all units into classes that no set tells apart. */
function partition(sets: readonly UnitSet[]): Pick<Trie, 'classes' | 'class_count' | 'wide_count' | 'holds'> {
  const edges = new Set(sets.flatMap((set) => set.flatMap(([low, high]) => [low, high + 1])));
  const bounds = [...edges.add(0).add(ASCII_UNITS)].filter((at) => at <= 0xffff).sort((a, b) => a - b);
  const classes = new Uint16Array(0x10000);
  const known = new Map<string, number>();
  const members: (readonly number[])[] = [];
  const addFrom = (low: number, at: number): void => {
    const holding = sets.flatMap((set, index) => (hasUnit(set, low) ? [index] : []));
    const key = holding.join();
    if (!known.has(key)) known.set(key, members.push(holding) - 1);
    classes.fill(known.get(key)!, low, bounds[at + 1] ?? 0x10000);
  };
  bounds.forEach((low, at) => {
    if (low >= ASCII_UNITS) addFrom(low, at);
  });
  const wide_count = members.length;
  bounds.forEach((low, at) => {
    if (low < ASCII_UNITS) addFrom(low, at);
  });
  if (members.length > CLASSES_MAX) throw new Error(`the anchors need more than ${CLASSES_MAX} classes`);
  const holds = new Uint8Array(sets.length * members.length);
  members.forEach((holding, c) => {
    for (const set of holding) holds[set * members.length + c] = 1;
  });
  return { classes, class_count: members.length, wide_count, holds };
}
