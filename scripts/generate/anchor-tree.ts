import { builtin } from '../../src/core/detection/builtin.ts';
import { makeTree, notationsOf } from '../../src/core/matching/scanner.ts';
import { writeTree } from '../../src/core/matching/written-tree.ts';

/** `src/core/detection/anchor-tree.ts`, whole. */
export function anchorTree(): string {
  const notations = notationsOf(builtin);
  const { hash, counts, classes, tree } = writeTree(notations, makeTree(notations));
  return `import type { WrittenTree } from '../matching/written-tree.ts';

/**
 * The tree of all built-in anchors, made by \`npm run generate\`. Where an anchor was edited since, the hash is another
 * one, and the tree is grown at the first use.
 */
export const anchorTree: WrittenTree = {
  hash: '${hash}',
  counts:
    '${counts}',
  classes:
    '${classes}',
  tree: '${tree}',
};
`;
}
