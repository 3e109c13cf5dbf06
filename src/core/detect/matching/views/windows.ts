/** Spans of a text, as pairs of start and end in one list, ascending and disjoint. */
export type Windows = number[];

/** The most units around a span to which a value can extend, if no white space ends it before. */
export const WIDEN_UNITS_MAX = 256;
const AFTER_UNITS = 512;
const WORD_UNITS_MAX = 2048;

/** Adds the span from `start` to `end`, which must not begin before the spans added so far. */
export function addWindow(windows: Windows, start: number, end: number): void {
  const last = windows.length - 1;
  if (last > 0 && start <= windows[last]!) windows[last] = Math.max(windows[last]!, end);
  else windows.push(start, end);
}

/** Returns the windows extended to white space, if there is some near. */
export function widenToWhitespace(text: string, windows: Windows): Windows {
  return expandWindows(text, windows, WIDEN_UNITS_MAX, AFTER_UNITS);
}

/**
 * Returns the windows extended by the given units on both sides, and to the ends of the words there. Words
 * can be long, so the end of a word is computed once for windows that overlap.
 */
export function expandWindows(text: string, windows: Windows, before: number, after: number): Windows {
  const wide: Windows = [];
  for (let at = 0; at < windows.length; at += 2) {
    const from = windows[at]! - before;
    const isWithin = wide.length > 0 && from <= wide.at(-1)!;
    addWindow(wide, isWithin ? from : findWordStart(text, from), windows[at + 1]! + after);
  }
  const ended: Windows = [];
  for (let at = 0; at < wide.length; at += 2) addWindow(ended, wide[at]!, findWordEnd(text, wide[at + 1]!));
  return ended;
}

function findWordStart(text: string, from: number): number {
  if (from <= 0) return 0;
  const lowest = Math.max(0, from - WORD_UNITS_MAX);
  let at = from;
  while (at > lowest && !isSpace(text.charCodeAt(at - 1))) at -= 1;
  return at;
}

function findWordEnd(text: string, from: number): number {
  const highest = Math.min(text.length, from + WORD_UNITS_MAX);
  let at = Math.min(from, text.length);
  while (at < highest && !isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

function isSpace(unit: number): boolean {
  return unit === 32 || unit === 10 || unit === 13 || unit === 9;
}
