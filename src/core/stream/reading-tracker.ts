/**
 * Tracks a growing text both literally and as it is decoded. As soon as a part has another reading, a shadow text,
 * in which encoded or disguised parts are decoded, is scanned in parallel. The shadow decides which text must be
 * held and scanned again. The findings themselves come from `scanDecoded` on the text.
 */
import { findBlobs } from '../detect/matching/views/blobs.ts';
import { decodeAt, RTL_OVERRIDE, SPACED_LETTERS } from '../detect/matching/views/decode-view.ts';
import {
  BACKSLASH_ESCAPE,
  COLOUR_REMAINDER,
  ENTITY,
  STRING_JOIN,
  TERMINAL_SEQUENCE,
} from '../detect/matching/views/escapes.ts';
import type { Blob } from '../detect/matching/views/readable-bytes.ts';
import {
  addViewPiece,
  isChangedInView,
  startView,
  toSource,
  type ViewBuilder,
} from '../detect/matching/views/view.ts';
import {
  advanceTracker,
  findMatchFront,
  finishTracker,
  type MatchTracker,
  startMatchTracker,
} from './match-tracker.ts';
import {
  type AutomatonState,
  advanceState,
  buildAutomaton,
  type PatternAutomaton,
} from './pattern-automaton.ts';
import { findSpacedLetters, type SpacedLetters } from './spaced-letters.ts';
import { appendText, createTextBuffer, readBuffer, sliceBuffer, trimBuffer } from './text-buffer.ts';

/** The state of reading one text. */
export interface ReadingTracker {
  readonly tracker: MatchTracker;
  readonly depth: number;
  /** The offset up to which all other readings are known. */
  read_until: number;
  /** A possible escape that begins at `read_until` and is not complete yet. */
  opening: EscapeOpening | null;
  /** The text with escapes, entities and hidden characters decoded. */
  shadow: Shadow | null;
  /** One for each blob that has ended, with that blob decoded. */
  readonly blobs: Shadow[];
  has_had_blobs: boolean;
  readonly runs: OpenRun[];
  /** Spaced letters at the end of the text that may still continue. */
  apart: SpacedLetters;
  /** Spans that may hold a finding once their readings are scanned; the caller removes them. */
  readonly suspects: SuspectSpan[];
}

/** A span of the text that may hold a finding which exists only in its decoded reading. */
export interface SuspectSpan {
  readonly start: number;
  readonly end: number;
  /** `true` if the span counts only when a nearby signal confirms that the text has another reading there. */
  readonly is_unconfirmed: boolean;
}

interface Progress {
  readonly liveness: PatternAutomaton;
  state: AutomatonState;
  at: number;
}

interface EscapeOpening extends Progress {
  /** A match that the escape belongs to may begin here. */
  readonly from: number;
}

/** An unfinished blob, or text after a right-to-left override, which is also read from its end. */
interface OpenRun extends Progress {
  readonly start: number;
  readonly from: number;
  /** The offset at which the next check decides whether the run is a blob. */
  check_at: number;
  /** Offsets at which blobs may begin if this one ends before them. */
  readonly others: number[];
}

interface Shadow {
  readonly reader: ReadingTracker;
  readonly view: ViewBuilder;
  /** The offset up to which the text was added to the shadow. */
  fed_until: number;
  decoded_at: number;
}

/** The maximum nesting of encodings that are decoded. */
const DEPTH_MAX = 3;
/** The text before a match that may change its meaning, in units. */
const CONTEXT_UNITS = 256;
const BLOB_CHECK_UNITS = 32;

const ODD = /[^\t-\r -!#$(-Z\]-_a-~]/g;
/** With two more units, because those after the join decide whether it is a possessive. */
const JOINED = buildAutomaton(new RegExp(`${STRING_JOIN.source}[\\s\\S]{2}`));
const ESCAPES: Readonly<Record<string, PatternAutomaton | undefined>> = {
  '%': buildAutomaton(/(?:%[0-9a-fA-F]{2}){1,4}/),
  '&': buildAutomaton(ENTITY),
  '\\': buildAutomaton(BACKSLASH_ESCAPE),
  '"': JOINED,
  "'": JOINED,
  '`': JOINED,
  '[': buildAutomaton(COLOUR_REMAINDER),
  '\u001b': buildAutomaton(TERMINAL_SEQUENCE),
  '\u009b': buildAutomaton(TERMINAL_SEQUENCE),
  '\u009d': buildAutomaton(TERMINAL_SEQUENCE),
};
const HIDDEN = buildAutomaton(/(?:[\ufe00-\ufe0f]|\udb40[\udc00-\udfff]?)*/);
const FROM_ITS_END = buildAutomaton(RTL_OVERRIDE);
/** Text that may follow an unfinished blob: padding, or the beginning of its next line. */
const MAY_GO_ON = /^={0,2}(?:\r?\n? *[\w+/-]{0,4})$/;
const BLOB = buildAutomaton(/(?:[A-Za-z0-9+/_-]+={0,2}(?:\r?\n *)?)*/);

/** Starts a reading tracker at the beginning of a text. */
export function startReadingTracker(tracker: MatchTracker, depth = 0): ReadingTracker {
  return {
    tracker,
    depth,
    read_until: tracker.at,
    opening: null,
    shadow: null,
    blobs: [],
    has_had_blobs: false,
    runs: [],
    apart: { start: tracker.at, last: tracker.at },
    suspects: [],
  };
}

/** Reads the piece that was just appended to the text. With `isLast`, everything that is open is decided. */
export function feedReadingTracker(reader: ReadingTracker, piece: string, isLast: boolean): void {
  const { tracker } = reader;
  const { text } = tracker;
  const from = text.end - piece.length;
  if (reader.depth < DEPTH_MAX) readOdd(reader, piece, from, isLast);
  advanceTracker(tracker, piece.slice(tracker.at - from));
  if (isLast) finishTracker(tracker);
  if (reader.depth < DEPTH_MAX) {
    startRuns(reader);
    stepRuns(reader, isLast);
    if (reader.depth === 0) readApart(reader, isLast);
    castShadows(reader, isLast);
  }
}

/** Returns the offset of the first unit that may still belong to a match in any reading. */
export function findReadingFront({
  tracker,
  opening,
  shadow,
  blobs,
  runs,
  depth,
  apart,
}: ReadingTracker): number {
  let front = findMatchFront(tracker);
  if (depth === 0) front = Math.min(front, apart.start);
  if (opening !== null) front = Math.min(front, opening.from);
  for (const { from } of runs) front = Math.min(front, from);
  if (shadow !== null) front = Math.min(front, getShadowFront(shadow));
  return blobs.reduce((least, blob) => Math.min(least, getShadowFront(blob)), front);
}

/** Decodes the parts that have another reading, in order. It waits while more text could change a reading. */
function readOdd(reader: ReadingTracker, piece: string, from: number, isLast: boolean): void {
  const { text } = reader.tracker;
  for (;;) {
    const at = reader.opening === null ? findNextOdd(reader, piece, from) : reader.read_until;
    reader.read_until = at;
    if (at >= text.end) return;
    if (isOpen(reader, at) && !isLast) return;
    const decoded = decodeAt(readBuffer(text), at - text.base, text.end - text.base);
    if (decoded !== null) {
      const held = reader.opening?.from ?? findHeldFront(reader, at);
      reader.read_until = decoded.end + text.base;
      addToShadow(reader, decoded.text, at, held);
    } else reader.read_until = at + 1;
    reader.opening = null;
  }
}

function findNextOdd({ tracker: { text }, read_until }: ReadingTracker, piece: string, from: number): number {
  const isOlder = read_until < from;
  const units = isOlder ? readBuffer(text) : piece;
  const start = isOlder ? text.base : from;
  ODD.lastIndex = read_until - start;
  const found = ODD.exec(units);
  return found === null ? text.end : found.index + start;
}

/** Returns the offset at which a match may begin that includes the unit at `at`. */
function findHeldFront({ tracker }: ReadingTracker, at: number): number {
  if (tracker.at < at) advanceTracker(tracker, sliceBuffer(tracker.text, tracker.at, at));
  return tracker.at === at ? Math.min(findMatchFront(tracker), at) : at;
}

/** Returns whether an incomplete escape may begin at the offset. */
function isOpen(reader: ReadingTracker, at: number): boolean {
  const { text } = reader.tracker;
  if (reader.opening === null) {
    const liveness = escapeAt(readBuffer(text), at - text.base);
    if (liveness === null) return false;
    const opening = { liveness, state: liveness.first, at, from: at };
    advanceProgress(opening, reader.tracker);
    if (opening.state.is_open) reader.opening = { ...opening, from: findHeldFront(reader, at) };
    return opening.state.is_open;
  }
  advanceProgress(reader.opening, reader.tracker);
  return reader.opening.state.is_open;
}

function escapeAt(text: string, at: number): PatternAutomaton | null {
  const unit = text.charCodeAt(at);
  if (unit < 0xa0) return ESCAPES[text[at]!] ?? null;
  return unit === 0xdb40 || (unit >= 0xfe00 && unit <= 0xfe0f) ? HIDDEN : null;
}

function advanceProgress(progress: Progress, { text, meter }: MatchTracker): void {
  const units = readBuffer(text);
  const from = progress.at;
  for (; progress.at < text.end && progress.state.is_open; progress.at++)
    progress.state = advanceState(
      progress.liveness,
      progress.state,
      units.charCodeAt(progress.at - text.base),
    );
  meter.work += progress.at - from;
}

/**
 * Adds the decoded text of the units from `at` to `read_until`. A new shadow begins before any match that may be
 * open.
 */
function addToShadow(reader: ReadingTracker, decoded: string, at: number, held: number): void {
  reader.shadow ??= createShadow(reader, held);
  castDecoded(reader, reader.shadow, { start: at, end: reader.read_until, text: decoded });
}

function createShadow({ tracker, depth }: ReadingTracker, held: number): Shadow {
  const start = Math.max(tracker.text.base, held - CONTEXT_UNITS);
  const inner = startMatchTracker(tracker.scanner, createTextBuffer(), tracker.holds, tracker.meter);
  return {
    reader: startReadingTracker(inner, depth + 1),
    view: startView(),
    fed_until: start,
    decoded_at: start,
  };
}

/** Feeds the shadows and drops those that can no longer find anything. */
function castShadows(reader: ReadingTracker, isLast: boolean): void {
  const { shadow, blobs, opening, tracker } = reader;
  const { end } = tracker.text;
  if (shadow !== null && castShadow(reader, shadow, opening === null ? end : reader.read_until, isLast))
    reader.shadow = null;
  let kept = 0;
  for (const blob of blobs) if (!castShadow(reader, blob, end, isLast)) blobs[kept++] = blob;
  blobs.length = kept;
}

/**
 * Feeds one shadow. Returns whether every match it may still find would be found in the literal text as well.
 */
function castShadow(reader: ReadingTracker, shadow: Shadow, to: number, isLast: boolean): boolean {
  castPlain(shadow, reader.tracker, to);
  if (isLast) feedReadingTracker(shadow.reader, '', true);
  takeSuspects(reader, shadow, shadow === reader.shadow);
  const quietFrom = shadow.decoded_at + CONTEXT_UNITS;
  return shadow.fed_until > quietFrom && getShadowFront(shadow) > quietFrom;
}

function castDecoded({ tracker }: ReadingTracker, shadow: Shadow, { start, end, text }: Blob): void {
  castPlain(shadow, tracker, start);
  addViewPiece(shadow.view, text, start, end, true);
  feedShadow(shadow, text);
  shadow.fed_until = end;
  shadow.decoded_at = end;
}

function castPlain(shadow: Shadow, { text }: MatchTracker, to: number): void {
  const { view, fed_until } = shadow;
  if (to <= fed_until) return;
  const units = sliceBuffer(text, fed_until, to);
  const last = view.source_ends.length - 1;
  if (last >= 0 && !view.is_decoded[last]) {
    view.source_ends[last] = to;
    view.length += units.length;
  } else addViewPiece(view, units, fed_until, to, false);
  feedShadow(shadow, units);
  shadow.fed_until = to;
}

function feedShadow({ reader }: Shadow, units: string): void {
  const { text } = reader.tracker;
  appendText(text, units);
  feedReadingTracker(reader, units, false);
  trimBuffer(text, () => findReadingFront(reader));
}

/** Moves the matches of the shadow that the literal text does not contain to `suspects`. */
function takeSuspects(reader: ReadingTracker, shadow: Shadow, isUnconfirmed: boolean): void {
  const { tracker, suspects } = shadow.reader;
  const view = { text: '', ...shadow.view };
  for (const { detector, start, end } of tracker.matches.splice(0)) {
    if (!isChangedInView(view, start, end)) continue;
    const span = toSource(view, start, end);
    const isPlain = reader.tracker.matches.some(
      (match) => match.detector === detector && match.start === span.start && match.end === span.end,
    );
    if (!isPlain) reader.suspects.push({ ...span, is_unconfirmed: isUnconfirmed });
  }
  for (const each of suspects.splice(0)) {
    const span = toSource(view, each.start, each.end);
    reader.suspects.push({ ...span, is_unconfirmed: isUnconfirmed || each.is_unconfirmed });
  }
  tracker.phrases.length = 0;
}

function getShadowFront({ reader, view, fed_until }: Shadow): number {
  const inner = findReadingFront(reader);
  return inner < view.length ? toSource({ text: '', ...view }, inner, inner + 1).start : fed_until;
}

/** Starts runs at the anchors that the walk has passed. */
function startRuns(reader: ReadingTracker): void {
  const { tracker, runs, depth } = reader;
  const { text } = tracker;
  if (tracker.blob_starts.length + tracker.signals.length === 0) return;
  const front = findMatchFront(tracker);
  for (const start of tracker.blob_starts.splice(0)) openBlob(reader, start, front);
  if (depth > 0) tracker.signals.length = 0;
  for (const start of tracker.signals) {
    if (readBuffer(text)[start - text.base] !== '\u202e') continue;
    // An override ends the one before it, so none is within another. Several signals can name the same one.
    if (runs.some((run) => run.liveness === FROM_ITS_END && run.start === start)) continue;
    const run = runAt(FROM_ITS_END, start, front);
    advanceProgress(run, tracker);
    runs.push(run);
  }
}

/** Adds spaced letters to the suspects once it is clear where they end. */
function readApart(reader: ReadingTracker, isLast: boolean): void {
  const { tracker, suspects, apart } = reader;
  const { text, meter } = tracker;
  const { base, end } = text;
  const known = { start: apart.start - base, last: apart.last - base };
  const now = isLast ? { start: end - base, last: end - base } : findSpacedLetters(readBuffer(text), known);
  reader.apart = { start: now.start + base, last: now.last + base };
  if (reader.apart.start <= apart.start) return;
  const before = Math.max(base, apart.start - 1);
  const units = sliceBuffer(text, before, reader.apart.start);
  for (const { 0: run, index } of units.matchAll(SPACED_LETTERS))
    suspects.push({ start: before + index, end: before + index + run.length, is_unconfirmed: true });
  meter.work += units.length;
}

function isWithin(run: OpenRun, start: number): boolean {
  return run.start <= start && (run.state.is_open || start < run.at);
}

/**
 * Starts a blob unless another one includes its start. Such starts are kept, because that blob may end before them.
 */
function openBlob(reader: ReadingTracker, start: number, front: number): void {
  const around = reader.runs.find((run) => run.liveness === BLOB && isWithin(run, start));
  if (around !== undefined) around.others.push(start);
  else stepRun(reader, runAt(BLOB, start, front), false);
}

function runAt(liveness: PatternAutomaton, start: number, front: number): OpenRun {
  return {
    liveness,
    state: liveness.first,
    at: start,
    start,
    from: Math.min(start, front),
    check_at: start + BLOB_CHECK_UNITS,
    others: [],
  };
}

function stepRuns(reader: ReadingTracker, isLast: boolean): void {
  for (const run of reader.runs.splice(0)) stepRun(reader, run, isLast);
}

/** Advances a run. It stays among the runs, or becomes a suspect if it has ended. */
function stepRun(reader: ReadingTracker, run: OpenRun, isLast: boolean): void {
  const { tracker, runs, suspects } = reader;
  if (run.liveness === BLOB) {
    const end = stepBlob(reader, run, isLast);
    if (end !== null) for (const start of run.others) if (start >= end) openBlob(reader, start, start);
    return;
  }
  const end = runEnd(run, tracker, isLast);
  if (end === null) runs.push(run);
  else suspects.push({ start: run.from, end, is_unconfirmed: false });
}

/** Returns the end of a finished blob, or its start if it is not a blob; `null` while it continues. */
function stepBlob(reader: ReadingTracker, run: OpenRun, isLast: boolean): number | null {
  const blob = getBlob(run, reader.tracker, isLast);
  if (blob === 'open') {
    reader.runs.push(run);
    return null;
  }
  if (blob === null) return run.start;
  const shadow = createShadow(reader, run.from);
  castDecoded(reader, shadow, { ...blob, start: run.start, end: run.start + blob.end });
  reader.blobs.push(shadow);
  reader.has_had_blobs = true;
  return run.start + blob.end;
}

/** Returns the end of a run; `null` while it continues. */
function runEnd(run: OpenRun, tracker: MatchTracker, isLast: boolean): number | null {
  advanceProgress(run, tracker);
  const isOver = isLast || !run.state.is_open || run.at - run.start >= run.liveness.units_max;
  return isOver ? run.at : null;
}

/**
 * Returns the blob of a run, with offsets relative to the start of the run; `null` if there is none. The search
 * runs each time the length of the run has doubled. Unreadable text is therefore rejected early and the cost stays
 * linear.
 */
function getBlob(run: OpenRun, tracker: MatchTracker, isLast: boolean): Blob | null | 'open' {
  const { text } = tracker;
  for (; run.check_at <= text.end; run.check_at += run.check_at - run.start) {
    const units = sliceBuffer(text, run.start, run.check_at);
    const [blob] = findBlobs(units, [0]);
    if (blob === undefined) return null;
    if (!MAY_GO_ON.test(units.slice(blob.end))) return blob;
  }
  const end = runEnd(run, tracker, isLast);
  if (end === null) return 'open';
  const [blob] = findBlobs(sliceBuffer(text, run.start, Math.min(text.end, end + 1)), [0]);
  return blob ?? null;
}
