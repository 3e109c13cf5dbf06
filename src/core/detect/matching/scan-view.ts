import type { Match, WorkMeter } from './compiled-detector.ts';
import { type DecodingCandidates, resetScanState, type Scanner, scanText, tryAnchors } from './scanner.ts';
import { isChangedInView, VIEW_CONTEXT_UNITS, type View } from './views/view.ts';
import { addWindow, expandWindows, WIDEN_UNITS_MAX, type Windows } from './views/windows.ts';
import { createAnchorHits, getStartPosition, PART_UNITS, walkAutomaton } from './walk-automaton.ts';

/**
 * The most units after a decoded span at which the anchor of a match that begins before it can be, as in the name of
 * an address.
 */
const BACK_UNITS = 96;

/** Layout can separate the words of a phrase with so many telling words, so that none was found. */
const TELLING_MIN = 2;

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
  matches_max: number,
  meter: WorkMeter,
  places: DecodingCandidates,
): void {
  const phrases: Match[] = [];
  resetScanState(scanner);
  const spans = selectSpans(view, odd);
  for (let at = 0; at < spans.length; at += 2) {
    meter.work += spans[at + 1]! - spans[at]!;
    const is_over = (): boolean => matches.length >= matches_max || meter.work > meter.allowed;
    findAnchorHits(scanner, view.text, spans[at]!, spans[at + 1]!, meter, (end, state) => {
      if (!is_over()) tryAnchors(scanner, view.text, end, state, 'all', matches, phrases, meter, places);
    });
  }
  const is_telling = places.telling_starts.length >= TELLING_MIN;
  if (!is_telling && !phrases.some(({ start, end }) => isChangedInView(view, start, end))) return;
  // The score of a phrase depends on the phrases around it, so all of them are scanned.
  matches.length = 0;
  scanText(scanner, view.text, matches, matches_max, meter);
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
export function findAnchorHits(
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
