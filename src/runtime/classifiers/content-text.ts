import { UNLIMITED_WALK, walkContent } from '../../core/json/walk.ts';
import type { Content, Finding, JudgedFinding } from '../../core/types/index.ts';

/** The text of a content as a classifier gets it. */
export interface ContentText {
  readonly text: string;
  /** The offset of each leaf in the text, in UTF-16 units, in the order of the leaves. */
  readonly offsets: readonly number[];
}

/** Returns the text of a content. The keys, strings and numbers of a payload are lines, in the order of the document. */
export function buildContentText(content: Content): ContentText {
  if (content.kind === 'text') return { text: content.text, offsets: [0] };
  const lines: string[] = [];
  const offsets: number[] = [];
  let units = 0;
  walkContent(content, UNLIMITED_WALK, ({ text }) => {
    offsets.push(units);
    lines.push(text);
    units += text.length + 1;
  });
  return { text: lines.join('\n'), offsets };
}

/**
 * Returns the place of a range of the text in the content; `null` if the range is not within one leaf.
 *
 * @param start - in UTF-16 units, as `end`, which is exclusive
 */
export function findContentPlace(
  { text, offsets }: ContentText,
  start: number,
  end: number,
): Pick<Finding, 'leaf' | 'start' | 'end'> | null {
  const leaf = findLeaf(offsets, start);
  const offset = offsets[leaf];
  const next = offsets[leaf + 1];
  const leafEnd = next === undefined ? text.length : next - 1;
  if (offset === undefined || end > leafEnd) return null;
  return { leaf, start: start - offset, end: end - offset };
}

/** Returns the number of the last leaf that begins at or before an offset, by binary search. */
function findLeaf(offsets: readonly number[], at: number): number {
  let low = 0;
  let high = offsets.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (offsets[middle]! <= at) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Returns the JSON paths of leaves, by their numbers; text has none. A key in which something was found is hidden in
 * all of them.
 */
export function findLeafPaths(
  content: Content,
  leaves: ReadonlySet<number>,
  found: readonly Pick<JudgedFinding, 'leaf'>[],
): ReadonlyMap<number, string> {
  const paths = new Map<number, string>();
  if (content.kind === 'text' || leaves.size === 0) return paths;
  const hidden = new Set([...leaves, ...found.map(({ leaf }) => leaf)]);
  walkContent(content, UNLIMITED_WALK, ({ kind, index, path, hide }) => {
    if (kind === 'key' && hidden.has(index)) hide();
    if (leaves.has(index)) paths.set(index, path());
  });
  return paths;
}
