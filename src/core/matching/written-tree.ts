import type { UnitSet } from './anchors.ts';
import type { Tree } from './tree.ts';

/** A tree as text, made ahead for one list of notations, which its hash names. */
export interface WrittenTree {
  readonly hash: string;
  /** Per notation, how many anchors it stands for: one for each length. */
  readonly counts: string;
  readonly tree: string;
}

/** A tree that was made ahead, read. */
export interface MadeTree {
  readonly counts: readonly number[];
  readonly tree: Tree;
}

/** Writes a tree; the same text for the same notations. */
export function writeTree(notations: readonly string[], { counts, tree }: MadeTree): WrittenTree {
  const numbers = [tree.sets.length];
  for (const set of tree.sets) numbers.push(set.length, ...set.flatMap(([low, high]) => [low, high - low]));
  numbers.push(tree.parents.length);
  // Most nodes stand behind the one before them.
  for (let node = 1; node < tree.parents.length; node++)
    numbers.push(node - 1 - tree.parents[node]!, tree.node_sets[node]!);
  numbers.push(tree.ends.length);
  // Most anchors end at a node that is new with them.
  let newest = 0;
  tree.ends.forEach((end, anchor) => {
    const least = tree.lengths[anchor]!;
    numbers.push(end > newest ? 2 * (end - newest) : 2 * (newest - end) + 1, least);
    newest = Math.max(newest, end);
  });
  return { hash: hashOf(notations), counts: toText(counts), tree: toText(numbers) };
}

/** Reads a tree; `null` where it was written for other notations. */
export function readTree(notations: readonly string[], written: WrittenTree): MadeTree | null {
  if (written.hash !== hashOf(notations)) return null;
  const reader: Reader = { text: written.tree, at: 0 };
  const sets: UnitSet[] = [];
  for (let left = next(reader); left > 0; left--) sets.push(readSet(reader));
  const parents = new Int32Array(next(reader));
  const node_sets = new Int32Array(parents.length);
  for (let node = 1; node < parents.length; node++) {
    parents[node] = node - 1 - next(reader);
    node_sets[node] = next(reader);
  }
  const ends = new Int32Array(next(reader));
  const lengths = new Int32Array(ends.length);
  let newest = 0;
  for (let anchor = 0; anchor < ends.length; anchor++) {
    const step = next(reader);
    const end = (step & 1) === 0 ? newest + step / 2 : newest - (step - 1) / 2;
    newest = Math.max(newest, end);
    ends[anchor] = end;
    lengths[anchor] = next(reader);
  }
  return { counts: toNumbers(written.counts), tree: { sets, parents, node_sets, ends, lengths } };
}

function readSet(reader: Reader): UnitSet {
  const set: [number, number][] = [];
  for (let left = next(reader); left > 0; left--) {
    const low = next(reader);
    set.push([low, low + next(reader)]);
  }
  return set;
}

/** A digit is five bits of a number, the lowest first, and whether there are more. */
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
const BITS = 5;
const MORE = 1 << BITS;

const values = new Uint8Array(128);
[...DIGITS].forEach((digit, value) => {
  values[digit.charCodeAt(0)] = value;
});

function toText(numbers: readonly number[]): string {
  return numbers.map(digitsOf).join('');
}

function digitsOf(number: number): string {
  let digits = '';
  let rest = number;
  for (; rest >= MORE; rest >>= BITS) digits += DIGITS[(rest & (MORE - 1)) | MORE];
  return digits + DIGITS[rest];
}

interface Reader {
  readonly text: string;
  at: number;
}

function next(reader: Reader): number {
  let number = 0;
  for (let shift = 0; ; shift += BITS) {
    const value = values[reader.text.charCodeAt(reader.at++)]!;
    number |= (value & (MORE - 1)) << shift;
    if (value < MORE) return number;
  }
}

function toNumbers(text: string): readonly number[] {
  const reader: Reader = { text, at: 0 };
  const numbers: number[] = [];
  while (reader.at < text.length) numbers.push(next(reader));
  return numbers;
}

/** Tells lists of notations apart, where one was edited; nobody has to be kept from finding two alike. */
function hashOf(notations: readonly string[]): string {
  let low = 0x811c9dc5;
  let high = notations.length;
  for (const notation of notations) {
    for (let at = 0; at < notation.length; at++) low = Math.imul(low ^ notation.charCodeAt(at), 0x01000193);
    high = Math.imul(high ^ low ^ notation.length, 0x85ebca6b);
  }
  return `${(low >>> 0).toString(16)}-${(high >>> 0).toString(16)}`;
}
