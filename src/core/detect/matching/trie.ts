import { type Classes, classesOf } from './classes.ts';
import type { Tree } from './tree.ts';

/**
 * A tree of anchors as a walk needs it: where one comes from a node by a class of units. What is asked of a node is read
 * when it is first asked: a text comes to few of the nodes.
 */
export interface Trie extends Classes {
  readonly node_count: number;
  /** Units from the root to the node furthest from it. */
  readonly depth: number;
  /** Per node, those behind it in the order of their numbers, and the anchors that end there, in that of theirs. */
  readonly children: (readonly number[] | undefined)[];
  readonly anchors: (readonly number[] | undefined)[];
  /** Per node, one more than the number of the set of units that leads to it; 0 where that was not read. */
  readonly set_numbers: Uint16Array;
  readonly source: TrieSource;
}

/** Source of nodes that the trie has not read yet. */
export interface TrieSource {
  readonly childrenAt: (node: number) => readonly number[];
  readonly anchorsAt: (node: number) => readonly number[];
  readonly setAt: (node: number) => number;
}

/** A trie of which nothing was read but the classes. */
export function makeTrie(
  { classes, class_count, wide_count, holds }: Classes,
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

/** The trie of a tree. */
export function trieOf(tree: Tree, classes: Classes = classesOf(tree.sets)): Trie {
  const { parents, node_sets, ends, depth } = tree;
  const behind = chainsOf(parents, parents.length, 1);
  const ending = chainsOf(ends, parents.length, 0);
  return makeTrie(
    classes,
    { node_count: parents.length, depth },
    { childrenAt: behind, anchorsAt: ending, setAt: (node) => node_sets[node]! },
  );
}

/**
 * Which numbers from `from` on belong to an owner, ascending: `owners` says whose each is. Two rows of memory instead
 * of a list for each owner, of which few are ever asked for.
 */
function chainsOf(
  owners: ArrayLike<number>,
  owner_count: number,
  from: number,
): (owner: number) => readonly number[] {
  const first = new Int32Array(owner_count).fill(NONE);
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

/** The nodes behind one, in the order of their numbers. */
export function childrenAt({ children, source }: Trie, node: number): readonly number[] {
  const known = children[node];
  if (known !== undefined) return known;
  const read = source.childrenAt(node);
  children[node] = read;
  return read;
}

/** The anchors that end at a node, in the order of their numbers. */
export function anchorsAt({ anchors, source }: Trie, node: number): readonly number[] {
  const known = anchors[node];
  if (known !== undefined) return known;
  const read = source.anchorsAt(node);
  anchors[node] = read;
  return read;
}

/** Returns whether the set that leads to a node holds a class. */
export function leadsTo(trie: Trie, node: number, unit_class: number): boolean {
  const set = (trie.set_numbers[node] || readSet(trie, node)) - 1;
  return trie.holds[set * trie.class_count + unit_class] === 1;
}

function readSet({ set_numbers, source }: Trie, node: number): number {
  const set_number = source.setAt(node) + 1;
  set_numbers[node] = set_number;
  return set_number;
}
