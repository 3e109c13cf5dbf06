/**
 * Scans a JSON document that arrives in pieces as `detect` scans one that is complete and has escapes: each key,
 * string and number alone, with the key before it. Only the end of a text decides whether it is read like this or as
 * one text, so it may be released only as far as both readings agree.
 */
import { detectDocumentText, hasMemberDetectors, WORK_FLOOR } from '../detect/detect.ts';
import type { WorkMeter } from '../detect/matching/compiled-detector.ts';
import type { Detector } from '../detect/matching/detector.ts';
import type { Finding, JudgedFinding, Policy } from '../types/index.ts';
import { createJsonDetector, feedJsonDetector, isOverLimit, type JsonToken } from './json-detector.ts';
import {
  endStringScan,
  feedStringScan,
  findReleasableStringEnd,
  type StringScan,
  startStringScan,
} from './string-scan.ts';

/** The functions and settings of the stream that a document scan belongs to. */
export interface DocumentContext {
  readonly policy: Policy;
  /** Selects the detectors whose findings must not be released. */
  readonly holds: (detector: Detector) => boolean;
  /** Returns the findings in the text that change or block it. */
  readonly judge: (text: string, findings: readonly Finding[]) => readonly JudgedFinding[];
  /** Returns a part of the document that is not released. */
  readonly slice: (start: number, end: number) => string;
}

/** The state of scanning one document. */
export interface DocumentScan extends DocumentContext {
  readonly detector: ReturnType<typeof createJsonDetector>;
  readonly meter: WorkMeter;
  /** The last key, until its value has ended or is a container. */
  key: KeyToken | null;
  /** The kind and the offset of a token that has not ended. */
  open: { readonly kind: JsonToken; readonly start: number } | null;
  /** The scan of the open string, if it is long. */
  string: StringScan | null;
  /** Keys and values that have ended and are not scanned yet. */
  readonly ended: Member[];
  /** Findings that change or block the document, in order and with their offsets in it. */
  readonly changes: DocumentChange[];
  /** The offset up to which all keys and values are scanned. */
  scanned_until: number;
  /** `true` if nothing more may be released before the text has ended. */
  is_held: boolean;
}

/** A finding that changes or blocks a document. */
export interface DocumentChange extends JudgedFinding {
  /** `true` in a number, because the mask of a number has quotes. */
  readonly is_number: boolean;
}

/** A key or a value as it is written, with its offset in the document. */
interface Token {
  readonly kind: JsonToken;
  readonly start: number;
  readonly written: string;
}

interface KeyToken extends Token {
  /** `true` if the key was scanned before its value had ended. */
  readonly is_scanned: boolean;
}

/** A member of an object, a key alone, or an element of an array. */
interface Member {
  readonly key: KeyToken | null;
  readonly value: Token | null;
}

/** A shorter string is scanned when it has ended. */
const STRING_UNITS_MIN = 32;

/** Starts a scan at the beginning of a text. */
export function startDocumentScan(context: DocumentContext): DocumentScan {
  return {
    ...context,
    detector: createJsonDetector(),
    meter: { work: 0, allowed: WORK_FLOOR },
    key: null,
    open: null,
    string: null,
    ended: [],
    changes: [],
    scanned_until: 0,
    is_held: false,
  };
}

/** Scans the next piece of the document. */
export function feedDocumentScan(document: DocumentScan, piece: string): void {
  const { detector, policy } = document;
  const from = detector.units;
  const take = (until: number): void => takeString(document, piece, from, until);
  feedJsonDetector(detector, piece, policy.limits, {
    begin: (kind, start) => {
      document.open = { kind, start };
    },
    end: (kind, end) => {
      if (kind === 'string') take(end - 1);
      endToken(document, kind, end);
    },
    open: () => endMember(document, null),
  });
  document.is_held ||= isOverLimit(detector, policy.limits);
  if (document.is_held || detector.state !== 'possible') return;
  take(detector.units);
  openLongString(document);
  scanEnded(document);
  if (!document.is_held) document.scanned_until = findScannedEnd(document);
}

function takeString(
  { string, open, is_held }: DocumentScan,
  piece: string,
  from: number,
  until: number,
): void {
  if (string === null || open === null || is_held) return;
  feedStringScan(string, piece.slice(Math.max(0, open.start + 1 - from), until - from));
}

function endToken(document: DocumentScan, kind: JsonToken, end: number): void {
  const { open, string, is_held } = document;
  document.open = null;
  document.string = null;
  if (open === null || is_held) return;
  const { start } = open;
  if (string !== null && endStringScan(string)) {
    document.key = null;
    return;
  }
  const written = string === null ? document.slice(start, end) : `"${string.written.join('')}"`;
  const token = { kind, start, written };
  if (kind === 'key') document.key = { ...token, is_scanned: false };
  else endMember(document, token);
}

function endMember(document: DocumentScan, value: Token | null): void {
  const { key, ended } = document;
  document.key = null;
  if (value !== null || key?.is_scanned === false) ended.push({ key, value });
}

/** Starts the scan of the open string if it is long, so that its beginning can be released. */
function openLongString(document: DocumentScan): void {
  const { open, string, key, detector, policy, holds, meter, ended } = document;
  if (open?.kind !== 'string' || string !== null || detector.units - open.start < STRING_UNITS_MIN) return;
  const begun = startStringScan(policy.detection, holds, meter, open.start + 1);
  document.string = begun;
  if (key !== null) {
    if (!key.is_scanned) ended.push({ key, value: null });
    document.key = { ...key, is_scanned: true };
    // The whole value may be a finding, which is known only at its end.
    begun.is_stalled = hasMemberDetectors(JSON.parse(key.written) as string, policy.detection);
  }
  feedStringScan(begun, document.slice(open.start + 1, detector.units));
}

/** Returns the offset before which every key and value is scanned. */
function findScannedEnd({ string, open, key, detector }: DocumentScan): number {
  if (string !== null) return findReleasableStringEnd(string);
  if (key?.is_scanned === false) return key.start;
  return open?.start ?? detector.units;
}

/** Scans what has ended as a document of its own, because each member is scanned alone. */
function scanEnded(document: DocumentScan): void {
  const { ended, policy, meter, judge, changes } = document;
  if (ended.length === 0) return;
  const { text, places } = writeMembers(ended.splice(0));
  const { findings, coverage } = detectDocumentText(text, policy.detection, policy.limits, meter);
  if (coverage.status !== 'full') document.is_held = true;
  if (document.is_held || findings.length === 0) return;
  let at = 0;
  for (const finding of judge(text, findings)) {
    while (places[at + 1] !== undefined && places[at + 1]!.at <= finding.start) at += 1;
    const { token, at: writtenAt, is_scanned } = places[at]!;
    const shift = token.start - writtenAt;
    const isNumber = token.kind === 'word';
    if (!is_scanned)
      changes.push({
        ...finding,
        start: finding.start + shift,
        end: finding.end + shift,
        is_number: isNumber,
      });
  }
}

/** A token and its offset in the text that is scanned. */
interface Place {
  readonly token: Token;
  readonly at: number;
  readonly is_scanned: boolean;
}

/** Returns a list of the members, and the offsets of their tokens in it. */
function writeMembers(members: readonly Member[]): { text: string; places: readonly Place[] } {
  const parts: string[] = [];
  const places: Place[] = [];
  let length = 0;
  const add = (text: string): void => {
    parts.push(text);
    length += text.length;
  };
  const addToken = (token: Token, isScanned: boolean): void => {
    places.push({ token, at: length, is_scanned: isScanned });
    add(token.written);
  };
  for (const { key, value } of members) {
    add(parts.length === 0 ? '[' : ',');
    if (key !== null) {
      add('{');
      addToken(key, key.is_scanned);
      add(':');
    }
    if (value === null) add('null');
    else addToken(value, false);
    if (key !== null) add('}');
  }
  add(']');
  return { text: parts.join(''), places };
}
