import type { UnitSet } from './anchors.ts';
import type { Classes } from './classes.ts';
import type { Tree } from './tree.ts';

/** Notations of anchors, in lists: one of each detector, and others. */
export type Notations = readonly (readonly string[])[];

/** A tree as text, made ahead for the notations that its hash names. */
export interface WrittenTree {
  readonly hash: string;
  /** Per list of notations, how many anchors it stands for: one for each length. */
  readonly counts: string;
  readonly classes: string;
  readonly tree: string;
}

/** A tree that was made ahead, read. */
export interface MadeTree {
  readonly counts: readonly number[];
  readonly classes: Classes;
  readonly tree: Tree;
}

/** Writes a tree; the same text for the same notations. */
export function writeTree(notations: Notations, { counts, classes, tree }: MadeTree): WrittenTree {
  return {
    hash: hashOf(notations),
    counts: toText(counts),
    classes: toText(numbersOfClasses(classes)),
    tree: toText(numbersOfTree(tree)),
  };
}

function numbersOfClasses({ classes, class_count, wide_count, holds }: Classes): readonly number[] {
  const numbers = [class_count, wide_count, holds.length];
  for (let from = 0, to = 0; from < classes.length; from = to) {
    while (classes[to] === classes[from]) to += 1;
    numbers.push(classes[from]!, to - from);
  }
  let last = 0;
  holds.forEach((holding, place) => {
    if (holding === 0) return;
    numbers.push(place - last);
    last = place;
  });
  return numbers;
}

function numbersOfTree({ sets, parents, node_sets, ends, lengths, depth }: Tree): readonly number[] {
  const numbers = [sets.length];
  for (const set of sets) numbers.push(set.length, ...set.flatMap(([low, high]) => [low, high - low]));
  numbers.push(depth, parents.length);
  // Most nodes stand behind the one before them: such rows are written at once.
  for (let from = 1, to = 1; from < parents.length; from = to) {
    do to += 1;
    while (to < parents.length && parents[to] === to - 1);
    numbers.push(from - 1 - parents[from]!, to - from, ...node_sets.subarray(from, to));
  }
  numbers.push(ends.length);
  // Most anchors end at a node that is new with them.
  let newest = 0;
  ends.forEach((end, anchor) => {
    numbers.push(end > newest ? 2 * (end - newest) : 2 * (newest - end) + 1, lengths[anchor]!);
    newest = Math.max(newest, end);
  });
  return numbers;
}

/** Whether a tree was written for these notations. */
export function isWrittenFor(notations: Notations, { hash }: WrittenTree): boolean {
  return hash === hashOf(notations);
}

/** Reads a tree. */
export function readTree({ counts, classes, tree }: WrittenTree): MadeTree {
  return { counts: toNumbers(counts), classes: readClasses(classes), tree: readNodes(tree) };
}

function readClasses(text: string): Classes {
  const reader: Reader = { text, at: 0 };
  const class_count = next(reader);
  const wide_count = next(reader);
  const holds = new Uint8Array(next(reader));
  const classes = new Uint16Array(UNITS);
  for (let from = 0; from < UNITS; ) {
    const of = next(reader);
    const to = from + next(reader);
    classes.fill(of, from, to);
    from = to;
  }
  for (let place = 0; reader.at < text.length; ) {
    place += next(reader);
    holds[place] = 1;
  }
  return { classes, class_count, wide_count, holds };
}

function readNodes(text: string): Tree {
  const reader: Reader = { text, at: 0 };
  const sets: UnitSet[] = [];
  for (let left = next(reader); left > 0; left--) sets.push(readSet(reader));
  const depth = next(reader);
  const parents = new Int32Array(next(reader));
  const node_sets = new Int32Array(parents.length);
  for (let node = 1; node < parents.length; ) {
    let parent = node - 1 - next(reader);
    for (const to = node + next(reader); node < to; node++) {
      parents[node] = parent;
      node_sets[node] = next(reader);
      parent = node;
    }
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
  return { sets, parents, node_sets, ends, lengths, depth };
}

function readSet(reader: Reader): UnitSet {
  const set: [number, number][] = [];
  for (let left = next(reader); left > 0; left--) {
    const low = next(reader);
    set.push([low, low + next(reader)]);
  }
  return set;
}

const UNITS = 0x10000;

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
function hashOf(lists: Notations): string {
  let low = 0x811c9dc5;
  let high = lists.length;
  for (const notations of lists) {
    high = Math.imul(high ^ notations.length, 0x9e3779b1);
    for (const notation of notations) {
      for (let at = 0; at < notation.length; at++) low = Math.imul(low ^ notation.charCodeAt(at), 0x01000193);
      high = Math.imul(high ^ low ^ notation.length, 0x85ebca6b);
    }
  }
  return `${(low >>> 0).toString(16)}-${(high >>> 0).toString(16)}`;
}
