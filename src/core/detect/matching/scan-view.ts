import { findBrokenAnchors, findWordPlaces } from './broken-anchors.ts';
import type { Match, WorkMeter } from './compiled-detector.ts';
import {
  type DecodingCandidates,
  LAYOUT_SIGNAL,
  noteSignal,
  resetScanState,
  type Scanner,
  scanText,
  startPlaces,
  tryAnchors,
} from './scanner.ts';
import { isChangedInView, VIEW_CONTEXT_UNITS, type View } from './views/view.ts';
import { addWindow, expandWindows, WIDEN_UNITS_MAX, type Windows } from './views/windows.ts';
import { createAnchorHits, getStartPosition, PART_UNITS, walkAutomaton } from './walk-automaton.ts';

/**
 * The most units after a decoded span at which the anchor of a match that begins before it can be, as in the name of
 * an address.
 */
const BACK_UNITS = 96;

/**
 * Scans a view as `scanText` scans a text, but searches for anchors only around the decoded spans: from where a match
 * that reaches into a span can begin, to where one that the span explains can begin. The rest was found in the text
 * itself.
 */
export function scanView(
  scanner: Scanner,
  view: View,
  odd: Windows,
  matches: Match[],
  matchesMax: number,
  meter: WorkMeter,
  places: DecodingCandidates,
): void {
  const phrases: Match[] = [];
  resetScanState(scanner);
  const spans = selectSpans(view, odd);
  for (let at = 0; at < spans.length; at += 2) {
    meter.work += spans[at + 1]! - spans[at]!;
    const isOver = (): boolean => matches.length >= matchesMax || meter.work > meter.allowed;
    findAnchorHits(scanner, view.text, spans[at]!, spans[at + 1]!, meter, (end, state) => {
      if (!isOver()) tryAnchors(scanner, view.text, end, state, 'all', matches, phrases, meter, places);
    });
  }
  const hasWords = findWordPlaces(scanner, view.text, places, meter).length > 0;
  if (!hasWords && !phrases.some(({ start, end }) => isChangedInView(view, start, end))) return;
  // The score of a phrase depends on the phrases around it, so all of them are scanned.
  matches.length = 0;
  scanText(scanner, view.text, matches, matchesMax, meter);
}

/** Returns spans of the view, ascending and disjoint. */
function selectSpans(view: View, odd: Windows): Windows {
  const { text, starts, source_starts, source_ends, is_decoded } = view;
  const pieces: Windows = [];
  let place = 0;
  for (let piece = 0; piece < starts.length; piece++) {
    if (!is_decoded[piece]) continue;
    while (place < odd.length && odd[place + 1]! <= source_starts[piece]!) place += 2;
    if (place === odd.length) break;
    if (odd[place]! < source_ends[piece]!)
      addWindow(pieces, starts[piece]!, starts[piece + 1] ?? text.length);
  }
  return expandWindows(text, pieces, WIDEN_UNITS_MAX, VIEW_CONTEXT_UNITS + BACK_UNITS);
}

const hits = createAnchorHits();

/** Finds the anchors that end between two offsets of a text, and the states there. */
function findAnchorHits(
  { automaton }: Scanner,
  text: string,
  from: number,
  to: number,
  meter: WorkMeter,
  onMatch: (end: number, state: number) => void,
): void {
  let place = getStartPosition(automaton);
  for (let at = from; at < to; at += PART_UNITS) {
    place = walkAutomaton(automaton, place, text, at, Math.min(to, at + PART_UNITS), hits, meter);
    for (let hit = 0; hit < hits.count; hit++) onMatch(hits.ends[hit]!, hits.states[hit]!);
  }
}

/** Returns where a text's anchors end, ascending. Layout behind a word counts only in an anchor. */
export function findAnchorEnds(scanner: Scanner, text: string, meter: WorkMeter): readonly number[] {
  const { automaton, anchor_detector, anchor_length } = scanner;
  const ends: number[] = [];
  const places = startPlaces();
  findAnchorHits(scanner, text, 0, text.length, meter, (end, state) => {
    for (const anchor of automaton.endings[state]!) {
      const index = anchor_detector[anchor]!;
      if (index === LAYOUT_SIGNAL) noteSignal(index, text, end - anchor_length[anchor]!, end, places);
      else if (ends.at(-1) !== end) ends.push(end);
    }
  });
  const { layout_spans, telling_starts } = places;
  return ends
    .concat(findBrokenAnchors(scanner, text, layout_spans, meter), telling_starts)
    .sort((a, b) => a - b);
}
