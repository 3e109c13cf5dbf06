import { type Anchor, parseAnchor, standsAt } from './anchors.ts';
import { type Automaton, CLASS_BITS, ENDING, STATE } from './automaton.ts';
import type { Detector } from './detector.ts';
import { addFilter, type Filters, makeFilters, passes } from './filters.ts';
import { type MadeTables, tablesOf } from './made-tables.ts';
import { INJECTION_SUMS, type InjectionSums } from './phrases.ts';
import { type Match, type Meter, matchAt, type Probe, probeOf, startOf } from './probe.ts';
import type { Tables } from './tables.ts';
import { blobSignals } from './views/blobs.ts';
import { signals } from './views/signals.ts';
import { addPlace, type Windows } from './views/windows.ts';
import { wordingSignals } from './views/wording.ts';
import { makeHits, PART_UNITS, walk } from './walk.ts';
import { weigh } from './weigh.ts';

export type { Match, Meter } from './probe.ts';

/** A set of detectors, ready to scan. Made once per set; holds no text between scans. */
export interface Scanner {
  readonly tables: Tables;
  readonly detectors: readonly Detector[];
  /** Per detector, 1 where it is asked. */
  readonly is_enabled: Uint8Array;
  /** Per detector, in the form in which it is tried; made at its first try. */
  readonly probes: (Probe | undefined)[];
  /** Per notation of an anchor: its lengths, read where a head of it is first found. */
  readonly anchors: { readonly notation: string; lengths: readonly Anchor[] | null }[];
  /** Per notation, whose anchor it is: detectors by number; and the signal that it is, or 0. */
  readonly users: readonly (readonly number[])[];
  readonly signals: Int8Array;
  /** The detectors that know a value by the key before it, by number. */
  readonly cued: readonly number[];
  readonly sums: InjectionSums;
  readonly filters: Filters;
  progress: Progress;
}

/** What one scan has come to, per detector. */
interface Progress {
  /** The end of its last match, and the last start that failed; 0 and -1 where it was not tried. */
  readonly matched_until: Int32Array;
  readonly failed_at: Int32Array;
  /** Those that were tried. */
  readonly tried: number[];
}

/**
 * Where a text may read otherwise than it stands: parts of it, where runs of base64 or base16 may begin, and parts
 * in which words may be spelled otherwise.
 */
export interface Places {
  readonly windows: Windows;
  readonly blob_starts: number[];
  readonly wordings: Windows;
}

/** Anchors of windows, of the starts of blobs, and of spellings. */
const SIGNAL = 1;
const BLOB_SIGNAL = 2;
const WORDING_SIGNAL = 3;

/** So many phrases are held until they are weighed; what stands on both sides of such a cut is not added up. */
const PHRASES_MAX = 512;

const words = makeHits();
const shapes = makeHits();

/** All anchors of the detectors, and those of places that may read otherwise: each once, in one order. */
export function notationsOf(detectors: readonly Detector[], has_signals = true): readonly string[] {
  const notations = new Set(has_signals ? [...signals, ...blobSignals, ...wordingSignals] : []);
  for (const { anchors } of detectors) for (const anchor of anchors) notations.add(anchor);
  return [...notations].sort();
}

/**
 * From which sums on phrases are findings; tables that were made ahead for these detectors; and whether places that
 * may read otherwise are told, without which a scanner is made faster.
 */
export interface ScannerOptions {
  readonly sums?: InjectionSums;
  readonly made?: MadeTables;
  readonly has_signals?: boolean;
}

/** Makes the tables, or takes those that were made ahead. Throws where an anchor is malformed. */
export function compileScanner(
  detectors: readonly Detector[],
  { sums = INJECTION_SUMS, made, has_signals = true }: ScannerOptions = {},
): Scanner {
  const notations = notationsOf(detectors, has_signals);
  const place = new Map(notations.map((notation, index) => [notation, index]));
  const users: number[][] = notations.map(() => []);
  detectors.forEach(({ anchors }, index) => {
    for (const anchor of new Set(anchors)) users[place.get(anchor)!]!.push(index);
  });
  const signal_of = new Int8Array(notations.length);
  const kinds = [
    [signals, SIGNAL] as const,
    [blobSignals, BLOB_SIGNAL] as const,
    [wordingSignals, WORDING_SIGNAL] as const,
  ];
  for (const [anchors, kind] of has_signals ? kinds : []) {
    for (const anchor of anchors) signal_of[place.get(anchor)!] = kind;
  }
  const tables = tablesOf(notations, made ?? null);
  return {
    tables,
    filters: makeFilters(tables.notation.length),
    detectors,
    is_enabled: new Uint8Array(detectors.length).fill(1),
    probes: new Array<Probe | undefined>(detectors.length),
    anchors: notations.map((notation) => ({ notation, lengths: null })),
    users,
    signals: signal_of,
    cued: detectors.flatMap(({ member }, index) => (member === undefined ? [] : [index])),
    sums,
    progress: makeProgress(detectors.length),
  };
}

/** The same scanner with only some of its detectors, and other sums; it shares all that is large. */
export function narrowed(
  scanner: Scanner,
  isEnabled: (detector: Detector) => boolean,
  sums: InjectionSums = scanner.sums,
): Scanner {
  const is_enabled = Uint8Array.from(scanner.detectors, (detector) => (isEnabled(detector) ? 1 : 0));
  return { ...scanner, is_enabled, sums, progress: makeProgress(is_enabled.length) };
}

/** For a scan within a scan: the one around it goes on with what it had come to. */
export function makeProgress(detectors: number): Progress {
  return {
    matched_until: new Int32Array(detectors),
    failed_at: new Int32Array(detectors).fill(-1),
    tried: [],
  };
}

function forget({ matched_until, failed_at, tried }: Progress): void {
  for (const index of tried) {
    matched_until[index] = 0;
    failed_at[index] = -1;
  }
  // Not by its length, which would take the list's memory away.
  while (tried.length > 0) tried.pop();
}

/** One walk over one text. */
interface Scan {
  readonly scanner: Scanner;
  readonly text: string;
  readonly matches: Match[];
  readonly matches_max: number;
  readonly phrases: Match[];
  readonly meter: Meter;
  readonly places: Places;
  has_anchors: boolean;
  /** Anchors that stand in the text and are not tried yet, by their ends: end, beginning, and notation of each. */
  readonly waiting: number[];
  /** How many numbers of `waiting` count; the list itself is never made shorter, which would cost more than a try. */
  waiting_count: number;
}

const WAITING_NUMBERS = 3;
const SHORT_UNITS = 256;
/** What weighing a phrase costs. */
const PHRASE_WORK = 512;
const LINE_BREAK = 10;

/**
 * Walks the text once and adds what the detectors find to `matches`, in the order of their anchors; and to
 * `places` where the text may read otherwise. Stops when there are `matches_max` of them or the
 * meter is over. Matches of one detector do not overlap. Returns whether any anchor was in the text.
 */
export function scan(
  scanner: Scanner,
  text: string,
  matches: Match[],
  matches_max: number,
  meter: Meter = { work: 0, allowed: Number.POSITIVE_INFINITY },
  places: Places = { windows: [], blob_starts: [], wordings: [] },
): boolean {
  const one: Scan = {
    scanner,
    text,
    matches,
    matches_max,
    phrases: [],
    meter,
    places,
    has_anchors: false,
    waiting: [],
    waiting_count: 0,
  };
  forget(scanner.progress);
  meter.work += text.length;
  const is_whole = text.length < SHORT_UNITS ? scanShort(one) : scanParts(one);
  if (is_whole && one.waiting_count > 0) tryBefore(one, Number.POSITIVE_INFINITY);
  if (one.phrases.length > 0) weigh(text, one.phrases, matches, scanner.sums);
  if (places.blob_starts.length > 1) places.blob_starts.sort((first, second) => first - second);
  return one.has_anchors;
}

/** Keys and values of payloads are short: for them the lists of hits cost more than the walk. */
function scanShort(one: Scan): boolean {
  const { text } = one;
  const { symbols, words, shapes } = one.scanner.tables;
  let word = words.table[words.classes[LINE_BREAK]!]! & STATE;
  let shape = shapes.table[shapes.classes[LINE_BREAK]!]! & STATE;
  for (let at = 0; at <= text.length; at++) {
    const symbol = at === text.length ? LINE_BREAK : symbols[text.charCodeAt(at)]!;
    word = words.table[(word << CLASS_BITS) + words.classes[symbol]!]!;
    shape = shapes.table[(shape << CLASS_BITS) + shapes.classes[symbol]!]!;
    if (((word | shape) & ENDING) === 0) continue;
    if ((word & ENDING) !== 0 && isOver(one, words, at + 1, word & STATE)) return false;
    if ((shape & ENDING) !== 0 && isOver(one, shapes, at + 1, shape & STATE)) return false;
    word &= STATE;
    shape &= STATE;
  }
  return true;
}

/** Walks a text part by part; the hits of words and of shapes in the order of their ends. */
function scanParts(one: Scan): boolean {
  const { text } = one;
  const { tables } = one.scanner;
  for (let from = 0; from < text.length; from += PART_UNITS) {
    walk(tables, text, from, Math.min(text.length, from + PART_UNITS), words, shapes);
    let word = 0;
    let shape = 0;
    while (word < words.count || shape < shapes.count) {
      if (shape === shapes.count || (word < words.count && words.end[word]! <= shapes.end[shape]!)) {
        if (isOver(one, tables.words, words.end[word]!, words.state[word]!)) return false;
        word += 1;
      } else {
        if (isOver(one, tables.shapes, shapes.end[shape]!, shapes.state[shape]!)) return false;
        shape += 1;
      }
    }
  }
  return true;
}

/** Looks at a place where heads end. Returns whether the scan ends there. */
function isOver(one: Scan, automaton: Automaton, head_end: number, state: number): boolean {
  const { phrases, matches, meter } = one;
  if (one.waiting_count > 0) tryBefore(one, head_end - 1);
  compareRest(one, automaton, head_end, state);
  if (phrases.length >= PHRASES_MAX) weigh(one.text, phrases.splice(0), matches, one.scanner.sums);
  return matches.length >= one.matches_max || meter.work > meter.allowed;
}

/**
 * The detectors for which this key of an object is the word beside its value. The key is what was scanned last:
 * only those are asked that had an anchor in it.
 */
export function cuesOf(scanner: Scanner, key: string): readonly Detector[] {
  const { cued, detectors, progress } = scanner;
  if (progress.tried.length === 0) return [];
  const tried = new Set(progress.tried);
  return cued
    .filter((index) => tried.has(index))
    .map((index) => detectors[index]!)
    .filter((detector) => detector.member!.key.test(key));
}

/** Compares the rest of the anchors whose heads end there; a head is at most a unit longer than its anchor. */
function compareRest(one: Scan, automaton: Automaton, head_end: number, state: number): void {
  const { text } = one;
  const { tables, filters } = one.scanner;
  const { endings, endings_from } = automaton;
  const next = head_end < text.length ? text.charCodeAt(head_end) : LINE_BREAK;
  for (let at = endings_from[state]!; at < endings_from[state + 1]!; at++) {
    const entry = endings[at]!;
    if (filters.is_made[entry] === 0)
      addFilter(filters, entry, anchorOf(one.scanner, entry), tables.reach[entry]!);
    const from = head_end - tables.reach[entry]!;
    if (!passes(filters, entry, from > 0 ? text.charCodeAt(from - 1) : LINE_BREAK, next)) continue;
    const anchor = anchorOf(one.scanner, entry);
    if (standsAt(anchor, text, from, tables.reach[entry]!))
      addStanding(one, tables.notation[entry]!, from, from + anchor.sets.length);
  }
}

function anchorOf({ tables, anchors }: Scanner, entry: number): Anchor {
  const known = anchors[tables.notation[entry]!]!;
  known.lengths ??= parseAnchor(known.notation);
  return known.lengths[tables.expansion[entry]!]!;
}

function addStanding(one: Scan, notation: number, from: number, end: number): void {
  const { signals: signal_of, users } = one.scanner;
  one.has_anchors = true;
  if (signal_of[notation] !== 0) addSignal(one.places, signal_of[notation]!, from, end);
  if (users[notation]!.length > 0) wait(one, end, from, notation);
}

/** Keeps the order of ends, and where several end the order of the detectors. */
function wait(one: Scan, end: number, from: number, notation: number): void {
  const { waiting } = one;
  const { users } = one.scanner;
  let at = one.waiting_count;
  for (; at > 0; at -= WAITING_NUMBERS) {
    const other_end = waiting[at - WAITING_NUMBERS]!;
    if (other_end < end) break;
    if (other_end === end && users[waiting[at - 1]!]![0]! <= users[notation]![0]!) break;
    for (let number = at - WAITING_NUMBERS; number < at; number++)
      waiting[number + WAITING_NUMBERS] = waiting[number]!;
  }
  waiting[at] = end;
  waiting[at + 1] = from;
  waiting[at + 2] = notation;
  one.waiting_count += WAITING_NUMBERS;
}

/** Tries the detectors of the anchors that end before the offset. */
function tryBefore(one: Scan, end: number): void {
  const { waiting, scanner } = one;
  let tried = 0;
  for (; tried < one.waiting_count && waiting[tried]! < end; tried += WAITING_NUMBERS) {
    const users = scanner.users[waiting[tried + 2]!]!;
    for (let user = 0; user < users.length; user++) tryAt(one, users[user]!, waiting[tried + 1]!);
  }
  if (tried === 0) return;
  for (let at = tried; at < one.waiting_count; at++) waiting[at - tried] = waiting[at]!;
  one.waiting_count -= tried;
}

function addSignal(places: Places, signal: number, from: number, end: number): void {
  if (signal === BLOB_SIGNAL) places.blob_starts.push(from);
  else addPlace(signal === SIGNAL ? places.windows : places.wordings, from, end);
}

function tryAt({ scanner, text, matches, phrases, meter }: Scan, index: number, from: number): void {
  if (scanner.is_enabled[index] === 0) return;
  const { matched_until, failed_at, tried } = scanner.progress;
  scanner.probes[index] ??= probeOf(scanner.detectors[index]!);
  const probe = scanner.probes[index];
  const start = startOf(probe, text, from);
  if (start < matched_until[index]! || start === failed_at[index]!) return;
  if (failed_at[index] === -1 && matched_until[index] === 0) tried.push(index);
  const match = matchAt(probe, text, start, matched_until[index]!, meter);
  meter.work += probe.try_work;
  if (match === null) {
    failed_at[index] = start;
    return;
  }
  matched_until[index] = match.end;
  if (probe.detector.weight === undefined) matches.push(match);
  else {
    meter.work += PHRASE_WORK;
    phrases.push(match);
  }
}
