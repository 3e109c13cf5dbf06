/**
 * Rows of digits in a text. In a table of numbers dozens of detectors begin in each of them, and for most its shape says
 * that it is not theirs: how long its rows are, and what is between them. What a shape leaves is worked out when it is
 * first seen, as the states of the automaton are.
 */
import type { Detector } from './detector.ts';
import { DIGIT, type Digits, kindOf, LETTER, ROW_UNITS_MAX, SEPARATORS } from './pattern-digits.ts';
import type { Meter } from './probe.ts';
import { type Ends, type Fit, fitOf, type Shape } from './shapes.ts';

/**
 * Anchors that are left, and for each how many units the only possible match has: digits, and what stands between their
 * groups. 0 where there are others, or that is not known.
 */
export interface Left {
  readonly anchors: readonly number[];
  readonly units: readonly number[];
}

/** What some rows leave, by the next row; `null` where that would not change it. */
interface Node extends Left {
  readonly next: Map<number, Node> | null;
}

/** Which of some anchors that end together are left. */
interface Choice {
  readonly anchors: readonly number[];
  /** Length of the anchors of digit detectors, where the rows begin. 0 if there are none. */
  readonly back_units: number;
  readonly first: Node;
}

/** What is asked about detectors, by their numbers. */
interface Asked {
  readonly digitsAt: (index: number) => Digits | null;
  readonly detectorAt: (index: number) => Detector;
}

/** Cache of rows for the detectors of a scanner. */
export interface Rows {
  readonly asked: Asked;
  /** As in the scanner. */
  readonly anchor_probe: Int32Array;
  readonly anchor_length: Int32Array;
  readonly fits: Map<number, Fit>;
  /** Keyed by the state of the automaton in which the anchors end, and by the anchors. */
  readonly by_state: (Choice | undefined)[];
  readonly by_anchors: Map<string, Choice>;
  /** Shapes that are known. */
  count: number;
}

/** So many rows, and what is between them, are looked at; and so many before few anchors, which are tried sooner. */
const ROWS_MAX = 8;
const ROWS_OF_FEW_MAX = 2;
const FEW = 3;

/** What a look at the anchors of a state costs, and one at a row. */
const LOOK_WORK = 2;
const ROW_WORK = 2;

/** Past so many shapes all are forgotten: texts can be made up of ever new ones. A table of numbers has some hundreds. */
export const SHAPES_MAX = 20_000;

/** Nothing is known yet. */
export function makeRows(asked: Asked, anchor_probe: Int32Array, anchor_length: Int32Array): Rows {
  return {
    asked,
    anchor_probe,
    anchor_length,
    fits: new Map(),
    by_state: [],
    by_anchors: new Map(),
    count: 0,
  };
}

/** Those of the anchors that end in a state at a place of a text whose detectors may have a match. Counts the work. */
export function leftAt(
  rows: Rows,
  text: string,
  anchor_end: number,
  state: number,
  anchors: readonly number[],
  meter: Meter,
): Left {
  let choice = rows.by_state[state];
  // State numbers get new meanings when the automaton clears its table.
  if (choice?.anchors !== anchors) {
    choice = choiceOf(rows, anchors);
    rows.by_state[state] = choice;
  }
  const start = anchor_end - choice.back_units;
  let at = start;
  let depth = 0;
  let node = choice.first;
  while (node.next !== null) {
    // Where the text ends, it ends for all: its key is that of no row.
    const end = at < text.length ? rowEnd(text, at) : at;
    const key = end > at ? keyOf(kindOf(text.charCodeAt(at)), end - at) : 0;
    at = end;
    depth += 1;
    let next = node.next.get(key);
    if (next === undefined) {
      if (rows.count >= SHAPES_MAX) forget(rows);
      next = grow(rows, choice, node, shapeOf(text, start, at, key === 0), depth);
      node.next.set(key, next);
      rows.count += 1;
    }
    node = next;
  }
  meter.work += LOOK_WORK + depth * ROW_WORK;
  return node;
}

function forget(rows: Rows): void {
  rows.by_state.length = 0;
  rows.by_anchors.clear();
  rows.count = 0;
}

/** The digits between two places of a text, without what is between their groups. */
export function digitsOf(text: string, start: number, end: number): string {
  let digits = '';
  for (let at = start; at < end; ) {
    const group_end = Math.min(end, rowEnd(text, at));
    if (kindOf(text.charCodeAt(at)) === DIGIT) digits += text.slice(at, group_end);
    at = group_end;
  }
  return digits;
}

function keyOf(kind: number, units: number): number {
  return kind * (ROW_UNITS_MAX + 1) + units;
}

/** Where the digits or letters end that begin at a place of a text; signs stand alone. */
function rowEnd(text: string, start: number): number {
  const kind = kindOf(text.charCodeAt(start));
  let end = start + 1;
  if (kind !== DIGIT && kind !== LETTER) return end;
  const last = Math.min(text.length, start + ROW_UNITS_MAX);
  while (end < last && kindOf(text.charCodeAt(end)) === kind) end += 1;
  return end;
}

/** That a text ends behind a row is a row of its own: the row is the same before others. */
function shapeOf(text: string, start: number, end: number, is_whole: boolean): Shape {
  const kinds: number[] = [];
  for (let at = start; at < end; at++) kinds.push(kindOf(text.charCodeAt(at)));
  return { kinds, is_whole };
}

function choiceOf(rows: Rows, anchors: readonly number[]): Choice {
  const name = anchors.join();
  const known = rows.by_anchors.get(name);
  if (known !== undefined) return { ...known, anchors };
  const back_units = unitsOfMost(rows, anchors);
  const choice = { anchors, back_units, first: firstOf(anchors, back_units > 0) };
  rows.by_anchors.set(name, choice);
  return choice;
}

function firstOf(anchors: readonly number[], goes_on: boolean): Node {
  return { anchors, units: anchors.map(() => 0), next: goes_on ? new Map() : null };
}

/** How long most of the anchors are whose detectors say what digits their matches have; 0 where there are none. */
function unitsOfMost(rows: Rows, anchors: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const anchor of anchors) {
    const units = rows.anchor_length[anchor]!;
    if (saidDigits(rows, anchor) !== null) counts.set(units, (counts.get(units) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
}

function saidDigits({ anchor_probe, asked }: Rows, anchor: number): Digits | null {
  const index = anchor_probe[anchor]!;
  return index < 0 ? null : asked.digitsAt(index);
}

/** What the shape so far leaves of what a node has; it ends with the row number `depth`. */
function grow(
  rows: Rows,
  { back_units, anchors: all }: Choice,
  node: Node,
  shape: Shape,
  depth: number,
): Node {
  // What is behind the first digits says most, and asks for no detector.
  if (depth === 1 && shape.kinds[0] === DIGIT && !shape.is_whole) return { ...node, next: new Map() };
  const rows_max = all.length <= FEW ? ROWS_OF_FEW_MAX : ROWS_MAX;
  const anchors: number[] = [];
  const units: number[] = [];
  let is_open = false;
  for (const anchor of node.anchors) {
    const digits = rows.anchor_length[anchor] === back_units ? saidDigits(rows, anchor) : null;
    const found = digits === null ? ANY : endsOf(rows, rows.anchor_probe[anchor]!, digits, shape);
    if (found === null) continue;
    anchors.push(anchor);
    units.push(isNumber(shape, found) ? found.ends[0]! : 0);
    is_open ||= found.is_open;
  }
  return { anchors, units, next: is_open && depth < rows_max ? new Map() : null };
}

/** Returns whether all that is left of a shape is one number of digits. */
function isNumber({ kinds }: Shape, { ends, is_open }: Ends): boolean {
  if (ends.length !== 1 || is_open) return false;
  for (let at = 0; at < ends[0]!; at++) if ((kinds[at]! & (DIGIT | SEPARATORS)) === 0) return false;
  return true;
}

/** A match may end anywhere. */
const ANY: Ends = { ends: [], is_open: false };

/** Returns the possible ends of a match of a detector; `null` if none begins with the shape. */
function endsOf(rows: Rows, index: number, digits: Digits, shape: Shape): Ends | null {
  const first = firstRow(shape, digits);
  if (first === null || !(digits.is_strict || isRegular(shape))) return first;
  let fit = rows.fits.get(index);
  if (fit === undefined) {
    fit = fitOf(rows.asked.detectorAt(index).pattern);
    rows.fits.set(index, fit);
  }
  const found = fit(shape);
  return found.ends.length > 0 || found.is_open ? found : null;
}

/** Groups of a number have so many digits, but for the last. */
const GROUP_DIGITS_MIN = 4;

/**
 * Returns whether a shape is one of the few that numbers in equal groups have: nothing but digits and what is between their
 * groups, before the last unit, and no group that is short. All that digits could be grouped in would be too many.
 */
function isRegular({ kinds }: Shape): boolean {
  let digits = 0;
  for (let at = 0; at < kinds.length - 1; at++) {
    if (kinds[at] === DIGIT) digits += 1;
    else if ((kinds[at]! & SEPARATORS) === 0 || digits < GROUP_DIGITS_MIN) return false;
    else digits = 0;
  }
  return true;
}

/** What the length of the first digits and the unit behind them say. */
function firstRow({ kinds, is_whole }: Shape, { most, lengths, joins }: Digits): Ends | null {
  const units = kinds.findIndex((kind) => kind !== DIGIT);
  if (units === 0 || kinds.length > ROW_UNITS_MAX) return ANY;
  if (units === -1 && !is_whole) return kinds.length > most ? null : { ends: [], is_open: true };
  const count = units === -1 ? kinds.length : units;
  if (count > most) return null;
  const is_last = count === most && (joins & ~SEPARATORS) === 0;
  if (units !== -1 && !is_last && (joins & kinds[units]!) !== 0) return ANY;
  return lengths.includes(count) ? { ends: [count], is_open: false } : null;
}
