import { findEscapedStrings, findPossibleStrings, type StringSpans } from '../../json/embedded-strings.ts';
import { decodeLeaf, decodeLeaves } from '../../json/scan-json.ts';
import type { Match, WorkMeter } from './compiled-detector.ts';
import { findAnchorEnds, scanView } from './scan-view.ts';
import { type DecodingCandidates, type Scanner, scanText, startPlaces, withOwnState } from './scanner.ts';
import { findBlobs } from './views/blobs.ts';
import { classifySignals } from './views/classify-signals.ts';
import { decodeBlobs, decodeEscapeView, restoreOrder } from './views/decode-view.ts';
import { viewJsonString } from './views/json-string.ts';
import type { Blob } from './views/readable-bytes.ts';
import { correctSpelling } from './views/spelling.ts';
import { isChangedInView, toSource, type View } from './views/view.ts';
import { addWindow, type Windows, widenToWhitespace } from './views/windows.ts';

/** The most levels of nested encodings that are decoded. */
const DEPTH_MAX = 3;

/** A match at the end of a window can continue after it. The window grows by this factor. */
const GROWTH = 4;

/**
 * Scans a text as written and as decoded. Findings in encoded, disguised or split text have their span in the
 * original text; for base64 and base16 that is the whole run. Adds the findings to `matches`, possibly twice, and
 * returns whether the text has any anchor. Stops under the same conditions as `scanText`.
 */
export function scanDecoded(
  scanner: Scanner,
  text: string,
  matches: Match[],
  matchesMax: number,
  meter: WorkMeter,
): boolean {
  const places = startPlaces();
  const hasAnchors = scanText(scanner, text, matches, matchesMax, meter, places);
  const { windows, blob_starts, spelling_windows } = places;
  const isEscaped = text.includes('\\');
  const placesCount = windows.length + blob_starts.length + spelling_windows.length;
  if (!isEscaped && placesCount === 0) return hasAnchors;
  // Decoded views have scan state of their own, because `findMemberDetectors` reads the state of the text's
  // scan.
  const search: Search = {
    scanner: withOwnState(scanner),
    text,
    matches,
    matches_max: matchesMax,
    meter,
    depth: 0,
  };
  searchReadings(search, places);
  const worded = widenToWhitespace(text, spelling_windows);
  for (let at = 0; at < worded.length && !isOver(search); at += 2)
    searchWording(
      search,
      worded[at]!,
      worded[at + 1]!,
      correctSpelling(text, worded[at]!, worded[at + 1]!, meter),
    );
  return hasAnchors;
}

interface Search {
  readonly scanner: Scanner;
  readonly text: string;
  readonly matches: Match[];
  readonly matches_max: number;
  readonly meter: WorkMeter;
  readonly depth: number;
}

function isOver({ matches, matches_max, meter }: Search): boolean {
  return matches.length >= matches_max || meter.work > meter.allowed;
}

/** Scans the decoded views of the search's text. */
function searchReadings(search: Search, { windows, blob_starts }: DecodingCandidates): void {
  const { text, meter, depth } = search;
  const blobs = findBlobs(text, blob_starts);
  meter.work += (windows.length / 2) * PLACE_WORK;
  const { decoded, rearranged } = classifySignals(text, windows);
  searchWindows(search, decoded, (start, end) => decodeEscapeView(text, start, end));
  searchWindows(search, getPlaces(blobs), (start, end) => decodeBlobs(text, start, end, blobs));
  searchJsonStrings(search);
  if (depth > 0) return;
  searchWindows(search, rearranged, (start, end) => restoreOrder(text, start, end));
}

function getPlaces(blobs: readonly Blob[]): Windows {
  const places: Windows = [];
  for (const { start, end } of blobs) addWindow(places, start, end);
  return places;
}

type ViewReader = (start: number, end: number) => View | null;

/** Scans the text around decoded spans. */
function searchWindows(search: Search, odd: Windows, read: ViewReader): void {
  if (odd.length === 0) return;
  const windows = widenToWhitespace(search.text, odd);
  for (let at = 0; at < windows.length && !isOver(search); at += 2) {
    const end = searchWindow(search, windows[at]!, windows[at + 1]!, odd, read);
    while (at + 3 < windows.length && windows[at + 3]! <= end) at += 2;
  }
}

/** The work of one signal. */
const PLACE_WORK = 16;

/** The work of one piece of a view, decoded or plain. */
const PIECE_WORK = 8;

/** Scans one decoded window. Returns where the scanned part ends. */
function searchWindow(
  search: Search,
  start: number,
  firstEnd: number,
  odd: Windows,
  read: ViewReader,
): number {
  const { text, meter } = search;
  for (let end = firstEnd; ; end = Math.min(text.length, start + GROWTH * (end - start))) {
    const view = read(start, end);
    meter.work += end - start + (view?.starts.length ?? 0) * PIECE_WORK;
    const isCut = view !== null && searchView(search, view, odd);
    if (!isCut || end === text.length || meter.work > meter.allowed) return end;
  }
}

/** Scans each string with escapes of the JSON documents in the text, decoded. */
function searchJsonStrings(search: Search): void {
  const { text, scanner, matches_max, meter } = search;
  const selected = selectStrings(search, findPossibleStrings(text));
  if (selected.size === 0) return;
  meter.work += text.length;
  const { starts, ends } = findEscapedStrings(text);
  for (const [at, start] of starts.entries()) {
    if (!selected.has(start)) continue;
    if (isOver(search)) return;
    const decoded = decodeLeaf(text, { start, end: ends[at]! });
    meter.work += decoded.length;
    const found: Match[] = [];
    const places = startPlaces();
    scanText(scanner, decoded, found, matches_max, meter, places);
    searchNested(search, decoded, found, places);
    if (found.length === 0) continue;
    // A phrase can depend on units after it, so that phrases count even if their own units are as written.
    const view = viewJsonString(text, start, ends[at]!);
    bringOut(search, found, view, ({ detector }) => detector.weight !== undefined);
  }
}

/**
 * Returns the starts of strings with an anchor or with escapes that may be nested. They are walked as
 * one text, because most strings are short and have neither. A line break allows the anchors that the start of a text
 * allows.
 */
function selectStrings({ scanner, text, meter }: Search, { starts, ends }: StringSpans): ReadonlySet<number> {
  const selected = new Set<number>();
  if (starts.length === 0) return selected;
  const strings = decodeLeaves(text, starts, ends);
  const joined = strings.join('\n');
  meter.work += joined.length;
  const anchorEnds = findAnchorEnds(scanner, joined, meter);
  let at = 0;
  let end = strings[0]!.length;
  for (const anchorEnd of anchorEnds) {
    while (anchorEnd > end) end += 1 + strings[++at]!.length;
    selected.add(starts[at]!);
  }
  strings.forEach((string, index) => {
    if (string.includes('\\')) selected.add(starts[index]!);
  });
  return selected;
}

/** Scans the decoded views of a decoded text. */
function searchNested(search: Search, text: string, matches: Match[], places: DecodingCandidates): void {
  const depth = search.depth + 1;
  if (depth < DEPTH_MAX) searchReadings({ ...search, text, matches, depth }, places);
}

/** Scans a view. Returns whether a match ends at the end of the view, and so can continue after it. */
function searchView(search: Search, view: View, odd: Windows): boolean {
  const { scanner, matches_max, meter } = search;
  const found: Match[] = [];
  const places = startPlaces();
  scanView(scanner, view, odd, found, matches_max, meter, places);
  searchNested(search, view.text, found, places);
  bringOut(search, found, view);
  return found.some((match) => match.end === view.text.length);
}

/** Scans a view with other wording, in which only instructions are searched. */
function searchWording(search: Search, start: number, end: number, view: View | null): void {
  const { scanner, matches_max, meter } = search;
  meter.work += end - start + (view?.starts.length ?? 0) * PIECE_WORK;
  if (view === null) return;
  const found: Match[] = [];
  scanText(scanner, view.text, found, matches_max, meter);
  bringOut(
    search,
    found.filter(({ detector }) => detector.weight !== undefined),
    view,
  );
}

/** Adds the matches that differ from the text, and those that count anyway, with their span in the text. */
function bringOut(
  { matches, matches_max }: Search,
  found: readonly Match[],
  view: View,
  counts: (match: Match) => boolean = () => false,
): void {
  for (const match of found) {
    if (matches.length >= matches_max) return;
    const { detector, start, end } = match;
    if (isChangedInView(view, start, end) || counts(match))
      matches.push({ detector, ...toSource(view, start, end) });
  }
}
