import { buildAnchorTree, collectNotations } from '../../src/core/detect/matching/scanner.ts';
import { serializeAnchorTree } from '../../src/core/detect/matching/serialized-tree.ts';
import { builtinFiles } from '../../src/core/detect/registry/builtin-detectors.ts';

/** The longest line that the formatter does not break. */
const LINE_UNITS_MAX = 110;
const SHORT_NAME_UNITS_MAX = 4;

/** Returns the text of `src/core/detect/registry/anchor-tree.ts`. */
export function renderAnchorTreeModule(): string {
  const notations = collectNotations(builtinFiles.flatMap((file) => file()));
  const written = serializeAnchorTree(notations, buildAnchorTree(notations));
  return `import type { SerializedAnchorTree } from '../matching/serialized-tree.ts';

/**
 * The tree of all built-in anchors, made by \`npm run generate\`. If an anchor was edited since, the hash differs,
 * and the tree is built at the first use.
 */
export const anchorTree: SerializedAnchorTree = {
${Object.entries(written).map(getLine).join('')}};
`;
}

/**
 * Returns a field in the formatter's style: a long text is on a line of its own, except after a short name.
 */
function getLine([name, value]: readonly [string, string | number]): string {
  if (typeof value === 'number') return `  ${name}: ${value},\n`;
  const fitsOnLine = name.length <= SHORT_NAME_UNITS_MAX || value.length < LINE_UNITS_MAX - name.length;
  return `  ${name}:${fitsOnLine ? '' : '\n   '} '${value}',\n`;
}
