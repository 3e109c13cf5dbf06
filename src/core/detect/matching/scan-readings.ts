import { scanAround } from './scan-around.ts';
import { type Match, type Meter, type Places, type Scanner, scan } from './scanner.ts';
import { type Blob, blobsAt } from './views/blobs.ts';
import { oddPlaces } from './views/odd-places.ts';
import { readBlobs, readEscapes, readRearranged } from './views/reading.ts';
import { isNew, toSource, type View } from './views/view.ts';
import { addPlace, type Windows, widened } from './views/windows.ts';
import { readWording } from './views/wording.ts';

/** Encodings within encodings are read so many levels deep. */
const DEPTH_MAX = 3;

/** A match at the end of a window may go on behind it: the window is made so many times longer. */
const GROWTH = 4;

/**
 * Scans a text as it stands and as it reads: what is encoded, disguised or in pieces is found at its place in
 * the text as it stands; of base64 and base16 that is the whole run. Adds to `matches` what is found, the same
 * places maybe twice, and returns whether any anchor was there. Stops as `scan` does.
 */
export function scanReadings(
  scanner: Scanner,
  text: string,
  matches: Match[],
  matches_max: number,
  meter: Meter,
): boolean {
  const places = startPlaces();
  const has_anchors = scan(scanner, text, matches, matches_max, meter, places);
  const { windows, blob_starts, wordings } = places;
  if (windows.length + blob_starts.length + wordings.length === 0) return has_anchors;
  // What a key had anchors of is asked when all is scanned: readings have tables of their own.
  const search: Search = { scanner: innerOf(scanner), text, matches, matches_max, meter, depth: 0 };
  searchReadings(search, places);
  const worded = widened(text, wordings);
  for (let at = 0; at < worded.length && !isOver(search); at += 2)
    searchWording(search, worded[at]!, worded[at + 1]!);
  return has_anchors;
}

interface Search {
  readonly scanner: Scanner;
  readonly text: string;
  readonly matches: Match[];
  readonly matches_max: number;
  readonly meter: Meter;
  readonly depth: number;
}

function startPlaces(): Places {
  return { windows: [], blob_starts: [], wordings: [] };
}

const inner_scanners = new WeakMap<Scanner, Scanner>();

/** The same scanner with another memory of one scan. */
function innerOf(scanner: Scanner): Scanner {
  const known = inner_scanners.get(scanner);
  if (known !== undefined) return known;
  const units = scanner.roster.count;
  const inner = { ...scanner, matched_until: new Int32Array(units), failed_at: new Int32Array(units) };
  inner_scanners.set(scanner, inner);
  return inner;
}

function isOver({ matches, matches_max, meter }: Search): boolean {
  return matches.length >= matches_max || meter.work > meter.allowed;
}

/** Scans what the text of the search reads as at the places where it may read otherwise. */
function searchReadings(search: Search, { windows, blob_starts }: Places): void {
  const { text, meter, depth } = search;
  const blobs = blobsAt(text, blob_starts);
  meter.work += (windows.length / 2) * PLACE_WORK;
  const { decoded, rearranged } = oddPlaces(text, windows);
  searchWindows(search, decoded, (start, end) => readEscapes(text, start, end));
  searchWindows(search, placesOf(blobs), (start, end) => readBlobs(text, start, end, blobs));
  if (depth > 0) return;
  searchWindows(search, rearranged, (start, end) => readRearranged(text, start, end));
}

function placesOf(blobs: readonly Blob[]): Windows {
  const places: Windows = [];
  for (const { start, end } of blobs) addPlace(places, start, end);
  return places;
}

type Read = (start: number, end: number) => View | null;

/** Scans the text around odd places in its decoded reading. */
function searchWindows(search: Search, odd: Windows, read: Read): void {
  if (odd.length === 0) return;
  const windows = widened(search.text, odd);
  for (let at = 0; at < windows.length && !isOver(search); at += 2) {
    const end = searchWindow(search, windows[at]!, windows[at + 1]!, odd, read);
    while (at + 3 < windows.length && windows[at + 3]! <= end) at += 2;
  }
}

/** Work of the check of one place that a signal names. */
const PLACE_WORK = 16;

/** Work of one piece of a view, decoded or plain. */
const PIECE_WORK = 8;

/** Scans one window in its decoded reading. Returns the end of the scanned part. */
function searchWindow(search: Search, start: number, first_end: number, odd: Windows, read: Read): number {
  const { text, meter } = search;
  for (let end = first_end; ; end = Math.min(text.length, start + GROWTH * (end - start))) {
    const view = read(start, end);
    meter.work += end - start + (view?.starts.length ?? 0) * PIECE_WORK;
    const is_cut = view !== null && searchView(search, view, odd);
    if (!is_cut || end === text.length || meter.work > meter.allowed) return end;
  }
}

/** Returns whether a match ends where the view does, and so may go on behind it. */
function searchView(search: Search, view: View, odd: Windows): boolean {
  const { scanner, matches_max, meter, depth } = search;
  const found: Match[] = [];
  const places = startPlaces();
  scanAround(scanner, view, odd, found, matches_max, meter, places);
  if (depth + 1 < DEPTH_MAX)
    searchReadings({ ...search, text: view.text, matches: found, depth: depth + 1 }, places);
  bringOut(search, found, view);
  return found.some((match) => match.end === view.text.length);
}

/** Words that are spelled otherwise make instructions, and nothing else. */
function searchWording(search: Search, start: number, end: number): void {
  const { scanner, matches_max, meter } = search;
  const view = readWording(search.text, start, end, meter);
  meter.work += end - start + (view?.starts.length ?? 0) * PIECE_WORK;
  if (view === null) return;
  const found: Match[] = [];
  scan(scanner, view.text, found, matches_max, meter);
  bringOut(
    search,
    found.filter(({ detector }) => detector.weight !== undefined),
    view,
  );
}

function bringOut({ matches, matches_max }: Search, found: readonly Match[], view: View): void {
  for (const { detector, start, end } of found) {
    if (matches.length >= matches_max) return;
    if (isNew(view, start, end)) matches.push({ detector, ...toSource(view, start, end) });
  }
}
