import * as automata from './automaton.ts';
import { type Automaton, computeTransition, findState, reserveStates } from './automaton.ts';
import type { WorkMeter } from './compiled-detector.ts';

/** The hits of anchors in a part of a text, in order: the offset after the last unit, and the state there. */
export interface AnchorHits {
  count: number;
  readonly ends: Int32Array;
  readonly states: Uint16Array;
}

/** The position of a walk: the nodes of its state, which stay valid when the automaton creates its states again. */
export type WalkPosition = readonly number[];

/** A text is walked in parts of at most this many units, so that the hits fit a fixed list. */
export const PART_UNITS = 4096;

/** Copies of imported constants: an imported one is read at every step, which takes a quarter longer. */
const ASCII_BITS = automata.ASCII_BITS;
const ASCII_UNITS = automata.ASCII_UNITS;
const ENDING = automata.ENDING_BIT;
const STATE = automata.STATE_MASK;

/**
 * A part is walked in four lanes at once, because each step waits for the one before it. Shorter parts are not worth
 * the units that a lane walks ahead of its own part.
 */
const LANES = 4;
const LANES_FROM_UNITS = 256;

/**
 * The web's encoder, if this engine has a whole one: a bare V8 has none, or one without `encodeInto`. It copies the
 * units of an ASCII text three times as fast as a loop, and reading a copy takes half as long as reading a string.
 */
const encoder = openEncoder(globalThis as { readonly TextEncoder?: new () => Partial<UnitEncoder> });

function openEncoder({ TextEncoder }: { readonly TextEncoder?: new () => Partial<UnitEncoder> }) {
  const opened = TextEncoder === undefined ? null : new TextEncoder();
  return opened?.encodeInto === undefined ? null : (opened as UnitEncoder);
}

/** The part of `TextEncoder` that is used. */
interface UnitEncoder {
  /** Writes a text as UTF-8, as far as it fits. Returns the units read and the bytes written. */
  readonly encodeInto: (
    text: string,
    bytes: Uint8Array,
  ) => { readonly read: number; readonly written: number };
}

/** The units of the last part whose units were all ASCII. The next one overwrites them. */
const ascii = new Uint8Array(PART_UNITS);

/** Per step at which anchors end: its number, and the entry of each lane. */
const steps = new Int32Array((PART_UNITS / LANES) * (1 + LANES));

/** Creates an empty list of hits. */
export function createAnchorHits(): AnchorHits {
  return { count: 0, ends: new Int32Array(PART_UNITS), states: new Uint16Array(PART_UNITS) };
}

/** Returns the position at the start of a text. */
export function getStartPosition(automaton: Automaton): WalkPosition {
  return automaton.nodes_of[automaton.start]!;
}

/**
 * Walks the units of a text from `from` to `to`, at most `PART_UNITS`, and lists in `hits` where anchors end.
 * Computed transitions count as work. Returns the position at `to`. The states in `hits` are valid until the next
 * walk.
 */
export function walkAutomaton(
  automaton: Automaton,
  place: WalkPosition,
  text: string,
  from: number,
  to: number,
  hits: AnchorHits,
  meter: WorkMeter,
): WalkPosition {
  reserveStates(automaton, to - from + LANES * automaton.trie.depth);
  const { table, wide, wide_bits, classes, nodes_of, trie, computed } = automaton;
  const transitionsBefore = computed.transitions;
  hits.count = 0;
  // Most walks start at the start of a text, whose state has hundreds of nodes.
  let state = place === getStartPosition(automaton) ? automaton.start : findState(automaton, place);
  let at = from;
  const units = ((to - from) / LANES) | 0;
  if (to - from >= LANES_FROM_UNITS && units >= trie.depth) {
    findLaneStates(automaton, text, from, units);
    const stepsUsed = copyAscii(text, from, LANES * units, meter)
      ? walkAsciiLanes(automaton, state, units)
      : walkLanes(automaton, state, text, from, units);
    for (let lane = 0; lane < LANES; lane++) addLane(lane, from + lane * units, stepsUsed, hits);
    state = leads[LANES - 1]!;
    at += LANES * units;
  }
  for (; at < to; at++) {
    const unit = text.charCodeAt(at);
    let entry = getEntry(table, wide, wide_bits, classes, state, unit);
    if (isSpecial(entry)) {
      if (entry === 0) entry = computeTransition(automaton, state, unit);
      if (entry >= ENDING) addHit(hits, at + 1, entry & STATE);
    }
    state = entry & STATE;
  }
  if (computed.transitions > transitionsBefore)
    chargeTransitions(meter, computed.transitions - transitionsBefore);
  return nodes_of[state]!;
}

/** Transitions that a content may compute for free: more than a new process needs for a megabyte of ordinary text. */
const FREE_TRANSITIONS = 131_072;
const TRANSITION_WORK = 64;

/**
 * Charges new transitions to the meter, because a text of only new transitions takes a hundred times as long
 * as a clean one.
 */
export function chargeTransitions(meter: WorkMeter, transitions: number): void {
  const all = (meter.transitions ?? 0) + transitions;
  meter.transitions = all;
  if (all > FREE_TRANSITIONS) meter.work += Math.min(all - FREE_TRANSITIONS, transitions) * TRANSITION_WORK;
}

/**
 * Copies units to `ascii`. Returns `false` if one of them is not ASCII, or there is no encoder. After the first such
 * part of a content no further one is copied: two-byte strings take as long to copy as they save.
 */
function copyAscii(text: string, from: number, units: number, meter: WorkMeter): boolean {
  if (encoder === null || meter.has_wide_units) return false;
  if (hasAsciiSamples(text, from, units)) {
    const part = text.length === units ? text : text.substring(from, from + units);
    const { read, written } = encoder.encodeInto(part, ascii);
    if (read === units && written === units) return true;
  }
  meter.has_wide_units = true;
  return false;
}

/** Checks a few units, because the encoder would read in vain up to the first unit that is not ASCII. */
function hasAsciiSamples(text: string, from: number, units: number): boolean {
  const step = units >> 5;
  let seen = 0;
  for (let at = from; at < from + units; at += step) seen |= text.charCodeAt(at);
  return seen < ASCII_UNITS;
}

/**
 * Walks the units in `ascii`, a number of them in each lane. Keeps the last state of each lane in `leads`. Returns the
 * number of entries in `steps`.
 */
function walkAsciiLanes(automaton: Automaton, first: number, units: number): number {
  const { table } = automaton;
  const fromC = 2 * units;
  const fromD = 3 * units;
  let [a, b, c, d] = [first, leads[0]!, leads[1]!, leads[2]!];
  let numbers = 0;
  for (let step = 0; step < units; step++) {
    let toA = table[(a << ASCII_BITS) + ascii[step]!]!;
    let toB = table[(b << ASCII_BITS) + ascii[units + step]!]!;
    let toC = table[(c << ASCII_BITS) + ascii[fromC + step]!]!;
    let toD = table[(d << ASCII_BITS) + ascii[fromD + step]!]!;
    if (areSpecial(toA, toB, toC, toD)) {
      if (toA === 0) toA = computeTransition(automaton, a, ascii[step]!);
      if (toB === 0) toB = computeTransition(automaton, b, ascii[units + step]!);
      if (toC === 0) toC = computeTransition(automaton, c, ascii[fromC + step]!);
      if (toD === 0) toD = computeTransition(automaton, d, ascii[fromD + step]!);
      numbers = addStep(numbers, step + 1, toA, toB, toC, toD);
      toA &= STATE;
      toB &= STATE;
      toC &= STATE;
      toD &= STATE;
    }
    a = toA;
    b = toB;
    c = toC;
    d = toD;
  }
  leads[LANES - 1] = d;
  return numbers;
}

/** Walks a number of units in each lane, as `walkAsciiLanes` does, with units of any kind. */
function walkLanes(automaton: Automaton, first: number, text: string, from: number, units: number): number {
  const { table, wide, wide_bits, classes } = automaton;
  const fromB = from + units;
  const fromC = fromB + units;
  const fromD = fromC + units;
  let [a, b, c, d] = [first, leads[0]!, leads[1]!, leads[2]!];
  let numbers = 0;
  for (let step = 0; step < units; step++) {
    const unitA = text.charCodeAt(from + step);
    const unitB = text.charCodeAt(fromB + step);
    const unitC = text.charCodeAt(fromC + step);
    const unitD = text.charCodeAt(fromD + step);
    let toA: number;
    let toB: number;
    let toC: number;
    let toD: number;
    if ((unitA | unitB | unitC | unitD) < ASCII_UNITS) {
      toA = table[(a << ASCII_BITS) + unitA]!;
      toB = table[(b << ASCII_BITS) + unitB]!;
      toC = table[(c << ASCII_BITS) + unitC]!;
      toD = table[(d << ASCII_BITS) + unitD]!;
    } else {
      toA = getEntry(table, wide, wide_bits, classes, a, unitA);
      toB = getEntry(table, wide, wide_bits, classes, b, unitB);
      toC = getEntry(table, wide, wide_bits, classes, c, unitC);
      toD = getEntry(table, wide, wide_bits, classes, d, unitD);
    }
    if (areSpecial(toA, toB, toC, toD)) {
      if (toA === 0) toA = computeTransition(automaton, a, unitA);
      if (toB === 0) toB = computeTransition(automaton, b, unitB);
      if (toC === 0) toC = computeTransition(automaton, c, unitC);
      if (toD === 0) toD = computeTransition(automaton, d, unitD);
      numbers = addStep(numbers, step + 1, toA, toB, toC, toD);
      toA &= STATE;
      toB &= STATE;
      toC &= STATE;
      toD &= STATE;
    }
    a = toA;
    b = toB;
    c = toC;
    d = toD;
  }
  leads[LANES - 1] = d;
  return numbers;
}

/** The first states of the second, third and fourth lane; after a walk, the last state of the fourth at the end. */
const leads = new Int32Array(LANES);

/** Computes the start states of the lanes. Only the units within the length of an anchor before a lane matter. */
function findLaneStates(automaton: Automaton, text: string, from: number, units: number): void {
  let b = findState(automaton, []);
  let c = b;
  let d = b;
  for (let at = from + units - automaton.trie.depth; at < from + units; at++) {
    b = getNextState(automaton, b, text.charCodeAt(at));
    c = getNextState(automaton, c, text.charCodeAt(at + units));
    d = getNextState(automaton, d, text.charCodeAt(at + 2 * units));
  }
  leads[0] = b;
  leads[1] = c;
  leads[2] = d;
}

/** Returns whether anchors end there, or the transition is not computed: 0 becomes -1, which has all bits set. */
function isSpecial(entry: number): boolean {
  return ((entry - 1) & ENDING) !== 0;
}

/** Returns whether one of four entries is special, with one jump instead of four. */
function areSpecial(a: number, b: number, c: number, d: number): boolean {
  return (((a - 1) | (b - 1) | (c - 1) | (d - 1)) & ENDING) !== 0;
}

/** Returns the next state. The caller reserves space for a transition that is not computed yet. */
export function getNextState(automaton: Automaton, state: number, unit: number): number {
  const { table, wide, wide_bits, classes } = automaton;
  return (
    (getEntry(table, wide, wide_bits, classes, state, unit) || computeTransition(automaton, state, unit)) &
    STATE
  );
}

function getEntry(
  table: Uint16Array,
  wide: Uint16Array,
  wideBits: number,
  classes: Uint16Array,
  state: number,
  unit: number,
): number {
  if (unit < ASCII_UNITS) return table[(state << ASCII_BITS) + unit]!;
  return wide[(state << wideBits) + classes[unit]!]!;
}

function addStep(numbers: number, step: number, a: number, b: number, c: number, d: number): number {
  steps[numbers] = step;
  steps[numbers + 1] = a;
  steps[numbers + 2] = b;
  steps[numbers + 3] = c;
  steps[numbers + 4] = d;
  return numbers + 1 + LANES;
}

function addLane(lane: number, from: number, numbers: number, hits: AnchorHits): void {
  for (let at = 0; at < numbers; at += 1 + LANES) {
    const entry = steps[at + 1 + lane]!;
    if (entry >= ENDING) addHit(hits, from + steps[at]!, entry & STATE);
  }
}

function addHit(hits: AnchorHits, end: number, state: number): void {
  hits.ends[hits.count] = end;
  hits.states[hits.count] = state;
  hits.count += 1;
}
