import { ENDING, follow, UNKNOWN } from '../automaton.ts';
import { forget, type Match, type Meter, type Places, type Scanner, scan, verify } from '../scanner.ts';
import { CONTEXT_UNITS, isNew, type View } from './view.ts';
import { addPlace, BEFORE_UNITS, type Windows, wordEnd, wordStart } from './windows.ts';

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
    const to = spans[at + 1]!;
    meter.work += to - spans[at]!;
    walk(scanner, view.text, spans[at]!, to, (end, row) => {
      verify(scanner, view.text, end, row, matches, phrases, meter, places);
      return matches.length < matches_max && meter.work <= meter.allowed;
    });
  }
  if (!phrases.some(({ start, end }) => isNew(view, start, end))) return;
  // What a phrase comes to depends on those around it: all of them are looked at.
  matches.length = 0;
  scan(scanner, view.text, matches, matches_max, meter);
}

/** Parts of the view, ascending and apart. */
function spansOf(view: View, odd: Windows): Windows {
  const { text, starts, source_starts, source_ends, is_decoded } = view;
  const spans: Windows = [];
  let place = 0;
  for (let piece = 0; piece < starts.length; piece++) {
    if (!is_decoded[piece]) continue;
    while (place < odd.length && odd[place + 1]! <= source_starts[piece]!) place += 2;
    if (place === odd.length) break;
    if (odd[place]! >= source_ends[piece]!) continue;
    const from = wordStart(text, starts[piece]! - BEFORE_UNITS);
    const to = (starts[piece + 1] ?? text.length) + CONTEXT_UNITS + BACK_UNITS;
    addPlace(spans, from, to);
  }
  for (let at = 1; at < spans.length; at += 2) spans[at] = wordEnd(text, spans[at]!);
  return spans;
}

/** Tells where anchors end between two places, until it is told to stop. */
function walk(
  { automaton }: Scanner,
  text: string,
  from: number,
  to: number,
  visit: (end: number, row: number) => boolean,
): void {
  const { classes } = automaton;
  let row = automaton.start;
  for (let at = from; at < to; at++) {
    const { table } = automaton;
    let entry = 0;
    while (at < to) {
      entry = table[row + classes[text.charCodeAt(at)]!]!;
      if (entry >= ENDING) break;
      row = entry;
      at += 1;
    }
    if (at === to) return;
    if (entry === UNKNOWN) entry = follow(automaton, row, classes[text.charCodeAt(at)]!);
    row = entry % ENDING;
    if (entry >= ENDING && !visit(at + 1, row)) return;
  }
}
