import { type AnchorTree, growAnchorTree } from './anchor-tree.ts';
import { parseAnchor } from './anchors.ts';
import { type Automaton, createAutomaton } from './automaton.ts';
import { findWordPlaces, noteLayout } from './broken-anchors.ts';
import {
  type CompiledDetector,
  compileDetector,
  findMatchStart,
  hasValidDigits,
  type Match,
  tryMatch,
  type WorkMeter,
} from './compiled-detector.ts';
import type { Detector, DetectorIdentity } from './detector.ts';
import { appendDetectors, createDetectorTable, type DetectorTable } from './detector-table.ts';
import { DEFAULT_INJECTION_THRESHOLDS, type InjectionThresholds } from './phrases.ts';
import {
  type PhraseMatch,
  type QuotationReading,
  scorePhrases,
  startQuotationReading,
} from './score-phrases.ts';
import type { AnchorNotations, AnchorSet, CompiledAnchorTree } from './serialized-tree.ts';
import { createShapeFilter, extractDigits, filterAnchors, type ShapeFilter } from './shape-filter.ts';
import { tryJoinedMatch } from './split-token.ts';
import { buildTrie } from './trie.ts';
import { classifyUnits } from './unit-classes.ts';
import { blobSignals } from './views/blobs.ts';
import { decodingSignals } from './views/decoding-signals.ts';
import {
  isUnderscored,
  type LayoutPlaces,
  listLayoutSignals,
  listTellingWords,
  readWords,
  toSourceSpan,
} from './views/layout.ts';
import { listSpellingSignals } from './views/spelling.ts';
import { addWindow, type Windows } from './views/windows.ts';
import { createAnchorHits, getStartPosition, PART_UNITS, walkAutomaton } from './walk-automaton.ts';

/** A set of detectors, compiled for scans. Created once per set; it keeps no text between scans. */
export interface Scanner extends ScanState {
  readonly automaton: Automaton;
  /** The tree of the automaton. */
  readonly tree: () => AnchorTree;
  readonly table: DetectorTable;
  /** Per detector, its compiled form, created when it is first tried. */
  readonly compiled_detectors: (CompiledDetector | undefined)[];
  readonly rows: ShapeFilter;
  /** Per detector whether it is enabled; `UNRESOLVED` until one of its anchors occurs. */
  readonly enabled_states: Uint8Array;
  readonly isEnabled: (identity: DetectorIdentity) => boolean;
  /** Per anchor, the number of its detector (or of a signal), and its length in units. */
  readonly anchor_detector: Int32Array;
  readonly anchor_length: Int32Array;
  readonly thresholds: InjectionThresholds;
}

/** Per detector, within one scan: the end of its last match, and the start of its last failed try. */
interface ScanState {
  readonly matched_until: Int32Array;
  readonly failed_at: Int32Array;
  /** The detectors with a match or a failed try: few of them, so that a short text resets few. */
  readonly tried_detectors: number[];
}

/**
 * Spans of a text that can be encoded or disguised: windows with escapes, possible starts of base64 or base16 runs,
 * and windows with misspelled words.
 */
export interface DecodingCandidates extends LayoutPlaces {
  /** Word spans with layout behind them, which can be in an anchor. Ascending by their ends. */
  readonly layout_spans: number[];
  readonly windows: Windows;
  readonly blob_starts: number[];
  readonly spelling_windows: Windows;
}

/** The detectors that are tried on a text: those of words, or all. */
export type TriedDetectors = 'words' | 'all';

/** Values of `enabled_states`. */
const UNRESOLVED = 0;
const ENABLED = 1;
const DISABLED = 2;

/** Owners of anchors without a detector: for windows, blob starts, spellings, layout and telling words. */
const ESCAPE_SIGNAL = -1;
export const BLOB_SIGNAL = -2;
const SPELLING_SIGNAL = -3;
export const LAYOUT_SIGNAL = -4;
const TELLING_SIGNAL = -5;
/** In the order of their anchors, which follow those of the detectors. */
const SIGNALS = [ESCAPE_SIGNAL, BLOB_SIGNAL, SPELLING_SIGNAL, LAYOUT_SIGNAL, TELLING_SIGNAL];

/** No try of a detector failed yet. */
const NO_TRY = -1;

/** The work of scoring one phrase. */
const PHRASE_WORK = 512;
/** The cost of an anchor that only its wider notation admits. */
const ANCHOR_CHECK_WORK = 4;

/** Phrases are scored after this many; those on both sides of such a cut are not added up. */
const PHRASES_MAX = 512;

const hits = createAnchorHits();

/** Returns the compiled form of a detector. */
export function getCompiledDetector({ table, compiled_detectors }: Scanner, index: number): CompiledDetector {
  compiled_detectors[index] ??= compileDetector(table.detectorAt(index));
  return compiled_detectors[index];
}

/** Returns whether a detector is enabled by the scanner's settings. */
export function isDetectorEnabled({ table, enabled_states, isEnabled }: Scanner, index: number): boolean {
  if (enabled_states[index] === UNRESOLVED)
    enabled_states[index] = isEnabled(table.identityAt(index)) ? ENABLED : DISABLED;
  return enabled_states[index] === ENABLED;
}

/** Returns the anchors of each detector, then those of the signals, in the order of their numbers. */
export function collectNotations(detectors: readonly Detector[]): AnchorNotations {
  return [
    ...detectors.map(({ anchors }) => anchors),
    decodingSignals,
    blobSignals,
    listSpellingSignals(),
    listLayoutSignals(detectors.flatMap(({ anchors, is_telling }) => (is_telling ? anchors : []))),
    listTellingWords(),
  ];
}

/** Compiles the anchors of notations. Throws if one is malformed. */
export function compileAnchors(notations: AnchorNotations): AnchorSet {
  const { counts, classes, tree } = buildAnchorTree(notations);
  return {
    counts: Int32Array.from(counts),
    lengths: tree.lengths,
    trie: buildTrie(tree, classes),
    tree: () => tree,
  };
}

/** Builds the tree of the notations. Throws if one is malformed. */
export function buildAnchorTree(notations: AnchorNotations): CompiledAnchorTree {
  const anchors = notations.map((list) => list.flatMap(parseAnchor));
  const tree = growAnchorTree(anchors.flat());
  return { counts: anchors.map(({ length }) => length), classes: classifyUnits(tree.sets), tree };
}

/** Compiles a scanner. Throws if an anchor is malformed. */
export function compileScanner(
  detectors: readonly Detector[],
  thresholds: InjectionThresholds = DEFAULT_INJECTION_THRESHOLDS,
): Scanner {
  return buildScanner(
    createDetectorTable(detectors),
    compileAnchors(collectNotations(detectors)),
    thresholds,
  );
}

/** Builds a scanner of the detectors of a table, with their anchors. */
export function buildScanner(
  table: DetectorTable,
  { counts, lengths, trie, tree }: AnchorSet,
  thresholds: InjectionThresholds = DEFAULT_INJECTION_THRESHOLDS,
): Scanner {
  const { count } = table;
  const anchorDetector = mapAnchorsToDetectors(counts, count, lengths.length);
  return {
    automaton: createAutomaton(trie),
    tree,
    table,
    compiled_detectors: createEmptyList(count),
    rows: createShapeFilter(table, anchorDetector, lengths),
    enabled_states: new Uint8Array(count),
    isEnabled: () => true,
    anchor_detector: anchorDetector,
    anchor_length: lengths,
    ...createScanState(count),
    thresholds,
  };
}

/** Returns a list with one entry per detector, which the engine stores as one block of memory. */
function createEmptyList<Value>(count: number): (Value | undefined)[] {
  return new Array<Value | undefined>(count).fill(undefined);
}

/**
 * Returns the scanner with only some of its detectors, more detectors at the end, and other thresholds. Without more
 * detectors it shares all large tables.
 */
export function deriveScanner(
  scanner: Scanner,
  isEnabled: (identity: DetectorIdentity) => boolean,
  more: readonly Detector[],
  thresholds: InjectionThresholds,
): Scanner {
  const count = scanner.table.count + more.length;
  return {
    ...(more.length === 0 ? scanner : withMore(scanner, more)),
    enabled_states: new Uint8Array(count),
    isEnabled,
    ...createScanState(count),
    thresholds,
  };
}

function withMore(scanner: Scanner, more: readonly Detector[]): Scanner {
  const first = scanner.table.count;
  const anchors = more.map((detector) => detector.anchors.flatMap(parseAnchor));
  const tree = growAnchorTree(anchors.flat(), scanner.tree());
  const users = anchors.flatMap((of, index) => of.map(() => first + index));
  const table = appendDetectors(scanner.table, more);
  const anchorDetector = Int32Array.from([...scanner.anchor_detector, ...users]);
  return {
    ...scanner,
    automaton: createAutomaton(buildTrie(tree)),
    tree: () => tree,
    table,
    compiled_detectors: [...scanner.compiled_detectors, ...createEmptyList<CompiledDetector>(more.length)],
    rows: createShapeFilter(table, anchorDetector, tree.lengths),
    anchor_detector: anchorDetector,
    anchor_length: tree.lengths,
  };
}

/** Returns where the try at an anchor starts; -1 if only the wider notation of the anchor admits it. */
function findTryStart(
  compiled: CompiledDetector,
  text: string,
  from: number,
  anchorEnd: number,
  meter: WorkMeter,
): number {
  if (compiled.detector.anchorCheck?.(text, from, anchorEnd) === false) {
    meter.work += ANCHOR_CHECK_WORK;
    return -1;
  }
  return compiled.back_over === null
    ? from
    : findMatchStart(text, from, compiled.back_over, compiled.back_units_max);
}

/**
 * Returns the owner of each anchor. `counts` has the number of anchors of each detector, then of each kind of signal.
 */
function mapAnchorsToDetectors(counts: Int32Array, detectors: number, anchors: number): Int32Array {
  const compiledDetectors = new Int32Array(anchors);
  let from = 0;
  counts.forEach((count, index) => {
    const compiled = index < detectors ? index : SIGNALS[index - detectors]!;
    compiledDetectors.fill(compiled, from, from + count);
    from += count;
  });
  return compiledDetectors;
}

/**
 * Walks the text once, and its words where layout may hide a phrase. Adds findings to `matches`, and spans that need decoding
 * to `places`. Stops when there are `matches_max` matches or the meter is exceeded. Matches of one detector do not
 * overlap. Returns whether the text has any anchor.
 */
export function scanText(
  scanner: Scanner,
  text: string,
  matches: Match[],
  matchesMax: number,
  meter: WorkMeter = { work: 0, allowed: Number.POSITIVE_INFINITY },
  places: DecodingCandidates = startPlaces(),
): boolean {
  const reading = startQuotationReading(text);
  const phrases: PhraseMatch[] = [];
  const scan: TextScan = { scanner, matches, matches_max: matchesMax, meter, places, reading };
  const hasAnchors = walkText(scan, text, 'all', phrases);
  const spans = findWordPlaces(scanner, text, places, meter);
  const words = spans.length > 0 ? readWords(text, spans) : null;
  if (words !== null) {
    const found: Match[] = [];
    meter.work += words.text.length;
    walkText({ ...scan, scanner: withOwnState(scanner) }, words.text, 'words', found);
    for (const { detector, start, end } of found)
      phrases.push({ detector, ...toSourceSpan(words, start, end), in_words: { start, end } });
  }
  if (phrases.length > 0) scorePhrases(reading, phrases, matches, scanner.thresholds, words?.text);
  return hasAnchors;
}

const innerScanners = new WeakMap<Scanner, Scanner>();

/** Returns the same scanner with its own scan state. */
export function withOwnState(scanner: Scanner): Scanner {
  const known = innerScanners.get(scanner);
  if (known !== undefined) return known;
  const inner = { ...scanner, ...createScanState(scanner.table.count) };
  innerScanners.set(scanner, inner);
  return inner;
}

/** Creates an empty list of spans. */
export function startPlaces(): DecodingCandidates {
  return {
    windows: [],
    blob_starts: [],
    spelling_windows: [],
    layout_spans: [],
    telling_starts: [],
    failed_starts: [],
  };
}

interface TextScan {
  readonly scanner: Scanner;
  readonly matches: Match[];
  readonly matches_max: number;
  readonly meter: WorkMeter;
  readonly places: DecodingCandidates;
  readonly reading: QuotationReading;
}

/** Walks the text of a scan, or its words. Returns whether there is an anchor in it. */
function walkText(
  { scanner, matches, matches_max, meter, places, reading }: TextScan,
  text: string,
  tried: TriedDetectors,
  phrases: Match[],
): boolean {
  const { automaton } = scanner;
  let place = getStartPosition(automaton);
  let hasAnchors = false;
  let isOver = matches.length >= matches_max || meter.work > meter.allowed;
  meter.work += text.length;
  for (let from = 0; from < text.length && !isOver; from += PART_UNITS) {
    place = walkAutomaton(
      automaton,
      place,
      text,
      from,
      Math.min(text.length, from + PART_UNITS),
      hits,
      meter,
    );
    for (let hit = 0; hit < hits.count && !isOver; hit++) {
      if (!hasAnchors) resetScanState(scanner);
      hasAnchors = true;
      tryAnchors(scanner, text, hits.ends[hit]!, hits.states[hit]!, tried, matches, phrases, meter, places);
      if (phrases.length >= PHRASES_MAX && tried === 'all')
        scorePhrases(reading, phrases.splice(0), matches, scanner.thresholds);
      isOver = matches.length >= matches_max || meter.work > meter.allowed;
    }
    isOver ||= meter.work > meter.allowed;
  }
  return hasAnchors;
}

/**
 * Returns the detectors with `member` whose key pattern matches this key. The key must be the last scanned text: only
 * detectors with an anchor in it are checked.
 */
export function findMemberDetectors(scanner: Scanner, key: string): readonly Detector[] {
  const { table } = scanner;
  const cues: Detector[] = [];
  for (const index of table.member_detectors) {
    if (!hasTried(scanner, index)) continue;
    const { detector } = getCompiledDetector(scanner, index);
    if (detector.member!.key.test(key)) cues.push(detector);
  }
  return cues;
}

/** Creates the state of scans with a number of detectors. */
export function createScanState(count: number): ScanState {
  return {
    matched_until: new Int32Array(count),
    failed_at: new Int32Array(count).fill(NO_TRY),
    tried_detectors: [],
  };
}

/** Resets the state of the previous scan. */
export function resetScanState({ matched_until, failed_at, tried_detectors }: ScanState): void {
  for (const index of tried_detectors) {
    matched_until[index] = 0;
    failed_at[index] = NO_TRY;
  }
  tried_detectors.length = 0;
}

function hasTried({ matched_until, failed_at }: ScanState, index: number): boolean {
  return failed_at[index] !== NO_TRY || matched_until[index] !== 0;
}

/** Notes the place of an anchor without a detector. */
export function noteSignal(
  signal: number,
  text: string,
  from: number,
  end: number,
  { windows, blob_starts, spelling_windows, layout_spans, telling_starts }: DecodingCandidates,
): void {
  if (signal === ESCAPE_SIGNAL) addWindow(windows, from, end);
  else if (signal === BLOB_SIGNAL) blob_starts.push(from);
  else if (signal === SPELLING_SIGNAL) addWindow(spelling_windows, from, end);
  else if (signal === TELLING_SIGNAL) telling_starts.push(from);
  else if (text[from] !== '_') noteLayout(layout_spans, from, end);
  else if (isUnderscored(text, from)) telling_starts.push(from);
}

/**
 * Tries the detectors whose anchors end at an offset, in a state of the automaton, and notes the spans that need
 * decoding.
 */
export function tryAnchors(
  scanner: Scanner,
  text: string,
  anchorEnd: number,
  state: number,
  tried: TriedDetectors,
  matches: Match[],
  phrases: Match[],
  meter: WorkMeter,
  places: DecodingCandidates,
): void {
  const { automaton, anchor_detector, anchor_length } = scanner;
  const { anchors, units } = filterAnchors(
    scanner.rows,
    text,
    anchorEnd,
    state,
    automaton.endings[state]!,
    meter,
  );
  let digits = '';
  let digitsUnits = 0;
  for (let at = 0; at < anchors.length; at++) {
    const anchor = anchors[at]!;
    const index = anchor_detector[anchor]!;
    const from = anchorEnd - anchor_length[anchor]!;
    if (index < 0) {
      if (tried === 'all') noteSignal(index, text, from, anchorEnd, places);
      continue;
    }
    if (scanner.enabled_states[index] !== ENABLED && !isDetectorEnabled(scanner, index)) continue;
    const compiled = scanner.compiled_detectors[index] ?? getCompiledDetector(scanner, index);
    if (tried === 'words' && !compiled.is_words) continue;
    const start = findTryStart(compiled, text, from, anchorEnd, meter);
    if (start < scanner.matched_until[index]! || start === scanner.failed_at[index]!) continue;
    if (units[at]! > 0 && units[at] !== digitsUnits) {
      digitsUnits = units[at]!;
      digits = extractDigits(text, start, start + digitsUnits);
    }
    const isWrong = units[at]! > 0 && !hasValidDigits(compiled, digits, digitsUnits, meter);
    const match = isWrong
      ? null
      : (tryMatch(compiled, text, start, scanner.matched_until[index]!, meter) ??
        (compiled.can_join_parts ? tryJoinedMatch(compiled, text, start, meter) : null));
    if (!hasTried(scanner, index)) scanner.tried_detectors.push(index);
    if (match === null) {
      scanner.failed_at[index] = start;
      if (tried === 'all' && compiled.is_telling) places.failed_starts.push(from);
      continue;
    }
    scanner.matched_until[index] = match.end;
    if (compiled.detector.weight === undefined) matches.push(match);
    else {
      meter.work += PHRASE_WORK;
      phrases.push(match);
    }
  }
}
