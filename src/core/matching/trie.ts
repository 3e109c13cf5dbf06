import type { Classes } from './classes.ts';
import type { Tree } from './tree.ts';

/** A tree of anchors as a walk needs it: where one comes from a node by a class of units. */
export interface Trie extends Classes {
  /** Per node, the first one behind it, and the next one behind the same; 0 where there is none. */
  readonly first_behind: Int32Array;
  readonly next_beside: Int32Array;
  /** Per node, the set of units that leads to it. */
  readonly node_sets: Int32Array;
  /** Per node, the first anchor that ends there, and per anchor the next one; `NO_ANCHOR` where there is none. */
  readonly first_ending: Int32Array;
  readonly next_ending: Int32Array;
  /** Units from the root to the node furthest from it. */
  readonly depth: number;
}

export const NO_ANCHOR = -1;

/** The lists are made from their ends, so that each is in the order of its numbers. */
export function makeTrie({ parents, node_sets, ends, depth }: Tree, classes: Classes): Trie {
  const first_behind = new Int32Array(parents.length);
  const next_beside = new Int32Array(parents.length);
  for (let node = parents.length - 1; node > 0; node--) {
    const parent = parents[node]!;
    next_beside[node] = first_behind[parent]!;
    first_behind[parent] = node;
  }
  const first_ending = new Int32Array(parents.length).fill(NO_ANCHOR);
  const next_ending = new Int32Array(ends.length);
  for (let anchor = ends.length - 1; anchor >= 0; anchor--) {
    const end = ends[anchor]!;
    next_ending[anchor] = first_ending[end]!;
    first_ending[end] = anchor;
  }
  return { first_behind, next_beside, node_sets, first_ending, next_ending, depth, ...classes };
}
