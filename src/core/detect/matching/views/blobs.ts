import { ascii85Signals, decodeAscii85 } from './ascii85.ts';
import { base32Signals, decodeBase32 } from './base32.ts';
import {
  base64Signals,
  decodeBase64Text,
  decodeCompressedBase64,
  decodeUtf16Base64,
  findBase64End,
} from './base64.ts';
import { listSignals, readByteList } from './byte-lists.ts';
import { type Blob, countMissingBytes, createBlob, parseHexDigit } from './readable-bytes.ts';
import { readTransposed, transposedSignals } from './transposed.ts';

/** Shorter runs are too short for any value that a detector finds. */
const RUN_UNITS_MIN = 15;
const SLASH = 47;

/** Anchors of runs that may be an encoded text as a whole. */
export const blobSignals: readonly string[] = [
  ...base64Signals,
  '(?<![A-Za-z0-9])[2-7][0-9A-Fa-f][2-7][0-9A-Fa-f][2-7][0-9A-Fa-f][2-7][0-9A-Fa-f]',
  '(?<![A-Za-z0-9])0[xX][2-7][0-9A-Fa-f][2-7][0-9A-Fa-f]',
  ...listSignals,
  ...base32Signals,
  ...ascii85Signals,
  ...transposedSignals,
];

/**
 * Returns the runs that begin at the given offsets and decode to readable text: base64 (both alphabets, also wrapped
 * in lines, of UTF-8, UTF-16 or compressed text, or reversed), base32, base16, Ascii85 and lists of bytes.
 * A run that becomes unreadable counts up to that point. The runs are ascending and disjoint. Linear.
 */
export function findBlobs(text: string, starts: readonly number[]): readonly Blob[] {
  const blobs: Blob[] = [];
  let run = { end: 0, slash: 0 };
  let end = 0;
  let listEnd = 0;
  for (const start of starts) {
    if (start < end) continue;
    // Several starts can be in one run, so its end is computed once.
    if (start >= run.end) run = { end: findBase64End(text, start), slash: 0 };
    if (start >= run.slash) run.slash = findSlash(text, start, run.end);
    const list = start < listEnd ? null : readByteList(text, start);
    listEnd = list?.end ?? listEnd;
    const blob = list?.blob ?? decodeBlob(text, start, { ...run, least: end });
    if (blob === null) continue;
    blobs.push(blob);
    end = blob.end;
  }
  return blobs;
}

function findSlash(text: string, start: number, end: number): number {
  let at = start + 1;
  while (at < end && text.charCodeAt(at) !== SLASH) at += 1;
  return at;
}

/** A run of base64 letters, its first `/` (or its end), and the offset before which no blob may begin. */
interface Run {
  readonly end: number;
  readonly slash: number;
  readonly least: number;
}

/** Decodes the run at `start`. */
function decodeBlob(text: string, start: number, { end, slash, least }: Run): Blob | null {
  const whole = end - start < RUN_UNITS_MIN ? null : decodeBase64Text(text, start, end);
  if (whole !== null) {
    const exact = decodeBase16(text, start, end) ?? decodeBase32(text, start);
    if (exact !== null || whole.is_whole) return exact ?? whole.blob;
  }
  const other = decodeAscii85(text, start) ?? readTransposed(text, start, least);
  if (other !== null || whole === null) return other;
  return (
    decodeUtf16Base64(text, start, end) ??
    decodeCompressedBase64(text, start, end) ??
    decodeToSlash(text, start, end, slash) ??
    whole.blob
  );
}

/** Decodes the part of a run before its first `/`, if that is readable as a whole. */
function decodeToSlash(text: string, start: number, end: number, slash: number): Blob | null {
  if (slash === end || slash - start < RUN_UNITS_MIN) return null;
  const before = decodeBase64Text(text, start, slash);
  return before.is_whole ? before.blob : null;
}

function decodeBase16(text: string, start: number, end: number): Blob | null {
  const from = text.charCodeAt(start) === 48 && (text.charCodeAt(start + 1) | 32) === 120 ? start + 2 : start;
  const bytes: number[] = [];
  let more = 0;
  let at = from;
  for (; at + 1 < end; at += 2) {
    const byte = parseHexDigit(text.charCodeAt(at)) * 16 + parseHexDigit(text.charCodeAt(at + 1));
    more = Number.isNaN(byte) ? -1 : countMissingBytes(more, byte);
    if (more < 0) break;
    bytes.push(byte);
  }
  return at >= end - 1 ? createBlob(bytes, start, at) : null;
}
