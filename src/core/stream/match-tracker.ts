import {
  findMatchStart,
  type Match,
  tryMatch,
  type WorkMeter,
} from '../detect/matching/compiled-detector.ts';
import {
  BLOB_SIGNAL,
  getCompiledDetector,
  isDetectorEnabled,
  LAYOUT_SIGNAL,
  type Scanner,
} from '../detect/matching/scanner.ts';
import { JOINED_UNITS, tryJoinedMatch } from '../detect/matching/split-token.ts';
import {
  createAnchorHits,
  getStartPosition,
  PART_UNITS,
  type WalkPosition,
  walkAutomaton,
} from '../detect/matching/walk-automaton.ts';
import { type AnchorDepths, computeAnchorDepths, findDepth } from './anchor-depths.ts';
import {
  type AutomatonState,
  advanceState,
  buildAutomaton,
  buildBoundedAutomaton,
  type PatternAutomaton,
} from './pattern-automaton.ts';
import { readBuffer, type TextBuffer } from './text-buffer.ts';

/**
 * An incremental scan of a growing text. It finds what `scan` finds in the whole text, and reports from which
 * offset on a match may still begin or continue.
 */
export interface MatchTracker {
  readonly scanner: Scanner;
  readonly text: TextBuffer;
  readonly holds: ProbeFilter;
  readonly meter: WorkMeter;
  readonly depths: AnchorDepths;
  /** The offset up to which the text was scanned. */
  at: number;
  place: WalkPosition;
  readonly open: PatternAttempt[];
  /**
   * The number of open attempts per probe, and the total at which the next attempt triggers `decideAttempts`.
   */
  readonly open_counts: Map<number, number>;
  open_max: number;
  readonly matched_until: Map<number, number>;
  /** For each probe that steps back from its anchor: the start of the run that ends at `at`. */
  readonly run_starts: Int32Array;
  /** Decided matches; the caller removes them. */
  readonly matches: Match[];
  readonly phrases: Match[];
  /** Offsets of anchors at which the text may have another reading; the caller removes them. */
  readonly signals: number[];
  readonly blob_starts: number[];
}

/** Returns whether the text is held while this probe's detector may find something in it. */
export type ProbeFilter = (probe: number) => boolean;

/**
 * An attempt to match a pattern that is undecided, or that waits for an earlier attempt of the same detector.
 */
interface PatternAttempt {
  readonly index: number;
  readonly start: number;
  readonly liveness: PatternAutomaton;
  state: AutomatonState;
  at: number;
  /** The first offset at which the found part may begin; `null` as long as it cannot have begun. */
  value_from: number | null;
  /**
   * The offset at which the found part begins in a match so far, while the pattern may still match in another way.
   */
  match_from: number | null;
  is_decided: boolean;
}

/** The automaton of the attempts that follow one that failed: on the text with its parts joined. */
const JOINED_LIVENESS = buildAutomaton(JOINED_UNITS);

const hits = createAnchorHits();

const OPEN_MAX = 64;
/** The work that one step of a pattern's automaton costs. */
const STEP_WORK = 1 / 4;

/** Starts a tracker at the end of `text`. The automaton's states are charged to `meter`. */
export function startMatchTracker(
  scanner: Scanner,
  text: TextBuffer,
  holds: ProbeFilter,
  meter: WorkMeter,
): MatchTracker {
  const depths = computeAnchorDepths(scanner);
  return {
    scanner,
    text,
    holds,
    meter,
    depths,
    at: text.end,
    place: getStartPosition(scanner.automaton),
    open: [],
    open_counts: new Map(),
    open_max: OPEN_MAX,
    matched_until: new Map(),
    run_starts: new Int32Array(depths.back_probes.length).fill(text.end),
    matches: [],
    phrases: [],
    signals: [],
    blob_starts: [],
  };
}

/** Scans `piece`, the units that follow at `tracker.at`. */
export function advanceTracker(tracker: MatchTracker, piece: string): void {
  if (piece.length === 0) return;
  const from = tracker.at;
  tracker.meter.work += piece.length;
  stepOpen(tracker, piece);
  tracker.at += piece.length;
  extendRuns(tracker, piece, from);
  walkPiece(tracker, piece, from);
  decideAttempts(tracker, false);
}

/** Decides all open attempts, because the text has ended. */
export function finishTracker(tracker: MatchTracker): void {
  decideAttempts(tracker, true);
}

/** Returns the offset of the first unit that may still belong to a match; `at` if there is none. */
export function findMatchFront(tracker: MatchTracker): number {
  const { scanner, text, at, open, holds, depths, run_starts } = tracker;
  const depth = findDepth(depths, tracker.place);
  let front = Math.max(0, at - depth.units - depths.before_units_max);
  for (const { index, start, value_from, match_from, is_decided, liveness } of open) {
    const held = is_decided ? start : (match_from ?? value_from);
    if (held !== null && held - liveness.back_units < front && holds(index))
      front = Math.max(0, held - liveness.back_units);
  }
  depths.back_probes.forEach((index, number) => {
    const start = Math.max(run_starts[number]!, at - getCompiledDetector(scanner, index).back_units_max - 1);
    if (start < front && holds(index)) front = start;
  });
  for (const { index, units } of depth.back) {
    const { back_over, back_units_max } = getCompiledDetector(scanner, index);
    const start =
      text.base + findMatchStart(readBuffer(text), at - units - text.base, back_over!, back_units_max);
    if (start < front && holds(index)) front = start;
  }
  return front;
}

function extendRuns({ scanner, run_starts, depths }: MatchTracker, piece: string, from: number): void {
  depths.back_probes.forEach((index, number) => {
    const over = getCompiledDetector(scanner, index).back_over!;
    let start = piece.length;
    while (start > 0 && over[piece.charCodeAt(start - 1)] === 1) start -= 1;
    if (start > 0) run_starts[number] = from + start;
  });
}

function walkPiece(tracker: MatchTracker, piece: string, from: number): void {
  const { automaton } = tracker.scanner;
  for (let at = 0; at < piece.length; at += PART_UNITS) {
    tracker.place = walkAutomaton(
      automaton,
      tracker.place,
      piece,
      at,
      Math.min(piece.length, at + PART_UNITS),
      hits,
      tracker.meter,
    );
    for (let hit = 0; hit < hits.count; hit++)
      openTries(tracker, automaton.endings[hits.states[hit]!]!, from + hits.ends[hit]!);
  }
}

function openTries(tracker: MatchTracker, anchors: readonly number[], anchorEnd: number): void {
  const { scanner, text, signals, blob_starts } = tracker;
  for (const anchor of anchors) {
    const index = scanner.anchor_detector[anchor]!;
    const from = anchorEnd - scanner.anchor_length[anchor]!;
    if (index === LAYOUT_SIGNAL) continue;
    if (index < 0) {
      (index === BLOB_SIGNAL ? blob_starts : signals).push(from);
      continue;
    }
    if (!isDetectorEnabled(scanner, index)) continue;
    const { back_over, back_units_max, can_join_parts } = getCompiledDetector(scanner, index);
    const start =
      back_over === null
        ? from
        : text.base + findMatchStart(readBuffer(text), from - text.base, back_over, back_units_max);
    if (start < (tracker.matched_until.get(index) ?? 0)) continue;
    openTry(tracker, index, start, getLiveness(scanner, index));
    if (can_join_parts) openTry(tracker, index, start, JOINED_LIVENESS);
  }
}

function openTry(tracker: MatchTracker, index: number, start: number, liveness: PatternAutomaton): void {
  const { text, open, at } = tracker;
  const opened: PatternAttempt = {
    index,
    start,
    liveness,
    state: liveness.first,
    at: start,
    value_from: null,
    match_from: null,
    is_decided: false,
  };
  const units = readBuffer(text);
  const { before } = liveness;
  if (before !== null) {
    before.lastIndex = start - text.base;
    opened.is_decided = !before.test(units);
  }
  if (!opened.is_decided) stepAttempt(tracker, opened, units, start - text.base, at - text.base);
  if (hasNoParts(opened)) return;
  const count = tracker.open_counts.get(index) ?? 0;
  if (opened.is_decided && count === 0) {
    completeTry(tracker, opened);
    return;
  }
  tracker.open_counts.set(index, count + 1);
  open.push(opened);
  if (open.length <= tracker.open_max) return;
  decideAttempts(tracker, false);
  tracker.open_max = Math.max(OPEN_MAX, 2 * open.length);
}

/** Returns whether an attempt at a token in parts ended before the second one. */
function hasNoParts({ liveness, state, match_from, is_decided }: PatternAttempt): boolean {
  return is_decided && liveness === JOINED_LIVENESS && match_from === null && !state.is_match;
}

/** Advances an attempt over the units from `from` to `to` of a string, or until it is decided. */
function stepAttempt(
  tracker: MatchTracker,
  opened: PatternAttempt,
  units: string,
  from: number,
  to: number,
): void {
  const { liveness } = opened;
  const until = Math.min(to, from + opened.start + liveness.units_max - opened.at);
  let { state } = opened;
  let at = from;
  for (; at < until && state.is_open; at++) {
    if (state.is_match) opened.match_from ??= opened.value_from;
    if (state.is_in_value) opened.value_from ??= opened.at + at - from;
    else opened.value_from = null;
    state = advanceState(liveness, state, units.charCodeAt(at));
  }
  opened.at += at - from;
  opened.state = state;
  opened.is_decided = !state.is_open || opened.at - opened.start >= liveness.units_max;
  tracker.meter.work += (at - from) * STEP_WORK;
}

function stepOpen(tracker: MatchTracker, piece: string): void {
  for (const each of tracker.open) if (!each.is_decided) stepAttempt(tracker, each, piece, 0, piece.length);
}

/**
 * Decides attempts in the order of their anchors. An attempt waits while an earlier one of its detector is open.
 */
function decideAttempts(tracker: MatchTracker, isLast: boolean): void {
  const { open } = tracker;
  if (open.length === 0) return;
  tracker.open_counts.clear();
  let kept = 0;
  for (const each of open) {
    if (hasNoParts(each)) continue;
    const waiting = tracker.open_counts.get(each.index) ?? 0;
    if (isLast || (each.is_decided && waiting === 0)) completeTry(tracker, each);
    else {
      tracker.open_counts.set(each.index, waiting + 1);
      open[kept++] = each;
    }
  }
  open.length = kept;
}

function completeTry(tracker: MatchTracker, { index, start, liveness }: PatternAttempt): void {
  const { scanner, text, meter, matched_until } = tracker;
  const least = matched_until.get(index) ?? text.base;
  if (start < least) return;
  const probe = getCompiledDetector(scanner, index);
  const [units, from] = [readBuffer(text), start - text.base];
  const found =
    liveness === JOINED_LIVENESS
      ? tryJoinedMatch(probe, units, from, meter)
      : tryMatch(probe, units, from, least - text.base, meter);
  if (found === null) return;
  const match: Match = {
    detector: found.detector,
    start: found.start + text.base,
    end: found.end + text.base,
  };
  matched_until.set(index, match.end);
  (probe.detector.weight === undefined ? tracker.matches : tracker.phrases).push(match);
}

const livenesses = new WeakMap<Scanner, Map<number, PatternAutomaton>>();

function getLiveness(scanner: Scanner, index: number): PatternAutomaton {
  const known = livenesses.get(scanner) ?? new Map<number, PatternAutomaton>();
  livenesses.set(scanner, known);
  const { pattern } = getCompiledDetector(scanner, index).detector;
  const liveness =
    known.get(index) ?? ('find' in pattern ? buildBoundedAutomaton(pattern) : buildAutomaton(pattern));
  known.set(index, liveness);
  return liveness;
}
