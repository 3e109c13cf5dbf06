/**
 * A growing text, read as it stands and as it reads: a shadow of it, in which what is encoded or disguised is
 * decoded, is looked at beside it as soon as something reads otherwise. The shadow says what must be held, and
 * what to look at again; findings come from the readings of the text itself.
 */
import { type Blob, findBlobs } from '../detect/matching/views/blobs.ts';
import { decodeAt, RTL_OVERRIDE, SPACED_LETTERS } from '../detect/matching/views/decode-view.ts';
import {
  BACKSLASH_ESCAPE,
  COLOUR_REMAINDER,
  ENTITY,
  STRING_JOIN,
  TERMINAL_SEQUENCE,
} from '../detect/matching/views/escapes.ts';
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

/** A text while it is read. */
export interface ReadingTracker {
  readonly tracker: MatchTracker;
  readonly depth: number;
  /** Up to here it is known what reads otherwise. */
  read_until: number;
  /** What begins at `read_until` and may be an escape, when more has come. */
  opening: Opening | null;
  /** With escapes and the like decoded. */
  shadow: Shadow | null;
  /** One for each blob that has ended, with that blob decoded. */
  readonly blobs: Shadow[];
  has_had_blobs: boolean;
  readonly runs: Run[];
  /** Letters that stand apart, of which it is not clear where they end. */
  apart: SpacedLetters;
  /** What may be found when the readings are looked at, until it is taken out. */
  readonly suspects: SuspectSpan[];
}

/** A part of a text that may hold a finding which shows only as it reads. */
export interface SuspectSpan {
  readonly start: number;
  readonly end: number;
  /** Whether it counts only if something near says that the text reads otherwise there. */
  readonly is_unconfirmed: boolean;
}

interface Progress {
  readonly liveness: PatternAutomaton;
  state: AutomatonState;
  at: number;
}

interface Opening extends Progress {
  /** A match that the escape belongs to may begin here. */
  readonly from: number;
}

/** Text from its end, or a blob, while it goes on. */
interface Run extends Progress {
  readonly start: number;
  readonly from: number;
  /** When it is looked at next whether a blob is one. */
  check_at: number;
  /** Where blobs may begin if this one ends before. */
  readonly others: number[];
}

interface Shadow {
  readonly reader: ReadingTracker;
  readonly view: ViewBuilder;
  /** How much of the text is in it. */
  fed_until: number;
  decoded_at: number;
}

/** Encodings within encodings are read so many levels deep. */
const DEPTH_MAX = 3;
/** What stands before a match may explain it. */
const CONTEXT_UNITS = 256;
const BLOB_CHECK_UNITS = 32;

const ODD = /[^\t-\r -!#$(-Z\]-_a-~]/g;
const ESCAPES: Readonly<Record<string, PatternAutomaton | undefined>> = {
  '%': buildAutomaton(/(?:%[0-9a-fA-F]{2}){1,4}/),
  '&': buildAutomaton(ENTITY),
  '\\': buildAutomaton(BACKSLASH_ESCAPE),
  '"': buildAutomaton(STRING_JOIN),
  "'": buildAutomaton(STRING_JOIN),
  '`': buildAutomaton(STRING_JOIN),
  '[': buildAutomaton(COLOUR_REMAINDER),
  '\u001b': buildAutomaton(TERMINAL_SEQUENCE),
  '\u009b': buildAutomaton(TERMINAL_SEQUENCE),
  '\u009d': buildAutomaton(TERMINAL_SEQUENCE),
};
const HIDDEN = buildAutomaton(/(?:[\ufe00-\ufe0f]|\udb40[\udc00-\udfff]?)*/);
const FROM_ITS_END = buildAutomaton(RTL_OVERRIDE);
/** What may stand behind a blob that goes on: padding, or the beginning of its next line. */
const MAY_GO_ON = /^={0,2}(?:\r?\n? *[\w+/-]{0,4})$/;
const BLOB = buildAutomaton(/(?:[A-Za-z0-9+/_-]+={0,2}(?:\r?\n *)?)*/);

/** A reader at the beginning of a text. */
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

/** Reads the piece with which the text ends; where it is the last, what is open is decided as it stands. */
export function feedReadingTracker(reader: ReadingTracker, piece: string, is_last: boolean): void {
  const { tracker } = reader;
  const { text } = tracker;
  const from = text.end - piece.length;
  if (reader.depth < DEPTH_MAX) readOdd(reader, piece, from, is_last);
  advanceTracker(tracker, piece.slice(tracker.at - from));
  if (is_last) finishTracker(tracker);
  if (reader.depth < DEPTH_MAX) {
    startRuns(reader);
    stepRuns(reader, is_last);
    if (reader.depth === 0) readApart(reader, is_last);
    castShadows(reader, is_last);
  }
}

/** The first unit that may yet belong to a match in any reading. */
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
  if (shadow !== null) front = Math.min(front, shadowFront(shadow));
  return blobs.reduce((least, blob) => Math.min(least, shadowFront(blob)), front);
}

/** Looks at what may read otherwise, in order; it waits where more text could change how something reads. */
function readOdd(reader: ReadingTracker, piece: string, from: number, is_last: boolean): void {
  const { text } = reader.tracker;
  for (;;) {
    const at = reader.opening === null ? nextOdd(reader, piece, from) : reader.read_until;
    reader.read_until = at;
    if (at >= text.end) return;
    if (isOpen(reader, at) && !is_last) return;
    const decoded = decodeAt(readBuffer(text), at - text.base, text.end - text.base);
    if (decoded !== null) {
      const held = reader.opening?.from ?? heldAt(reader, at);
      reader.read_until = decoded.end + text.base;
      addToShadow(reader, decoded.text, at, held);
    } else reader.read_until = at + 1;
    reader.opening = null;
  }
}

function nextOdd({ tracker: { text }, read_until }: ReadingTracker, piece: string, from: number): number {
  const is_older = read_until < from;
  const units = is_older ? readBuffer(text) : piece;
  const start = is_older ? text.base : from;
  ODD.lastIndex = read_until - start;
  const found = ODD.exec(units);
  return found === null ? text.end : found.index + start;
}

/** Where a match may begin that what stands at the offset belongs to. */
function heldAt({ tracker }: ReadingTracker, at: number): number {
  if (tracker.at < at) advanceTracker(tracker, sliceBuffer(tracker.text, tracker.at, at));
  return tracker.at === at ? Math.min(findMatchFront(tracker), at) : at;
}

/** Whether what begins at the offset may be an escape that is not there as a whole. */
function isOpen(reader: ReadingTracker, at: number): boolean {
  const { text } = reader.tracker;
  if (reader.opening === null) {
    const liveness = escapeAt(readBuffer(text), at - text.base);
    if (liveness === null) return false;
    const opening = { liveness, state: liveness.first, at, from: at };
    goOn(opening, reader.tracker);
    if (opening.state.is_open) reader.opening = { ...opening, from: heldAt(reader, at) };
    return opening.state.is_open;
  }
  goOn(reader.opening, reader.tracker);
  return reader.opening.state.is_open;
}

function escapeAt(text: string, at: number): PatternAutomaton | null {
  const unit = text.charCodeAt(at);
  if (unit < 0xa0) return ESCAPES[text[at]!] ?? null;
  return unit === 0xdb40 || (unit >= 0xfe00 && unit <= 0xfe0f) ? HIDDEN : null;
}

function goOn(progress: Progress, { text, meter }: MatchTracker): void {
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

/** Adds what the units from `at` to where is read stand for; a shadow begins before where matches may begin. */
function addToShadow(reader: ReadingTracker, decoded: string, at: number, held: number): void {
  reader.shadow ??= shadowFrom(reader, held);
  castDecoded(reader, reader.shadow, { start: at, end: reader.read_until, text: decoded });
}

function shadowFrom({ tracker, depth }: ReadingTracker, held: number): Shadow {
  const start = Math.max(tracker.text.base, held - CONTEXT_UNITS);
  const inner = startMatchTracker(tracker.scanner, createTextBuffer(), tracker.holds, tracker.meter);
  return {
    reader: startReadingTracker(inner, depth + 1),
    view: startView(),
    fed_until: start,
    decoded_at: start,
  };
}

/** Takes the shadows on, and leaves those that have nothing more to say. */
function castShadows(reader: ReadingTracker, is_last: boolean): void {
  const { shadow, blobs, opening, tracker } = reader;
  const { end } = tracker.text;
  if (shadow !== null && castShadow(reader, shadow, opening === null ? end : reader.read_until, is_last))
    reader.shadow = null;
  let kept = 0;
  for (const blob of blobs) if (!castShadow(reader, blob, end, is_last)) blobs[kept++] = blob;
  blobs.length = kept;
}

/** Returns whether all that may be found in the shadow may be found in the text as it stands. */
function castShadow(reader: ReadingTracker, shadow: Shadow, to: number, is_last: boolean): boolean {
  castPlain(shadow, reader.tracker, to);
  if (is_last) feedReadingTracker(shadow.reader, '', true);
  takeSuspects(reader, shadow, shadow === reader.shadow);
  const quiet_from = shadow.decoded_at + CONTEXT_UNITS;
  return shadow.fed_until > quiet_from && shadowFront(shadow) > quiet_from;
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

/** What the shadow has found that the text does not hold as it stands. */
function takeSuspects(reader: ReadingTracker, shadow: Shadow, is_unconfirmed: boolean): void {
  const { tracker, suspects } = shadow.reader;
  const view = { text: '', ...shadow.view };
  for (const { detector, start, end } of tracker.matches.splice(0)) {
    if (!isChangedInView(view, start, end)) continue;
    const span = toSource(view, start, end);
    const is_plain = reader.tracker.matches.some(
      (match) => match.detector === detector && match.start === span.start && match.end === span.end,
    );
    if (!is_plain) reader.suspects.push({ ...span, is_unconfirmed });
  }
  for (const each of suspects.splice(0)) {
    const span = toSource(view, each.start, each.end);
    reader.suspects.push({ ...span, is_unconfirmed: is_unconfirmed || each.is_unconfirmed });
  }
  tracker.phrases.length = 0;
}

function shadowFront({ reader, view, fed_until }: Shadow): number {
  const inner = findReadingFront(reader);
  return inner < view.length ? toSource({ text: '', ...view }, inner, inner + 1).start : fed_until;
}

/** Opens runs at the places that the walk has come by. */
function startRuns(reader: ReadingTracker): void {
  const { tracker, runs, depth } = reader;
  const { text } = tracker;
  if (tracker.blob_starts.length + tracker.signals.length === 0) return;
  const front = findMatchFront(tracker);
  for (const start of tracker.blob_starts.splice(0)) openBlob(reader, start, front);
  if (depth > 0) tracker.signals.length = 0;
  for (const start of tracker.signals) {
    if (readBuffer(text)[start - text.base] !== '\u202e') continue;
    if (runs.some((run) => run.liveness === FROM_ITS_END && isWithin(run, start))) continue;
    const run = runAt(FROM_ITS_END, start, front);
    goOn(run, tracker);
    runs.push(run);
  }
}

/** Letters that stand apart, when it is clear where they end. */
function readApart(reader: ReadingTracker, is_last: boolean): void {
  const { tracker, suspects, apart } = reader;
  const { text, meter } = tracker;
  const { base, end } = text;
  const known = { start: apart.start - base, last: apart.last - base };
  const now = is_last ? { start: end - base, last: end - base } : findSpacedLetters(readBuffer(text), known);
  reader.apart = { start: now.start + base, last: now.last + base };
  if (reader.apart.start <= apart.start) return;
  const before = Math.max(base, apart.start - 1);
  const units = sliceBuffer(text, before, reader.apart.start);
  for (const { 0: run, index } of units.matchAll(SPACED_LETTERS))
    suspects.push({ start: before + index, end: before + index + run.length, is_unconfirmed: true });
  meter.work += units.length;
}

function isWithin(run: Run, start: number): boolean {
  return run.start <= start && (run.state.is_open || start < run.at);
}

/** A blob begins where none goes on; those within one are kept, for it may end before them. */
function openBlob(reader: ReadingTracker, start: number, front: number): void {
  const around = reader.runs.find((run) => run.liveness === BLOB && isWithin(run, start));
  if (around !== undefined) around.others.push(start);
  else stepRun(reader, runAt(BLOB, start, front), false);
}

function runAt(liveness: PatternAutomaton, start: number, front: number): Run {
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

function stepRuns(reader: ReadingTracker, is_last: boolean): void {
  for (const run of reader.runs.splice(0)) stepRun(reader, run, is_last);
}

/** Takes a run on, and leaves it among the runs or, where it has ended, to be looked at. */
function stepRun(reader: ReadingTracker, run: Run, is_last: boolean): void {
  const { tracker, runs, suspects } = reader;
  if (run.liveness === BLOB) {
    const end = stepBlob(reader, run, is_last);
    if (end !== null) for (const start of run.others) if (start >= end) openBlob(reader, start, start);
    return;
  }
  const end = runEnd(run, tracker, is_last);
  if (end === null) runs.push(run);
  else suspects.push({ start: run.from, end, is_unconfirmed: false });
}

/** Returns where a blob has ended, or its start where it is none; `null` while it goes on. */
function stepBlob(reader: ReadingTracker, run: Run, is_last: boolean): number | null {
  const blob = blobOf(run, reader.tracker, is_last);
  if (blob === 'open') {
    reader.runs.push(run);
    return null;
  }
  if (blob === null) return run.start;
  const shadow = shadowFrom(reader, run.from);
  castDecoded(reader, shadow, { ...blob, start: run.start, end: run.start + blob.end });
  reader.blobs.push(shadow);
  reader.has_had_blobs = true;
  return run.start + blob.end;
}

/** Where a run has ended; `null` while it goes on. */
function runEnd(run: Run, tracker: MatchTracker, is_last: boolean): number | null {
  goOn(run, tracker);
  const is_over = is_last || !run.state.is_open || run.at - run.start >= run.liveness.units_max;
  return is_over ? run.at : null;
}

/**
 * The blob, by its place from where the run starts; `null` where there is none. It is looked for whenever the run
 * has become twice as long, so that what is not readable is known early and the cost is linear.
 */
function blobOf(run: Run, tracker: MatchTracker, is_last: boolean): Blob | null | 'open' {
  const { text } = tracker;
  for (; run.check_at <= text.end; run.check_at += run.check_at - run.start) {
    const units = sliceBuffer(text, run.start, run.check_at);
    const [blob] = findBlobs(units, [0]);
    if (blob === undefined) return null;
    if (!MAY_GO_ON.test(units.slice(blob.end))) return blob;
  }
  const end = runEnd(run, tracker, is_last);
  if (end === null) return 'open';
  const [blob] = findBlobs(sliceBuffer(text, run.start, Math.min(text.end, end + 1)), [0]);
  return blob ?? null;
}
