/** Scans a string of a JSON document while it arrives, with its escapes decoded. */
import { WORK_PER_UNIT } from '../detect/detect.ts';
import type { WorkMeter } from '../detect/matching/compiled-detector.ts';
import type { Detector } from '../detect/matching/detector.ts';
import type { Detection } from '../types/index.ts';
import {
  findReleasableEnd,
  releaseText,
  type StreamScan,
  scanPiece,
  startStreamScan,
} from './stream-scan.ts';

/** The state of scanning one string that has not ended. */
export interface StringScan {
  readonly scan: StreamScan;
  /** The string so far as it is written, without its quotes. */
  readonly written: string[];
  /** Written units that are not decoded yet: a part of an escape, or the first half of a surrogate pair. */
  rest: string;
  /** The offset in the document up to which the string is decoded. */
  decoded_until: number;
  /** The offsets at which a decoded unit does not directly follow the one before it in the document. */
  readonly shifts: Shift[];
  /** The index of the last shift that was needed. */
  shift_at: number;
  /** `true` after the first character that is not white space. */
  has_begun: boolean;
  /** `true` if nothing more may be released before the string ends. */
  is_stalled: boolean;
}

interface Shift {
  readonly decoded: number;
  readonly written: number;
}

/** An escape, or one that is not complete at the end of the text. */
const ESCAPE = /\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt])|\\(?:u[0-9A-Fa-f]{0,3})?$/g;
const ESCAPE_UNITS = 2;
const UNICODE_ESCAPE_UNITS = 6;

/** Starts a scan of a string whose first unit has the given offset in the document. */
export function startStringScan(
  detection: Detection,
  holds: (detector: Detector) => boolean,
  meter: WorkMeter,
  start: number,
): StringScan {
  return {
    scan: startStreamScan(detection, holds, meter),
    written: [],
    rest: '',
    decoded_until: start,
    shifts: [{ decoded: 0, written: start }],
    shift_at: 0,
    has_begun: false,
    is_stalled: false,
  };
}

/** Scans more of the string. */
export function feedStringScan(string: StringScan, units: string): void {
  string.written.push(units);
  if (string.is_stalled) return;
  const { scan } = string;
  const decoded = decodeWritten(string, string.rest + units);
  // A string that is a document itself is read leaf by leaf, which is possible only when it is complete.
  if (!string.has_begun) {
    const first = decoded.trimStart()[0];
    string.has_begun = first !== undefined;
    string.is_stalled = first !== undefined && '{["'.includes(first);
  }
  if (string.is_stalled) return;
  scan.meter.allowed += decoded.length * WORK_PER_UNIT;
  scanPiece(scan, decoded, false);
  string.is_stalled = scan.alarms.length > 0 || scan.meter.work > scan.meter.allowed;
}

/** Returns the offset in the document up to which the string may be released. */
export function findReleasableStringEnd(string: StringScan): number {
  const { scan } = string;
  if (!string.is_stalled) {
    const until = findReleasableEnd(scan, Math.min(...scan.pending.map(({ start }) => start)));
    releaseText(scan, until);
  }
  return findWritten(string, scan.released_units);
}

/** Ends the string. Returns whether it has certainly no finding, so that it need not be scanned as a whole. */
export function endStringScan({ scan, is_stalled, rest }: StringScan): boolean {
  if (is_stalled || rest !== '') return false;
  scanPiece(scan, '', true);
  return scan.is_clean && scan.meter.work <= scan.meter.allowed;
}

/**
 * Returns the decoded text of the written units. A character that is not complete at their end, which can be an escape
 * or the first half of a surrogate pair, is kept in `rest`.
 */
function decodeWritten(string: StringScan, written: string): string {
  const { shifts, scan } = string;
  const known = scan.text.end;
  let decoded = '';
  let at = 0;
  let last = 0;
  let isPartial = false;
  for (const { 0: sequence, index } of written.matchAll(ESCAPE)) {
    decoded += written.slice(at, index);
    if (index > at) last = index - 1;
    at = index;
    isPartial = sequence.length < (sequence[1] === 'u' ? UNICODE_ESCAPE_UNITS : ESCAPE_UNITS);
    if (isPartial) break;
    decoded += JSON.parse(`"${sequence}"`) as string;
    last = index;
    at = index + sequence.length;
    shifts.push({ decoded: known + decoded.length, written: string.decoded_until + at });
  }
  if (!isPartial && at < written.length) {
    decoded += written.slice(at);
    last = written.length - 1;
    at = written.length;
  }
  if ((decoded.charCodeAt(decoded.length - 1) & 0xfc00) === 0xd800) {
    decoded = decoded.slice(0, -1);
    if (shifts.at(-1)!.decoded > known + decoded.length) shifts.pop();
    at = last;
  }
  string.rest = written.slice(at);
  string.decoded_until += at;
  return decoded;
}

/** Returns the offset in the document of a decoded unit. Offsets must not descend from call to call. */
function findWritten(string: StringScan, decoded: number): number {
  const { shifts } = string;
  while (shifts[string.shift_at + 1] !== undefined && shifts[string.shift_at + 1]!.decoded <= decoded)
    string.shift_at += 1;
  const shift = shifts[string.shift_at]!;
  return shift.written + decoded - shift.decoded;
}
