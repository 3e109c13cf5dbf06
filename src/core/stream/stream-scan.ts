/** Collects the matches in a text that arrives in pieces, and decides how much of it may be released. */
import { resolveMatches } from '../detect/detect.ts';
import type { Match, WorkMeter } from '../detect/matching/compiled-detector.ts';
import type { Detector } from '../detect/matching/detector.ts';
import { resolveOverlaps } from '../detect/matching/resolve-overlaps.ts';
import { scanDecoded } from '../detect/matching/scan-decoded.ts';
import { getCompiledDetector } from '../detect/matching/scanner.ts';
import { scorePhrases, startQuotationReading } from '../detect/matching/score-phrases.ts';
import { getScanner } from '../detect/registry/scanners.ts';
import type { Detection } from '../types/index.ts';
import { startMatchTracker } from './match-tracker.ts';
import {
  feedReadingTracker,
  findReadingFront,
  type ReadingTracker,
  type SuspectSpan,
  startReadingTracker,
} from './reading-tracker.ts';
import { appendText, createTextBuffer, sliceBuffer, type TextBuffer, trimBuffer } from './text-buffer.ts';

/** The state of scanning one text. */
export interface StreamScan {
  readonly reader: ReadingTracker;
  readonly text: TextBuffer;
  readonly detection: Detection;
  readonly holds: (detector: Detector) => boolean;
  readonly meter: WorkMeter;
  /** Matches that were not released yet. */
  readonly pending: Match[];
  readonly suspects: PendingSpan[];
  readonly phrases: Match[];
  /** Phrases that end before this offset were scored. */
  weighed_until: number;
  /** A region that has another reading and whose readings were not scanned yet. */
  region: { readonly start: number; end: number } | null;
  /** Matches in text that was already released, and matches of scored phrases. */
  readonly alarms: Match[];
  /** The number of released units. */
  released_units: number;
  /** `true` if the text contained nothing that a detector or a decoder would have to examine. */
  is_clean: boolean;
}

interface PendingSpan extends SuspectSpan {
  /** The offset that the text must reach before the next check. */
  due: number;
}

/**
 * The units around a match that are scanned, and the distance at which a later signal may still confirm a reading.
 */
const AROUND_UNITS = 2600;
const WINDOW_UNITS = 320;
const WORD_UNITS_MAX = 2400;
/** A region is scanned once this many units follow it, or once it is this large. */
const REGION_UNITS = 700;
const REGION_UNITS_MAX = 4096;
/** Text after a phrase may show that the phrase is only quoted; this many units are examined. */
const QUOTE_UNITS = 240;
const MATCHES_MAX = 1000;

/**
 * Starts a scan at the beginning of a text. `holds` selects the detectors whose findings must not be released.
 */
export function startStreamScan(
  detection: Detection,
  holds: (detector: Detector) => boolean,
  meter: WorkMeter,
): StreamScan {
  const scanner = getScanner(detection);
  const text = createTextBuffer();
  const isHeld = (index: number): boolean => holds(getCompiledDetector(scanner, index).detector);
  return {
    reader: startReadingTracker(startMatchTracker(scanner, text, isHeld, meter)),
    text,
    detection,
    holds,
    meter,
    pending: [],
    suspects: [],
    phrases: [],
    weighed_until: 0,
    region: null,
    alarms: [],
    released_units: 0,
    is_clean: true,
  };
}

/** Scans another piece. */
export function scanPiece(look: StreamScan, piece: string, isLast: boolean): void {
  const { reader, pending, suspects, text } = look;
  const { tracker } = reader;
  appendText(text, piece);
  feedReadingTracker(reader, piece, isLast);
  look.is_clean &&= isClean(reader);
  pending.push(...tracker.matches.splice(0));
  look.phrases.push(...tracker.phrases.splice(0));
  const signals = tracker.signals.splice(0);
  for (const each of reader.suspects.splice(0)) suspects.push({ ...each, due: each.end });
  if (isLast) return;
  scanSuspects(look);
  for (const signal of signals) addToRegion(look, signal);
  scanRegion(look);
  weighPhrases(look);
  trimBuffer(text, () => Math.min(look.released_units, getFront(look)));
}

function isClean({ tracker, has_had_blobs }: ReadingTracker): boolean {
  const { matches, phrases, signals } = tracker;
  return !has_had_blobs && matches.length + phrases.length + signals.length === 0;
}

/**
 * Returns the offset up to which the text may be released, at most `most`: no unit that may still belong to a finding
 * is included.
 */
export function findReleasableEnd(look: StreamScan, most = Number.POSITIVE_INFINITY): number {
  const { text } = look;
  let until = Math.max(look.released_units, Math.min(most, getFront(look)));
  const held = look.pending.filter(({ detector }) => look.holds(detector));
  for (;;) {
    const cut = held.find(({ start, end }) => start < until && end >= until);
    if (cut === undefined) break;
    until = Math.max(look.released_units, cut.start);
    if (until === look.released_units) break;
  }
  if (until <= look.released_units) return look.released_units;
  const isPair = (sliceBuffer(text, until - 1, until).charCodeAt(0) & 0xfc00) === 0xd800;
  return isPair ? until - 1 : until;
}

/** Removes and returns the text up to the offset, which is released now, and the matches in it. */
export function releaseText(look: StreamScan, until: number): { text: string; matches: readonly Match[] } {
  const { pending, released_units } = look;
  const text = sliceBuffer(look.text, released_units, until);
  const matches = pending.filter(({ start }) => start < until);
  const rest = pending.filter(({ start }) => start >= until);
  pending.splice(0, pending.length, ...rest);
  look.released_units = until;
  return { text, matches };
}

function getFront({ reader, suspects }: StreamScan): number {
  return suspects.reduce((least, { start }) => Math.min(least, start), findReadingFront(reader));
}

function scanSuspects(look: StreamScan): void {
  const { suspects, pending, reader } = look;
  if (suspects.length === 0) return;
  const front = findReadingFront(reader);
  let kept = 0;
  for (const suspect of suspects) {
    if (front >= suspect.due) {
      const found = scanReadingsAt(look, suspect, front);
      const isFound = found.some(({ start, end }) => start === suspect.start && end === suspect.end);
      if (isFound || !mayBeConfirmed(look, suspect)) {
        pending.push(...found);
        continue;
      }
      suspect.due = front + WINDOW_UNITS;
    }
    suspects[kept++] = suspect;
  }
  suspects.length = kept;
}

/** Returns whether text that is still to come could confirm another reading at the suspect. */
function mayBeConfirmed({ text }: StreamScan, { end, is_unconfirmed }: SuspectSpan): boolean {
  const reach = text.end - WINDOW_UNITS;
  if (!is_unconfirmed) return false;
  return reach <= end || (reach - end < WORD_UNITS_MAX && !/[ \t\r\n]/.test(sliceBuffer(text, end, reach)));
}

/** Scans the readings of the text. Returns the matches that overlap the span and end at or before `until`. */
function scanReadingsAt(
  look: StreamScan,
  span: { start: number; end: number },
  until: number,
): readonly Match[] {
  const { text, detection } = look;
  const from = Math.max(text.base, span.start - AROUND_UNITS);
  const around = sliceBuffer(text, from, text.end);
  const found: Match[] = [];
  scanDecoded(look.reader.tracker.scanner, around, found, MATCHES_MAX, look.meter);
  return resolveMatches(detection, around, found)
    .map(({ detector, start, end }) => ({ detector, start: start + from, end: end + from }))
    .filter(({ start, end }) => start < span.end && end > span.start && end <= until);
}

function addToRegion(look: StreamScan, signal: number): void {
  const { region } = look;
  if (region === null) look.region = { start: signal, end: signal };
  else region.end = Math.max(region.end, signal);
}

/** Scans all readings of a region once enough text follows it. */
function scanRegion(look: StreamScan): void {
  const { region } = look;
  if (region === null) return;
  const endUnits = look.text.end;
  const isLarge = endUnits - region.start > REGION_UNITS_MAX;
  if (endUnits < region.end + REGION_UNITS && !isLarge) return;
  const until = endUnits - QUOTE_UNITS;
  for (const match of scanReadingsAt(look, { start: region.start - WINDOW_UNITS, end: until }, until)) {
    if (match.detector.weight === undefined && match.start >= look.released_units) look.pending.push(match);
    else look.alarms.push(match);
  }
  look.region = endUnits < region.end + REGION_UNITS ? { start: until, end: region.end } : null;
}

/** Scores the phrases for which it is known whether they are quoted. */
function weighPhrases(look: StreamScan): void {
  const { text } = look;
  const isDue = look.phrases.some(({ end }) => end + QUOTE_UNITS <= text.end && end > look.weighed_until);
  if (!isDue) return;
  look.weighed_until = text.end - QUOTE_UNITS;
  const near = look.phrases.filter(({ start }) => start >= text.base);
  look.phrases.splice(0, look.phrases.length, ...near);
  const shifted = near
    .filter(({ end }) => end <= look.weighed_until)
    .map((phrase) => ({ ...phrase, start: phrase.start - text.base, end: phrase.end - text.base }));
  const found: Match[] = [];
  scorePhrases(
    startQuotationReading(sliceBuffer(text, text.base, text.end)),
    shifted,
    found,
    look.reader.tracker.scanner.thresholds,
  );
  for (const { detector, start, end } of resolveOverlaps(found))
    look.alarms.push({ detector, start: start + text.base, end: end + text.base });
}
