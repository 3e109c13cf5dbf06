import { type Match, type Meter, type Places, type Scanner, scan } from '../scanner.ts';
import { type Blob, blobsAt } from './blobs.ts';
import { readBlobs, readEscapes, readRearranged } from './reading.ts';
import { isNew, toSource, type View } from './view.ts';
import { addPlace, type Windows, widened } from './windows.ts';
import { readWording } from './wording.ts';

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
  depth = 0,
): boolean {
  const signalled: Places = { windows: [], blob_starts: [], wordings: [] };
  const has_anchors = scan(scanner, text, matches, matches_max, meter, signalled);
  if (depth >= DEPTH_MAX) return has_anchors;
  const blobs = blobsAt(text, signalled.blob_starts);
  const places = widened(text, withBlobs(signalled.windows, blobs));
  const wordings = depth === 0 ? widened(text, signalled.wordings) : [];
  if (places.length === 0 && wordings.length === 0) return has_anchors;
  const { matched_until, failed_at } = scanner;
  const before = { matched_until: matched_until.slice(), failed_at: failed_at.slice() };
  const search: Search = { scanner, text, blobs, matches, matches_max, meter, depth };
  for (let at = 0; at < places.length; at += 2) {
    if (matches.length >= matches_max || meter.work > meter.allowed) break;
    const end = searchWindow(search, places[at]!, places[at + 1]!);
    while (at + 3 < places.length && places[at + 3]! <= end) at += 2;
  }
  for (let at = 0; at < wordings.length; at += 2) {
    if (matches.length >= matches_max || meter.work > meter.allowed) break;
    searchWording(search, wordings[at]!, wordings[at + 1]!);
  }
  // What a key had anchors of is asked when all is scanned.
  matched_until.set(before.matched_until);
  failed_at.set(before.failed_at);
  return has_anchors;
}

/** Work of one piece of a view, decoded or as it stands. */
const PIECE_WORK = 2;

interface Search {
  readonly scanner: Scanner;
  readonly text: string;
  readonly blobs: readonly Blob[];
  readonly matches: Match[];
  readonly matches_max: number;
  readonly meter: Meter;
  readonly depth: number;
}

function withBlobs(windows: Windows, blobs: readonly Blob[]): Windows {
  if (blobs.length === 0) return windows;
  const pairs: (readonly [number, number])[] = blobs.map(({ start, end }) => [start, end]);
  for (let at = 0; at < windows.length; at += 2) pairs.push([windows[at]!, windows[at + 1]!]);
  const merged: Windows = [];
  for (const [start, end] of pairs.sort((a, b) => a[0] - b[0])) addPlace(merged, start, end);
  return merged;
}

/** Scans one window as it reads. Returns where the part that was looked at ends. */
function searchWindow(search: Search, start: number, first_end: number): number {
  const { text, blobs, meter } = search;
  for (let end = first_end; ; end = Math.min(text.length, start + GROWTH * (end - start))) {
    const views = [
      readEscapes(text, start, end),
      search.depth === 0 ? readRearranged(text, start, end) : null,
      readBlobs(text, start, end, blobs),
    ];
    for (const view of views) meter.work += end - start + (view?.starts.length ?? 0) * PIECE_WORK;
    const is_cut = views.map((view) => view !== null && searchView(search, view)).includes(true);
    if (!is_cut || end === text.length || meter.work > meter.allowed) return end;
  }
}

/** Returns whether a match ends where the view does, and so may go on behind it. */
function searchView(search: Search, view: View): boolean {
  const found: Match[] = [];
  scanReadings(search.scanner, view.text, found, search.matches_max, search.meter, search.depth + 1);
  bringOut(search, found, view);
  return found.some((match) => match.end === view.text.length);
}

/** Words that are spelled otherwise make instructions, and nothing else. */
function searchWording(search: Search, start: number, end: number): void {
  const { scanner, matches_max, meter } = search;
  const view = readWording(search.text, start, end);
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
