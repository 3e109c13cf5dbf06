import type { Anchor, UnitSet } from './anchors.ts';

/** Anchors as one prefix tree. Node 0 is the root. */
export interface AnchorTree {
  /** The distinct sets of units. */
  readonly sets: readonly UnitSet[];
  /** Per node, its parent, and the number of the set on the edge from it; 0 and 0 for the root. */
  readonly parents: Int32Array;
  readonly node_sets: Int32Array;
  /** Per anchor, its end node, and its units without the lookbehind. */
  readonly ends: Int32Array;
  readonly lengths: Int32Array;
  /** The depth of the deepest node, in units. */
  readonly depth: number;
}

const ROOT = 0;
const NONE = new Int32Array(0);
const EMPTY: AnchorTree = {
  sets: [],
  parents: Int32Array.of(ROOT),
  node_sets: Int32Array.of(0),
  ends: NONE,
  lengths: NONE,
  depth: 0,
};
const SETS_MAX = 1 << 16;

/** Returns a tree with these anchors after those of another tree, which keep their numbers. */
export function growAnchorTree(anchors: readonly Anchor[], from: AnchorTree = EMPTY): AnchorTree {
  const sets = [...from.sets];
  const parents = [...from.parents];
  const nodeSets = [...from.node_sets];
  const setOf = new Map(sets.map((set, index) => [getKey(set), index]));
  const nodeOf = new Map<number, number>();
  for (let node = 1; node < parents.length; node++)
    nodeOf.set(parents[node]! * SETS_MAX + nodeSets[node]!, node);
  const setAt = (set: UnitSet): number => {
    const known = setOf.get(getKey(set));
    if (known !== undefined) return known;
    setOf.set(getKey(set), sets.length);
    return sets.push(set) - 1;
  };
  const getNodeAfter = (parent: number, set: number): number => {
    const known = nodeOf.get(parent * SETS_MAX + set);
    if (known !== undefined) return known;
    nodeOf.set(parent * SETS_MAX + set, parents.length);
    nodeSets.push(set);
    return parents.push(parent) - 1;
  };
  const ends = anchors.map((anchor) => anchor.sets.map(setAt).reduce(getNodeAfter, ROOT));
  const lengths = anchors.map(({ length }) => length);
  return {
    sets,
    parents: Int32Array.from(parents),
    node_sets: Int32Array.from(nodeSets),
    ends: Int32Array.from([...from.ends, ...ends]),
    lengths: Int32Array.from([...from.lengths, ...lengths]),
    depth: anchors.reduce((most, { sets }) => Math.max(most, sets.length), from.depth),
  };
}

const keys = new WeakMap<UnitSet, string>();

/** Returns the key of a set. It is cached, because most sets are the same few objects. */
function getKey(set: UnitSet): string {
  const known = keys.get(set);
  if (known !== undefined) return known;
  const key = set.join(';');
  keys.set(set, key);
  return key;
}
