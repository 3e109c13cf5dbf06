/**
 * Excludes detectors by the shape of a text. In a table of numbers dozens of detectors have an anchor at each number.
 * For most of them the shape (the lengths of its runs and what separates them) excludes a match. The result for a
 * shape is computed once and cached, as the states of the automaton are.
 */

import type { WorkMeter } from './compiled-detector.ts';
import type { Detector } from './detector.ts';
import {
  classifyUnit,
  DIGIT,
  type DigitProfile,
  LETTER,
  RUN_UNITS_MAX,
  SEPARATORS,
} from './digit-profile.ts';
import { compileShapeMatcher, type MatchEnds, type ShapeMatcher, type TextShape } from './shape-matcher.ts';

/**
 * The anchors that remain, and for each the length in units of the only possible match (digits and separators); 0 if
 * there are others or it is unknown.
 */
export interface RemainingAnchors {
  readonly anchors: readonly number[];
  readonly units: readonly number[];
}

/**
 * The anchors that remain after some runs, and the nodes for the next run; `null` if no further run changes the
 * result.
 */
interface Node extends RemainingAnchors {
  readonly next: Map<number, Node> | null;
}

/** The result for a set of anchors that end together. */
interface AnchorChoice {
  readonly anchors: readonly number[];
  /** Length of the anchors of digit detectors: the runs begin that far back. 0 if there are none. */
  readonly back_units: number;
  readonly first: Node;
}

/** Facts about detectors, by number. */
interface DetectorLookup {
  readonly digitProfileAt: (index: number) => DigitProfile | null;
  readonly detectorAt: (index: number) => Detector;
}

/** A cache of shapes, for the detectors of a scanner. */
export interface ShapeFilter {
  readonly lookup: DetectorLookup;
  readonly anchor_detector: Int32Array;
  readonly anchor_length: Int32Array;
  readonly fits: Map<number, ShapeMatcher>;
  /**
   * The choice for each automaton state in which anchors end. `anchors` of the choice shows whether the state
   * still has the same meaning.
   */
  readonly by_state: (AnchorChoice | undefined)[];
  readonly by_anchors: Map<string, AnchorChoice>;
  /** The number of cached shapes. */
  count: number;
}

/** The most runs that are read, and the most before few anchors, which are cheaper to try. */
const RUNS_MAX = 8;
const RUNS_OF_FEW_MAX = 2;
const FEW_ANCHORS = 3;

/** The work of one lookup of a state's anchors, and of one run. */
const LOOKUP_WORK = 2;
const RUN_WORK = 2;

/**
 * The cache is cleared above this number, because a text can contain ever new shapes. A table of numbers has some
 * hundreds.
 */
export const SHAPES_MAX = 20_000;

/** Creates an empty cache. */
export function createShapeFilter(
  lookup: DetectorLookup,
  anchorDetector: Int32Array,
  anchorLength: Int32Array,
): ShapeFilter {
  return {
    lookup,
    anchor_detector: anchorDetector,
    anchor_length: anchorLength,
    fits: new Map(),
    by_state: [],
    by_anchors: new Map(),
    count: 0,
  };
}

/** Returns the anchors that end in a state at an offset and whose detectors can match there. Counts the work. */
export function filterAnchors(
  rows: ShapeFilter,
  text: string,
  anchorEnd: number,
  state: number,
  anchors: readonly number[],
  meter: WorkMeter,
): RemainingAnchors {
  let choice = rows.by_state[state];
  // A state number changes meaning when the automaton creates its states again.
  if (choice?.anchors !== anchors) {
    choice = getChoice(rows, anchors);
    rows.by_state[state] = choice;
  }
  const start = anchorEnd - choice.back_units;
  let at = start;
  let depth = 0;
  let node = choice.first;
  while (node.next !== null) {
    // The end of the text has a key of its own.
    const end = at < text.length ? findRunEnd(text, at) : at;
    const key = end > at ? makeRunKey(classifyUnit(text.charCodeAt(at)), end - at) : 0;
    at = end;
    depth += 1;
    let next = node.next.get(key);
    if (next === undefined) {
      if (rows.count >= SHAPES_MAX) clearShapes(rows);
      next = extendNode(rows, choice, node, readShape(text, start, at, key === 0), depth);
      node.next.set(key, next);
      rows.count += 1;
    }
    node = next;
  }
  meter.work += LOOKUP_WORK + depth * RUN_WORK;
  return node;
}

function clearShapes(rows: ShapeFilter): void {
  rows.by_state.length = 0;
  rows.by_anchors.clear();
  rows.count = 0;
}

/** Returns the digits between two offsets of a text, without separators. */
export function extractDigits(text: string, start: number, end: number): string {
  let digits = '';
  for (let at = start; at < end; ) {
    const groupEnd = Math.min(end, findRunEnd(text, at));
    if (classifyUnit(text.charCodeAt(at)) === DIGIT) digits += text.slice(at, groupEnd);
    at = groupEnd;
  }
  return digits;
}

function makeRunKey(kind: number, units: number): number {
  return kind * (RUN_UNITS_MAX + 1) + units;
}

/** Returns the end of the run of digits or letters that begins at an offset; a sign is a run of its own. */
function findRunEnd(text: string, start: number): number {
  const kind = classifyUnit(text.charCodeAt(start));
  let end = start + 1;
  if (kind !== DIGIT && kind !== LETTER) return end;
  const last = Math.min(text.length, start + RUN_UNITS_MAX);
  while (end < last && classifyUnit(text.charCodeAt(end)) === kind) end += 1;
  return end;
}

/** Reads the kinds of a span. The end of the text counts as a run of its own, so that other runs are shared. */
function readShape(text: string, start: number, end: number, isWhole: boolean): TextShape {
  const kinds: number[] = [];
  for (let at = start; at < end; at++) kinds.push(classifyUnit(text.charCodeAt(at)));
  return { kinds, is_whole: isWhole };
}

function getChoice(rows: ShapeFilter, anchors: readonly number[]): AnchorChoice {
  const name = anchors.join();
  const known = rows.by_anchors.get(name);
  if (known !== undefined) return { ...known, anchors };
  const backUnits = findCommonLength(rows, anchors);
  const choice = { anchors, back_units: backUnits, first: createRoot(anchors, backUnits > 0) };
  rows.by_anchors.set(name, choice);
  return choice;
}

function createRoot(anchors: readonly number[], goesOn: boolean): Node {
  return { anchors, units: anchors.map(() => 0), next: goesOn ? new Map() : null };
}

/** Returns the most common length of the anchors whose detectors state their digits; 0 if there are none. */
function findCommonLength(rows: ShapeFilter, anchors: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const anchor of anchors) {
    const units = rows.anchor_length[anchor]!;
    if (getDigitProfile(rows, anchor) !== null) counts.set(units, (counts.get(units) ?? 0) + 1);
  }
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
}

function getDigitProfile({ anchor_detector, lookup }: ShapeFilter, anchor: number): DigitProfile | null {
  const index = anchor_detector[anchor]!;
  return index < 0 ? null : lookup.digitProfileAt(index);
}

/** Computes the node for a shape that ends with run number `depth`. */
function extendNode(
  rows: ShapeFilter,
  { back_units, anchors: all }: AnchorChoice,
  node: Node,
  shape: TextShape,
  depth: number,
): Node {
  // The unit after the first digits excludes most, and needs no detector.
  if (depth === 1 && shape.kinds[0] === DIGIT && !shape.is_whole) return { ...node, next: new Map() };
  const rowsMax = all.length <= FEW_ANCHORS ? RUNS_OF_FEW_MAX : RUNS_MAX;
  const anchors: number[] = [];
  const units: number[] = [];
  let isOpen = false;
  for (const anchor of node.anchors) {
    const digits = rows.anchor_length[anchor] === back_units ? getDigitProfile(rows, anchor) : null;
    const found = digits === null ? ANY : findMatchEnds(rows, rows.anchor_detector[anchor]!, digits, shape);
    if (found === null) continue;
    anchors.push(anchor);
    units.push(isNumber(shape, found) ? found.ends[0]! : 0);
    isOpen ||= found.is_open;
  }
  return { anchors, units, next: isOpen && depth < rowsMax ? new Map() : null };
}

/** Returns whether the only remaining match of a shape is one number of digits. */
function isNumber({ kinds }: TextShape, { ends, is_open }: MatchEnds): boolean {
  if (ends.length !== 1 || is_open) return false;
  for (let at = 0; at < ends[0]!; at++) if ((kinds[at]! & (DIGIT | SEPARATORS)) === 0) return false;
  return true;
}

/** A match can end anywhere. */
const ANY: MatchEnds = { ends: [], is_open: false };

/** Returns where a match of a detector can end; `null` if none begins with the shape. */
function findMatchEnds(
  rows: ShapeFilter,
  index: number,
  digits: DigitProfile,
  shape: TextShape,
): MatchEnds | null {
  const first = filterByFirstRun(shape, digits);
  if (first === null || !(digits.is_strict || isRegular(shape))) return first;
  let fit = rows.fits.get(index);
  if (fit === undefined) {
    fit = compileShapeMatcher(rows.lookup.detectorAt(index).pattern);
    rows.fits.set(index, fit);
  }
  const found = fit(shape);
  return found.ends.length > 0 || found.is_open ? found : null;
}

/** The fewest digits of a group of a number, except the last. */
const GROUP_DIGITS_MIN = 4;

/**
 * Returns whether a shape is a number in equal groups: only digits and separators before the last unit, and no short
 * group. All possible groupings would be too many.
 */
function isRegular({ kinds }: TextShape): boolean {
  let digits = 0;
  for (let at = 0; at < kinds.length - 1; at++) {
    if (kinds[at] === DIGIT) digits += 1;
    else if ((kinds[at]! & SEPARATORS) === 0 || digits < GROUP_DIGITS_MIN) return false;
    else digits = 0;
  }
  return true;
}

/** Returns what the number of leading digits and the unit after them allow. */
function filterByFirstRun(
  { kinds, is_whole }: TextShape,
  { digits_max, plain_lengths, other_kinds }: DigitProfile,
): MatchEnds | null {
  const units = kinds.findIndex((kind) => kind !== DIGIT);
  if (units === 0 || kinds.length > RUN_UNITS_MAX) return ANY;
  if (units === -1 && !is_whole) return kinds.length > digits_max ? null : { ends: [], is_open: true };
  const count = units === -1 ? kinds.length : units;
  if (count > digits_max) return null;
  const isLast = count === digits_max && (other_kinds & ~SEPARATORS) === 0;
  if (units !== -1 && !isLast && (other_kinds & kinds[units]!) !== 0) return ANY;
  return plain_lengths.includes(count) ? { ends: [count], is_open: false } : null;
}
