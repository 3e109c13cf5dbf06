import { parseAnchor } from './anchors.ts';
import { type Automaton, makeAutomaton } from './automaton.ts';
import { classesOf } from './classes.ts';
import type { Detector, Named } from './detector.ts';
import { INJECTION_SUMS, type InjectionSums } from './phrases.ts';
import { isRight, type Match, type Meter, matchAt, type Probe, probeOf, stepBack } from './probe.ts';
import { longerRoster, type Roster, rosterOf } from './roster.ts';
import { digitsOf, leftAt, makeRows, type Rows } from './rows.ts';
import { growTree, type Tree } from './tree.ts';
import { trieOf } from './trie.ts';
import { blobSignals } from './views/blobs.ts';
import { signals } from './views/signals.ts';
import { addPlace, type Windows } from './views/windows.ts';
import { wordingSignals } from './views/wording.ts';
import { firstPlace, makeHits, PART_UNITS, walk } from './walk.ts';
import { weigh } from './weigh.ts';
import type { Anchors, MadeTree, Notations } from './written-tree.ts';

export type { Match, Meter } from './probe.ts';

/** A set of detectors, ready to scan. Made once per set; holds no text between scans. */
export interface Scanner {
  readonly automaton: Automaton;
  /** Source of the automaton. */
  readonly tree: () => Tree;
  readonly roster: Roster;
  /** Per detector, what tries it: made when it is first tried. */
  readonly probes: (Probe | undefined)[];
  readonly rows: Rows;
  /** Per detector: enabled or not, `UNASKED` until one of its anchors was found. */
  readonly standings: Uint8Array;
  readonly isEnabled: (named: Named) => boolean;
  /** Per anchor number: which detector it belongs to, a signal where to none; and its length in units. */
  readonly anchor_probe: Int32Array;
  readonly anchor_length: Int32Array;
  /** Per detector, within one scan: the end of its last match, and the last start that failed. */
  readonly matched_until: Int32Array;
  readonly failed_at: Int32Array;
  readonly sums: InjectionSums;
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

/** Enabled state of a detector. */
const UNASKED = 0;
const ENABLED = 1;
const DISABLED = 2;

/** Anchors without a detector: for windows, for the starts of blobs, and for spellings. */
const SIGNAL = -1;
export const BLOB_SIGNAL = -2;
const WORDING_SIGNAL = -3;
/** In the order in which their anchors stand behind those of the detectors. */
const SIGNALS = [SIGNAL, BLOB_SIGNAL, WORDING_SIGNAL];

/** Cost of weighing a phrase. */
const PHRASE_WORK = 512;

/** So many phrases are held until they are weighed; what stands on both sides of such a cut is not added up. */
const PHRASES_MAX = 512;

const hits = makeHits();

/** Input of an attempt of a detector. */
export function probeAt({ roster, probes }: Scanner, index: number): Probe {
  probes[index] ??= probeOf(roster.detectorAt(index));
  return probes[index];
}

/** Returns whether a detector is enabled under the scanner's settings. */
export function isAsked({ roster, standings, isEnabled }: Scanner, index: number): boolean {
  if (standings[index] === UNASKED) standings[index] = isEnabled(roster.nameAt(index)) ? ENABLED : DISABLED;
  return standings[index] === ENABLED;
}

/** The anchors of each detector, and those of places that may read otherwise, in the order of their numbers. */
export function notationsOf(detectors: readonly Detector[]): Notations {
  return [...detectors.map(({ anchors }) => anchors), signals, blobSignals, wordingSignals()];
}

/** The anchors of notations. Throws where one is malformed. */
export function makeAnchors(notations: Notations): Anchors {
  const { counts, classes, tree } = makeTree(notations);
  return {
    counts: Int32Array.from(counts),
    lengths: tree.lengths,
    trie: trieOf(tree, classes),
    tree: () => tree,
  };
}

/** The tree of the notations. Throws where one is malformed. */
export function makeTree(notations: Notations): MadeTree {
  const anchors = notations.map((list) => list.flatMap(parseAnchor));
  const tree = growTree(anchors.flat());
  return { counts: anchors.map(({ length }) => length), classes: classesOf(tree.sets), tree };
}

/** Makes a scanner. Throws where an anchor is malformed. */
export function compileScanner(
  detectors: readonly Detector[],
  sums: InjectionSums = INJECTION_SUMS,
): Scanner {
  return scannerOf(rosterOf(detectors), makeAnchors(notationsOf(detectors)), sums);
}

/** A scanner of the detectors of a roster, with their anchors. */
export function scannerOf(
  roster: Roster,
  { counts, lengths, trie, tree }: Anchors,
  sums: InjectionSums = INJECTION_SUMS,
): Scanner {
  const { count } = roster;
  const anchor_probe = anchorProbes(counts, count, lengths.length);
  return {
    automaton: makeAutomaton(trie),
    tree,
    roster,
    probes: emptyList(count),
    rows: makeRows(roster, anchor_probe, lengths),
    standings: new Uint8Array(count),
    isEnabled: () => true,
    anchor_probe,
    anchor_length: lengths,
    matched_until: new Int32Array(count),
    failed_at: new Int32Array(count),
    sums,
  };
}

/** A list of one place for each detector, which the engine keeps as one row of memory. */
function emptyList<Value>(count: number): (Value | undefined)[] {
  return new Array<Value | undefined>(count).fill(undefined);
}

/**
 * The same scanner with only some of its detectors, with more behind them, and with other sums. Without more it
 * shares all that is large.
 */
export function changedScanner(
  scanner: Scanner,
  isEnabled: (named: Named) => boolean,
  more: readonly Detector[],
  sums: InjectionSums,
): Scanner {
  const count = scanner.roster.count + more.length;
  return {
    ...(more.length === 0 ? scanner : withMore(scanner, more)),
    standings: new Uint8Array(count),
    isEnabled,
    matched_until: new Int32Array(count),
    failed_at: new Int32Array(count),
    sums,
  };
}

function withMore(scanner: Scanner, more: readonly Detector[]): Scanner {
  const first = scanner.roster.count;
  const anchors = more.map((detector) => detector.anchors.flatMap(parseAnchor));
  const tree = growTree(anchors.flat(), scanner.tree());
  const users = anchors.flatMap((of, index) => of.map(() => first + index));
  const roster = longerRoster(scanner.roster, more);
  const anchor_probe = Int32Array.from([...scanner.anchor_probe, ...users]);
  return {
    ...scanner,
    automaton: makeAutomaton(trieOf(tree)),
    tree: () => tree,
    roster,
    probes: [...scanner.probes, ...emptyList<Probe>(more.length)],
    rows: makeRows(roster, anchor_probe, tree.lengths),
    anchor_probe,
    anchor_length: tree.lengths,
  };
}

/** Per anchor, whose it is: `counts` says how many each detector has, and how many each kind of place behind them. */
function anchorProbes(counts: Int32Array, detectors: number, anchors: number): Int32Array {
  const probes = new Int32Array(anchors);
  let from = 0;
  counts.forEach((count, index) => {
    const probe = index < detectors ? index : SIGNALS[index - detectors]!;
    probes.fill(probe, from, from + count);
    from += count;
  });
  return probes;
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
    place = walk(automaton, place, text, from, Math.min(text.length, from + PART_UNITS), hits, meter);
    for (let hit = 0; hit < hits.count && !is_over; hit++) {
      if (!has_anchors) forget(scanner);
      has_anchors = true;
      verify(scanner, text, hits.ends[hit]!, hits.states[hit]!, matches, phrases, meter, places);
      if (phrases.length >= PHRASES_MAX) weigh(text, phrases.splice(0), matches, scanner.sums);
      is_over = matches.length >= matches_max || meter.work > meter.allowed;
    }
    is_over ||= meter.work > meter.allowed;
  }
  if (phrases.length > 0) weigh(text, phrases, matches, scanner.sums);
  return has_anchors;
}

/**
 * The detectors for which this key of an object is the word beside its value. The key is what was scanned last:
 * only those are asked that had an anchor in it.
 */
export function cuesOf(scanner: Scanner, key: string): readonly Detector[] {
  const { roster, failed_at, matched_until } = scanner;
  const cues: Detector[] = [];
  for (const index of roster.cued) {
    if (failed_at[index] === -1 && matched_until[index] === 0) continue;
    const { detector } = probeAt(scanner, index);
    if (detector.member!.key.test(key)) cues.push(detector);
  }
  return cues;
}

/** A scan begins: no detector has matched or failed. */
export function forget({ matched_until, failed_at }: Scanner): void {
  matched_until.fill(0);
  failed_at.fill(-1);
}

/** Tries the detectors whose anchors end at a place, in a state of the automaton, and notes the places that may read otherwise. */
export function verify(
  scanner: Scanner,
  text: string,
  anchor_end: number,
  state: number,
  matches: Match[],
  phrases: Match[],
  meter: Meter,
  places: Places,
): void {
  const { automaton, anchor_probe, anchor_length } = scanner;
  const { anchors, units } = leftAt(scanner.rows, text, anchor_end, state, automaton.endings[state]!, meter);
  let digits = '';
  let digits_units = 0;
  for (let at = 0; at < anchors.length; at++) {
    const anchor = anchors[at]!;
    const index = anchor_probe[anchor]!;
    const from = anchor_end - anchor_length[anchor]!;
    if (index < 0) {
      if (index === BLOB_SIGNAL) places.blob_starts.push(from);
      else addPlace(index === SIGNAL ? places.windows : places.wordings, from, anchor_end);
      continue;
    }
    if (scanner.standings[index] !== ENABLED && !isAsked(scanner, index)) continue;
    const probe = scanner.probes[index] ?? probeAt(scanner, index);
    const start =
      probe.back_over === null ? from : stepBack(text, from, probe.back_over, probe.back_units_max);
    if (start < scanner.matched_until[index]! || start === scanner.failed_at[index]!) continue;
    if (units[at]! > 0 && units[at] !== digits_units) {
      digits_units = units[at]!;
      digits = digitsOf(text, start, start + digits_units);
    }
    const is_wrong = units[at]! > 0 && !isRight(probe, digits, digits_units, meter);
    const match = is_wrong ? null : matchAt(probe, text, start, scanner.matched_until[index]!, meter);
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
