import { type Anchor, parseAnchor, parseUnits } from './anchors.ts';
import { type Automaton, makeAutomaton } from './automaton.ts';
import type { Detector, LinearPattern } from './detector.ts';
import { patternReach, type Range } from './pattern-reach.ts';
import { INJECTION_SUMS, type InjectionSums } from './phrases.ts';
import { blobSignals } from './views/blobs.ts';
import { signals } from './views/signals.ts';
import { addPlace, type Windows } from './views/windows.ts';
import { wordingSignals } from './views/wording.ts';
import { firstPlace, makeHits, PART_UNITS, walk } from './walk.ts';
import { weigh } from './weigh.ts';

/** Where a detector matched: UTF-16 offsets into the text that was scanned, end exclusive. */
export interface Match {
  readonly detector: Detector;
  readonly start: number;
  readonly end: number;
}

/** A set of detectors, ready to scan. Made once per set; holds no text between scans. */
export interface Scanner {
  readonly automaton: Automaton;
  readonly probes: readonly Probe[];
  /** The probes of the detectors that know a value by the key before it, by number. */
  readonly cued: readonly number[];
  /** Per anchor number: which probe it belongs to, a signal where to none; and its length in units. */
  readonly anchor_probe: Int32Array;
  readonly anchor_length: Int32Array;
  /** Per probe, within one scan: the end of its last match, and the last start that failed. */
  readonly matched_until: Int32Array;
  readonly failed_at: Int32Array;
  readonly sums: InjectionSums;
}

/**
 * Work, counted and not timed: one for each unit that is looked at, and for each try of a pattern what it costs
 * and could look at. A scan that comes to more than is allowed ends.
 */
export interface Meter {
  work: number;
  allowed: number;
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

/** Anchors without a detector: for windows, for the starts of blobs, and for spellings. */
const SIGNAL = -1;
export const BLOB_SIGNAL = -2;
const WORDING_SIGNAL = -3;

/** What a try costs whatever it looks at, the part of its reach that it looks at before it fails, and the most. */
const TRY_WORK = 16;
const REACH_SHARE = 1 / 16;
const REACH_WORK_MAX = 256;

/** What a validator costs for each unit of a value, where its detector does not say, and what weighing a phrase costs. */
const VALIDATE_WORK = 8;
const PHRASE_WORK = 512;
/** What a look at a row of digits costs. */
const ROW_WORK = 1;
const ROW_UNITS_MAX = 48;

/** A detector in the form in which a scan uses it. */
interface Probe {
  readonly detector: Detector;
  /** Made at the first try: most patterns are never tried in the life of a process. */
  trial: Trial | null;
  /** 1 for each unit to step back over; `null` where the anchor is the start. */
  readonly back_over: Uint8Array | null;
  readonly back_units_max: number;
}

/** What a try of a pattern needs. */
interface Trial {
  readonly pattern: RegExp | LinearPattern;
  readonly has_value: boolean;
  /** Work of one try that fails. */
  readonly try_work: number;
}

/** So many phrases are held until they are weighed; what stands on both sides of such a cut is not added up. */
const PHRASES_MAX = 512;

const hits = makeHits();

/** Builds the automaton and the sticky patterns. Throws where an anchor or a pattern is malformed. */
export function compileScanner(
  detectors: readonly Detector[],
  sums: InjectionSums = INJECTION_SUMS,
): Scanner {
  const anchors = [
    ...detectors.flatMap((detector, probe) => anchorsOf(detector.anchors, probe)),
    ...anchorsOf(signals, SIGNAL),
    ...anchorsOf(blobSignals, BLOB_SIGNAL),
    ...anchorsOf(wordingSignals, WORDING_SIGNAL),
  ];
  return {
    automaton: makeAutomaton(anchors.map(({ anchor }) => anchor)),
    probes: detectors.map(probe),
    cued: detectors.flatMap(({ member }, index) => (member === undefined ? [] : [index])),
    anchor_probe: Int32Array.from(anchors, ({ probe }) => probe),
    anchor_length: Int32Array.from(anchors, ({ anchor }) => anchor.length),
    matched_until: new Int32Array(detectors.length),
    failed_at: new Int32Array(detectors.length),
    sums,
  };
}

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
  const { automaton } = scanner;
  const phrases: Match[] = [];
  let place = firstPlace(automaton);
  let has_anchors = false;
  let is_over = false;
  meter.work += text.length;
  for (let from = 0; from < text.length && !is_over; from += PART_UNITS) {
    place = walk(automaton, place, text, from, Math.min(text.length, from + PART_UNITS), hits);
    for (let hit = 0; hit < hits.count && !is_over; hit++) {
      if (!has_anchors) forget(scanner);
      has_anchors = true;
      verify(
        scanner,
        text,
        hits.ends[hit]!,
        automaton.endings[hits.states[hit]!]!,
        matches,
        phrases,
        meter,
        places,
      );
      if (phrases.length >= PHRASES_MAX) weigh(text, phrases.splice(0), matches, scanner.sums);
      is_over = matches.length >= matches_max || meter.work > meter.allowed;
    }
  }
  if (phrases.length > 0) weigh(text, phrases, matches, scanner.sums);
  return has_anchors;
}

/**
 * The detectors for which this key of an object is the word beside its value. The key is what was scanned last:
 * only those are asked that had an anchor in it.
 */
export function cuesOf(scanner: Scanner, key: string): readonly Detector[] {
  const { cued, probes, failed_at, matched_until } = scanner;
  const cues: Detector[] = [];
  for (const index of cued) {
    if (failed_at[index] === -1 && matched_until[index] === 0) continue;
    const { detector } = probes[index]!;
    if (detector.member!.key.test(key)) cues.push(detector);
  }
  return cues;
}

function anchorsOf(notations: readonly string[], probe: number): { anchor: Anchor; probe: number }[] {
  return notations.flatMap(parseAnchor).map((anchor) => ({ anchor, probe }));
}

function probe(detector: Detector): Probe {
  return {
    detector,
    trial: null,
    back_over: detector.back === undefined ? null : unitTable(detector.back.over),
    back_units_max: detector.back?.units_max ?? 0,
  };
}

function makeTrial({ pattern, try_work }: Detector): Trial {
  const is_linear = 'find' in pattern;
  const has_value = pattern.source.includes('(?<value>');
  return {
    pattern: is_linear ? pattern : sticky(pattern, has_value),
    has_value,
    try_work: TRY_WORK + (is_linear ? 0 : (try_work ?? lengthWork(pattern))),
  };
}

function lengthWork(pattern: RegExp): number {
  return Math.min(patternReach(pattern) * REACH_SHARE, REACH_WORK_MAX);
}

function sticky({ source, flags }: RegExp, has_value: boolean): RegExp {
  return new RegExp(source, [...new Set(`${flags}${has_value ? 'd' : ''}y`.replace('g', ''))].join(''));
}

const unit_tables = new Map<string, Uint8Array>();

/** The same classes are the same table of 64 KB: there are few. */
function unitTable(notation: string): Uint8Array {
  const known = unit_tables.get(notation);
  if (known !== undefined) return known;
  const units = new Uint8Array(0x10000);
  for (const [low, high] of parseUnits(notation)) units.fill(1, low, high + 1);
  unit_tables.set(notation, units);
  return units;
}

/** A scan begins: no detector has matched or failed. */
export function forget({ matched_until, failed_at }: Scanner): void {
  matched_until.fill(0);
  failed_at.fill(-1);
}

/** Tries the detectors whose anchors end at a place, and notes the places that may read otherwise. */
export function verify(
  scanner: Scanner,
  text: string,
  anchor_end: number,
  anchors: readonly number[],
  matches: Match[],
  phrases: Match[],
  meter: Meter,
  places: Places,
): void {
  let row_start = -1;
  let row_end = -1;
  let ends_number = false;
  for (const anchor of anchors) {
    const index = scanner.anchor_probe[anchor]!;
    const from = anchor_end - scanner.anchor_length[anchor]!;
    if (index < 0) {
      if (index === BLOB_SIGNAL) places.blob_starts.push(from);
      else addPlace(index === SIGNAL ? places.windows : places.wordings, from, anchor_end);
      continue;
    }
    const probe = scanner.probes[index]!;
    const { digits } = probe.detector;
    if (digits !== undefined) {
      if (row_start !== from) {
        row_start = from;
        row_end = rowEnd(text, from);
        ends_number = ENDS_NUMBER.has(text.charAt(row_end));
      }
      meter.work += ROW_WORK;
      if (isOtherRow(row_end - from, ends_number, digits)) continue;
    }
    const start =
      probe.back_over === null ? from : stepBack(text, from, probe.back_over, probe.back_units_max);
    if (start < scanner.matched_until[index]! || start === scanner.failed_at[index]!) continue;
    const match = matchAt(probe, text, start, scanner.matched_until[index]!, meter);
    if (match === null) {
      scanner.failed_at[index] = start;
      continue;
    }
    scanner.matched_until[index] = match.end;
    if (probe.detector.weight === undefined) matches.push(match);
    else {
      meter.work += PHRASE_WORK;
      phrases.push(match);
    }
  }
}

/**
 * Where a match begins whose anchor is at `from`: before the units of `over`, at most `units_max` of them. The letter
 * of an escape (`\n`) before an address belongs to the escape, not to the address.
 */
export function stepBack(text: string, from: number, over: Uint8Array, units_max: number): number {
  const lowest = Math.max(0, from - units_max);
  let start = from;
  while (start > lowest && over[text.charCodeAt(start - 1)] === 1) start -= 1;
  const is_escape = start < from && text[start - 1] === '\\' && 'nrt'.includes(text[start]!);
  return is_escape ? start + 1 : start;
}

/** Tries a probe's pattern at one place, and the validator on what it finds; nothing before `least`. Counts the work. */
export function matchAt(
  probe: Probe,
  text: string,
  start: number,
  least: number,
  meter: Meter,
): Match | null {
  const { detector } = probe;
  probe.trial ??= makeTrial(detector);
  const { pattern, has_value, try_work } = probe.trial;
  meter.work += try_work;
  if ('find' in pattern) {
    const span = pattern.find(text, start, least, meter);
    return span && { detector, start: span[0], end: span[1] };
  }
  pattern.lastIndex = start;
  const span = has_value ? valueAt(pattern, text) : pattern.test(text) ? [start, pattern.lastIndex] : null;
  if (span === null) return null;
  const [from, to] = span as [number, number];
  meter.work += pattern.lastIndex - start;
  if (detector.validate !== undefined) {
    meter.work += (to - from) * (detector.validate_work ?? VALIDATE_WORK);
    if (!detector.validate(text.slice(from, to))) return null;
  }
  return { detector, start: from, end: to };
}

/** What ends a number, and is in none. */
const ENDS_NUMBER = new Set(['', '\n', '\r', '\t', ',', ';', '"', "'", '|', ')', ']', '}', '<']);

/** Where the row of digits ends that begins at `start`; no longer one than any detector knows is followed. */
function rowEnd(text: string, start: number): number {
  let end = start;
  while (end - start <= ROW_UNITS_MAX && isDigit(text.charCodeAt(end))) end += 1;
  return end;
}

/** Whether a row of so many digits is too long for a match, or ends before there are as many as the match has. */
function isOtherRow(count: number, ends_number: boolean, { least, most }: Range): boolean {
  return count > most || (count < least && count > 0 && ends_number);
}

function isDigit(unit: number): boolean {
  return unit >= 48 && unit <= 57;
}

/** Where the group `value` of a pattern that matches at its last index is; a test alone is several times as fast. */
function valueAt(pattern: RegExp, text: string): readonly number[] | null {
  return pattern.exec(text)?.indices?.groups?.value ?? null;
}
