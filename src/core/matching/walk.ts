import { type Automaton, CLASS_BITS, ENDING, STATE } from './automaton.ts';
import type { Tables } from './tables.ts';

/** Where heads of one kind end in a part of a text, in order: the offset behind the last unit, and the state. */
export interface Hits {
  count: number;
  readonly end: Int32Array;
  readonly state: Uint16Array;
}

/** A text is walked in parts of at most so many units, so that what is found fits the lists. */
export const PART_UNITS = 8192;
/** A part is walked at four places at once, which hides that each step waits for the one before it. */
const LANES = 4;
/** Shorter parts are not worth the units that each lane begins ahead of its own. */
const LANES_FROM_UNITS = 160;
/** Shorter texts are read faster one by one. */
const ENCODED_FROM_UNITS = 48;
const LINE_BREAK = 10;

/** The symbols of the part, with the units before it that count; up to three bytes for one where it is not ASCII. */
const symbols = new Uint8Array(4 * PART_UNITS);
const steps = new Int32Array((PART_UNITS / LANES + 1) * (1 + LANES));

/** Every runtime has it, and none of the languages that core is limited to says so. */
interface Encoder {
  encodeInto(text: string, bytes: Uint8Array): { readonly read: number; readonly written: number };
}
const { TextEncoder } = globalThis as { TextEncoder?: new () => Encoder };
const encoder = TextEncoder === undefined ? null : new TextEncoder();

/** A list for the hits of one part: one at each unit, and one at the end of the text. */
export function makeHits(): Hits {
  return { count: 0, end: new Int32Array(PART_UNITS + 1), state: new Uint16Array(PART_UNITS + 1) };
}

/**
 * Finds all heads that end behind `from` and not behind `to`, which is at most `PART_UNITS` further. The text
 * begins and ends as with a line break.
 */
export function walk(
  tables: Tables,
  text: string,
  from: number,
  to: number,
  words: Hits,
  shapes: Hits,
): void {
  const lead = Math.min(from, tables.memory_units);
  readSymbols(tables.symbols, text, from - lead, to);
  const is_end = to === text.length;
  walkPart(tables.words, tables.memory_units, lead, from, to, is_end, words);
  walkPart(tables.shapes, tables.memory_units, lead, from, to, is_end, shapes);
}

function readSymbols(symbol_of: Uint8Array, text: string, from: number, to: number): void {
  if (encoder !== null && to - from >= ENCODED_FROM_UNITS) {
    const part = to - from === text.length ? text : text.slice(from, to);
    if (encoder.encodeInto(part, symbols).written === part.length) return;
  }
  for (let at = from; at < to; at++) symbols[at - from] = symbol_of[text.charCodeAt(at)]!;
}

/** `lead` symbols stand before those of the part. */
function walkPart(
  automaton: Automaton,
  memory_units: number,
  lead: number,
  from: number,
  to: number,
  is_end: boolean,
  hits: Hits,
): void {
  const { table, classes } = automaton;
  hits.count = 0;
  const units = to - from < LANES_FROM_UNITS ? 0 : Math.floor((to - from) / LANES);
  let state = stateAt(automaton, memory_units, lead, lead === from);
  if (units > 0) state = walkLanes(automaton, memory_units, lead, state, units, from, hits);
  for (let at = LANES * units; at < to - from; at++) {
    state = table[(state << CLASS_BITS) + classes[symbols[lead + at]!]!]!;
    if ((state & ENDING) === 0) continue;
    state &= STATE;
    addHit(hits, from + at + 1, state);
  }
  if (!is_end) return;
  state = table[(state << CLASS_BITS) + classes[LINE_BREAK]!]!;
  if ((state & ENDING) !== 0) addHit(hits, to + 1, state & STATE);
}

/** The state in front of a symbol: only the last few before it count. */
function stateAt(
  { table, classes }: Automaton,
  memory_units: number,
  at: number,
  is_from_start: boolean,
): number {
  const first = Math.max(0, at - memory_units);
  let state = is_from_start && first === 0 ? table[classes[LINE_BREAK]!]! & STATE : 0;
  for (let before = first; before < at; before++)
    state = table[(state << CLASS_BITS) + classes[symbols[before]!]!]! & STATE;
  return state;
}

/** Walks the lanes in step. Returns the state in which the last one ends. */
function walkLanes(
  automaton: Automaton,
  memory_units: number,
  lead: number,
  first: number,
  units: number,
  from: number,
  hits: Hits,
): number {
  const { table, classes } = automaton;
  const is_from_start = lead === from;
  const at2 = lead + units;
  const at3 = at2 + units;
  const at4 = at3 + units;
  let a = first;
  let b = stateAt(automaton, memory_units, at2, is_from_start);
  let c = stateAt(automaton, memory_units, at3, is_from_start);
  let d = stateAt(automaton, memory_units, at4, is_from_start);
  let numbers = 0;
  for (let step = 0; step < units; step++) {
    a = table[(a << CLASS_BITS) + classes[symbols[lead + step]!]!]!;
    b = table[(b << CLASS_BITS) + classes[symbols[at2 + step]!]!]!;
    c = table[(c << CLASS_BITS) + classes[symbols[at3 + step]!]!]!;
    d = table[(d << CLASS_BITS) + classes[symbols[at4 + step]!]!]!;
    if (((a | b | c | d) & ENDING) === 0) continue;
    steps[numbers] = step + 1;
    steps[numbers + 1] = a;
    steps[numbers + 2] = b;
    steps[numbers + 3] = c;
    steps[numbers + 4] = d;
    numbers += 1 + LANES;
    a &= STATE;
    b &= STATE;
    c &= STATE;
    d &= STATE;
  }
  for (let lane = 0; lane < LANES; lane++) addLane(lane, from + lane * units, numbers, hits);
  return d;
}

function addLane(lane: number, from: number, numbers: number, hits: Hits): void {
  for (let at = 0; at < numbers; at += 1 + LANES) {
    const entry = steps[at + 1 + lane]!;
    if ((entry & ENDING) !== 0) addHit(hits, from + steps[at]!, entry & STATE);
  }
}

function addHit(hits: Hits, end: number, state: number): void {
  hits.end[hits.count] = end;
  hits.state[hits.count] = state;
  hits.count += 1;
}
