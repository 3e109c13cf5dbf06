import { createUtf8Decoder, decodeUtf8 } from '../text/utf8-decoder.ts';
import type { SseEvent } from './wire-format.ts';

/** The result of reading a piece of a stream: complete events, and the problem that ends the reading. */
export interface SsePiece {
  readonly events: readonly SseEvent[];
  /**
   * `utf8`: the bytes are not UTF-8. `event_units_max`: one event is longer. After a problem nothing more is read.
   */
  readonly problem: null | 'utf8' | 'event_units_max';
}

/** Reads server-sent events from pieces that are cut anywhere. One reader takes text or bytes, not both. */
export interface SseReader {
  readonly read: (piece: string | Uint8Array) => SsePiece;
  /**
   * Returns the text after the last event, as the event that it would be with a blank line. The standard drops it,
   * but clients differ, so it must be judged like any other event.
   */
  readonly end: () => SsePiece;
}

/**
 * Creates a reader of server-sent events as the HTML standard defines them. Lines end with CR, LF or CRLF, a blank
 * line ends the event, several `data` lines are one text, lines that begin with a colon are comments, and a byte
 * order mark at the beginning is ignored. The concatenated `raw` of all events is the complete input in order.
 *
 * A CR at the end of a piece waits for the next piece, because the LF of a CRLF belongs to the same line end.
 */
export function createSseReader(limits: { readonly event_units_max: number }): SseReader {
  const utf8 = createUtf8Decoder();
  const lines = startLines(limits.event_units_max);
  const read = (piece: string | Uint8Array): SsePiece => {
    if (lines.problem !== null) return { events: [], problem: lines.problem };
    const text = typeof piece === 'string' ? piece : decodeUtf8(utf8, piece);
    if (text === null) lines.problem = 'utf8';
    return {
      events: text === null ? [] : readLines(lines, holdLastCr(lines, text)),
      problem: lines.problem,
    };
  };
  return {
    read,
    end: () => {
      if (utf8.missing > 0) lines.problem = 'utf8';
      if (lines.problem !== null) return { events: [], problem: lines.problem };
      const events = readLines(lines, lines.cr);
      if (lines.problem !== null) return { events, problem: lines.problem };
      lines.cr = '';
      const { event, line } = lines;
      if (event.units + line.units === 0) return { events, problem: null };
      if (line.units > 0) endLine(lines, '');
      return { events: [...events, takeEvent(lines)], problem: null };
    },
  };
}

/** Replaces the data of an event. If the event has one line of data, all other characters stay unchanged. */
export function replaceData(event: SseEvent, data: string): string {
  const isOneLine = event.data_start !== null && !/[\r\n]/.test(data);
  if (isOneLine) {
    const { raw, data_start: start } = event as { raw: string; data_start: number };
    return raw.slice(0, start) + data + raw.slice(start + event.data.length);
  }
  return writeSseEvent(event.name, data);
}

/**
 * Writes an event: its name, unless that is `''`, and its data, which is JSON or a word, on one line. An event
 * without data is a comment. Characters at which a client could end a line are replaced: CR and LF, which in JSON
 * are only white space, by spaces, and the others, which in JSON occur only in strings, by their escapes.
 */
export function writeSseEvent(name: string, data: string): string {
  if (data.trim() === '') return ':\n\n';
  const line = BREAKING.test(data) ? data.replace(BREAKS, escapeUnit) : data;
  return name === '' ? `data: ${line}\n\n` : `event: ${name}\ndata: ${line}\n\n`;
}

/** The characters at which some readers end lines. For the standard only CR and LF do. */
const BREAKING = /[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]/;
const BREAKS = new RegExp(BREAKING, 'g');

function escapeUnit(unit: string): string {
  return unit === '\r' || unit === '\n' ? ' ' : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** The state of the stream: the current event, its current line, and what came before. */
interface Lines {
  readonly units_max: number;
  problem: SsePiece['problem'];
  /** The CR that ended the last piece, because its LF may follow; else `''`. */
  cr: '' | '\r';
  event: EventSoFar;
  line: { parts: string[]; units: number };
}

interface EventSoFar {
  raw: string[];
  units: number;
  name: string;
  data: string[];
  data_start: number;
}

function startLines(unitsMax: number): Lines {
  return {
    units_max: unitsMax,
    problem: null,
    cr: '',
    event: startEvent(),
    line: { parts: [], units: 0 },
  };
}

function startEvent(): EventSoFar {
  return { raw: [], units: 0, name: '', data: [], data_start: 0 };
}

/** Returns the piece with the pending CR before it, and without a final CR, which becomes pending. */
function holdLastCr(lines: Lines, piece: string): string {
  const text = lines.cr + piece;
  lines.cr = text.endsWith('\r') ? '\r' : '';
  return lines.cr === '' ? text : text.slice(0, -1);
}

/**
 * Reads the piece line by line. Earlier parts of a line are kept as a list, so that no unit is scanned twice.
 */
function readLines(lines: Lines, text: string): SseEvent[] {
  const events: SseEvent[] = [];
  let at = 0;
  let cr = text.indexOf('\r', at);
  while (at < text.length) {
    const lf = text.indexOf('\n', at);
    if (cr !== -1 && cr < at) cr = text.indexOf('\r', at);
    const end = cr !== -1 && (lf === -1 || cr < lf) ? cr : lf;
    const stop = end === -1 ? text.length : end;
    addToLine(lines, text.slice(at, stop));
    if (lines.event.units + lines.line.units > lines.units_max) {
      lines.problem = 'event_units_max';
      return events;
    }
    if (end === -1) return events;
    const isCrlf = end === cr && lf === cr + 1;
    at = end + (isCrlf ? 2 : 1);
    const isBlank = lines.line.units === 0;
    endLine(lines, text.slice(end, at));
    if (isBlank) events.push(takeEvent(lines));
  }
  return events;
}

function addToLine({ line }: Lines, part: string): void {
  if (part === '') return;
  line.parts.push(part);
  line.units += part.length;
}

/** Reads the field in a line, if there is one. */
function endLine(lines: Lines, ending: string): void {
  const { event } = lines;
  const whole = lines.line.parts.join('');
  // The standard allows a byte order mark only at the beginning; some clients skip it on any line.
  const start = whole.startsWith('\ufeff') ? 1 : 0;
  lines.line = { parts: [], units: 0 };
  const colon = whole.indexOf(':', start);
  const field = whole.slice(start, colon === -1 ? undefined : colon);
  if (field === 'data' || field === 'event') {
    const valueStart = colon === -1 ? whole.length : colon + (whole[colon + 1] === ' ' ? 2 : 1);
    const value = whole.slice(valueStart);
    if (field === 'event') event.name = value;
    else {
      event.data_start = event.units + valueStart;
      event.data.push(value);
    }
  }
  event.raw.push(whole, ending);
  event.units += whole.length + ending.length;
}

function takeEvent(lines: Lines): SseEvent {
  const { raw, name, data, data_start } = lines.event;
  lines.event = startEvent();
  return {
    raw: raw.join(''),
    name,
    data: data.join('\n'),
    data_start: data.length === 1 ? data_start : null,
  };
}
