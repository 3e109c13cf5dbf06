import type { AnchorTree } from './anchor-tree.ts';
import { classifyUnits, type UnitClasses } from './unit-classes.ts';

/**
 * A tree of anchors in the form that a walk needs: the child nodes by class of units. Facts about a node are read on
 * demand, because a text reaches few nodes.
 */
export interface Trie extends UnitClasses {
  readonly node_count: number;
  /** The depth of the deepest node, in units. */
  readonly depth: number;
  /** Per node, its children by number, and the anchors that end there by number. */
  readonly children: (readonly number[] | undefined)[];
  readonly anchors: (readonly number[] | undefined)[];
  /** Per node, one plus the number of the set on the edge to it; 0 if it was not read. */
  readonly set_numbers: Uint16Array;
  readonly source: TrieSource;
}

/** The source from which a trie reads on demand. */
export interface TrieSource {
  readonly childrenAt: (node: number) => readonly number[];
  readonly anchorsAt: (node: number) => readonly number[];
  readonly setAt: (node: number) => number;
}

/** Creates a trie of which only the classes are read. */
export function createTrie(
  { classes, class_count, wide_count, holds }: UnitClasses,
  { node_count, depth }: { node_count: number; depth: number },
  source: TrieSource,
): Trie {
  return {
    classes,
    class_count,
    wide_count,
    holds,
    node_count,
    depth,
    children: new Array<readonly number[] | undefined>(node_count),
    anchors: new Array<readonly number[] | undefined>(node_count),
    set_numbers: new Uint16Array(node_count),
    source,
  };
}

/** Builds the trie of a tree. */
export function buildTrie(tree: AnchorTree, classes: UnitClasses = classifyUnits(tree.sets)): Trie {
  const { parents, node_sets, ends, depth } = tree;
  const nextNodes = buildChains(parents, parents.length, 1);
  const ending = buildChains(ends, parents.length, 0);
  return createTrie(
    classes,
    { node_count: parents.length, depth },
    { childrenAt: nextNodes, anchorsAt: ending, setAt: (node) => node_sets[node]! },
  );
}

/**
 * Returns the numbers from `from` on that belong to an owner, ascending; `owners` has the owner of each. Two arrays
 * instead of a list per owner, because few owners are ever looked up.
 */
function buildChains(
  owners: ArrayLike<number>,
  ownerCount: number,
  from: number,
): (owner: number) => readonly number[] {
  const first = new Int32Array(ownerCount).fill(NONE);
  const next = new Int32Array(owners.length);
  for (let at = owners.length - 1; at >= from; at--) {
    next[at] = first[owners[at]!]!;
    first[owners[at]!] = at;
  }
  return (owner) => {
    const own: number[] = [];
    for (let at = first[owner]!; at !== NONE; at = next[at]!) own.push(at);
    return own;
  };
}

const NONE = -1;

/** Returns the children of a node, by number. */
export function getChildren({ children, source }: Trie, node: number): readonly number[] {
  const known = children[node];
  if (known !== undefined) return known;
  const read = source.childrenAt(node);
  children[node] = read;
  return read;
}

/** Returns the anchors that end at a node, by number. */
export function getAnchors({ anchors, source }: Trie, node: number): readonly number[] {
  const known = anchors[node];
  if (known !== undefined) return known;
  const read = source.anchorsAt(node);
  anchors[node] = read;
  return read;
}

/** Returns whether the set on the edge to a node contains a class. */
export function acceptsClass(trie: Trie, node: number, unitClass: number): boolean {
  const set = (trie.set_numbers[node] || readSet(trie, node)) - 1;
  return trie.holds[set * trie.class_count + unitClass] === 1;
}

function readSet({ set_numbers, source }: Trie, node: number): number {
  const setNumber = source.setAt(node) + 1;
  set_numbers[node] = setNumber;
  return setNumber;
}
