import { forget, type Match, type Meter, type Places, type Scanner, scan, verify } from './scanner.ts';
import { CONTEXT_UNITS, isNew, type View } from './views/view.ts';
import { addPlace, around, BEFORE_UNITS, type Windows } from './views/windows.ts';
import { firstPlace, makeHits, PART_UNITS, walk } from './walk.ts';

/** So far behind a decoded place an anchor may stand of a match that begins before it: the name of an address. */
const BACK_UNITS = 96;

/**
 * Scans a view as `scan` does a text, but looks for anchors only around the odd places of the text that it is of:
 * from where a match may begin that goes on into what was decoded there, to where one may begin that is explained
 * by it. What else is in the view was found in the text.
 */
export function scanAround(
  scanner: Scanner,
  view: View,
  odd: Windows,
  matches: Match[],
  matches_max: number,
  meter: Meter,
  places: Places,
): void {
  const phrases: Match[] = [];
  forget(scanner);
  const spans = spansOf(view, odd);
  for (let at = 0; at < spans.length; at += 2) {
    meter.work += spans[at + 1]! - spans[at]!;
    const is_over = (): boolean => matches.length >= matches_max || meter.work > meter.allowed;
    hitsIn(scanner, view.text, spans[at]!, spans[at + 1]!, meter, (end, state) => {
      if (!is_over()) verify(scanner, view.text, end, state, matches, phrases, meter, places);
    });
  }
  if (!phrases.some(({ start, end }) => isNew(view, start, end))) return;
  // The weight of a phrase depends on those around it, so all of them are scanned.
  matches.length = 0;
  scan(scanner, view.text, matches, matches_max, meter);
}

/** Parts of the view, ascending and apart. */
function spansOf(view: View, odd: Windows): Windows {
  const { text, starts, source_starts, source_ends, is_decoded } = view;
  const pieces: Windows = [];
  let place = 0;
  for (let piece = 0; piece < starts.length; piece++) {
    if (!is_decoded[piece]) continue;
    while (place < odd.length && odd[place + 1]! <= source_starts[piece]!) place += 2;
    if (place === odd.length) break;
    if (odd[place]! < source_ends[piece]!) addPlace(pieces, starts[piece]!, starts[piece + 1] ?? text.length);
  }
  return around(text, pieces, BEFORE_UNITS, CONTEXT_UNITS + BACK_UNITS);
}

const hits = makeHits();

/** Yields the ends of anchors between two places of a text, with their states. */
function hitsIn(
  { automaton }: Scanner,
  text: string,
  from: number,
  to: number,
  meter: Meter,
  tell: (end: number, state: number) => void,
): void {
  let place = firstPlace(automaton);
  for (let at = from; at < to; at += PART_UNITS) {
    place = walk(automaton, place, text, at, Math.min(to, at + PART_UNITS), hits, meter);
    for (let hit = 0; hit < hits.count; hit++) tell(hits.ends[hit]!, hits.states[hit]!);
  }
}
