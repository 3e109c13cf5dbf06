import { ARRAY, BACKSLASH, COLON, COMMA, OBJECT, QUOTE } from '../json/json-lexemes.ts';

/**
 * Detects whether a text that arrives in pieces is a JSON document (RFC 8259). Only its end decides whether it is read
 * as one, because escapes hide text and because the key before a value matters.
 */
export interface JsonDetector {
  /**
   * `unknown` until the first character that is not white space; `possible` as long as the text may be a document.
   */
  state: 'unknown' | 'possible' | 'none';
  /** The open brackets as character codes, outermost first. */
  readonly open: number[];
  awaits: 'value' | 'first_value' | 'key' | 'first_key' | 'colon' | 'separator';
  /** The position in a string or a word: `escape` after a backslash, `hex` in the digits of `\u`. */
  inside: 'nothing' | 'string' | 'escape' | 'hex' | 'word';
  word: string;
  hex_digits: number;
  nodes: number;
  /** The number of UTF-16 units that were read. */
  units: number;
}

/** Receives the parts of a document as soon as their bounds are known. Offsets count from the start of the text. */
export interface JsonVisitor {
  /** A key, or a value that is no container, begins at its quote or first character. */
  readonly begin: (kind: JsonToken, start: number) => void;
  /** The part that began last ends before `end`; the closing quote belongs to it. */
  readonly end: (kind: JsonToken, end: number) => void;
  /** An object or an array opens. */
  readonly open: () => void;
}

/** `word`: a number, `true`, `false` or `null`. */
export type JsonToken = 'key' | 'string' | 'word';

/** Limits of depth and size; beyond them the detector stops reading. */
interface DocumentLimits {
  readonly depth_max: number;
  readonly nodes_max: number;
}

const WORD = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;
const NAMES = ['true', 'false', 'null'];

/** Returns a detector at the beginning of a text. */
export function createJsonDetector(): JsonDetector {
  return {
    state: 'unknown',
    open: [],
    awaits: 'value',
    inside: 'nothing',
    word: '',
    hex_digits: 0,
    nodes: 0,
    units: 0,
  };
}

/**
 * Reads another piece. A document that exceeds the limits stays `possible`; the judge of the whole text reports it.
 */
export function feedJsonDetector(
  reader: JsonDetector,
  piece: string,
  limits: DocumentLimits,
  visitor: JsonVisitor | null = null,
): void {
  for (let at = 0; at < piece.length && reader.state !== 'none'; at++) {
    if (isOverLimit(reader, limits)) return;
    const unit = piece.charCodeAt(at);
    if (reader.state === 'unknown' && !isSpace(unit))
      reader.state = unit === OBJECT || unit === ARRAY || unit === QUOTE ? 'possible' : 'none';
    const { inside, awaits } = reader;
    if (reader.state === 'possible' && !readUnit(reader, unit)) reader.state = 'none';
    else if (visitor !== null) visitUnit(visitor, reader, inside, isKeyPlace(awaits));
    reader.units += 1;
  }
}

/** Returns whether the document exceeds the limits, so that the detector has stopped reading. */
export function isOverLimit(
  { open, nodes }: JsonDetector,
  { depth_max, nodes_max }: DocumentLimits,
): boolean {
  return open.length > depth_max || nodes > nodes_max;
}

function isKeyPlace(awaits: JsonDetector['awaits']): boolean {
  return awaits === 'key' || awaits === 'first_key';
}

/** Reports what begins or ends at the unit that was just read. */
function visitUnit(
  visitor: JsonVisitor,
  reader: JsonDetector,
  was: JsonDetector['inside'],
  isKey: boolean,
): void {
  const { inside, awaits, units } = reader;
  const token = was === 'word' || inside === 'word' ? 'word' : isKey ? 'key' : 'string';
  if (inside !== 'nothing') {
    if (was === 'nothing') visitor.begin(token, units);
  } else if (was !== 'nothing') visitor.end(token, was === 'word' ? units : units + 1);
  else if (awaits === 'first_key' || awaits === 'first_value') visitor.open();
}

/** Returns whether the text may still be a document after this unit. */
function readUnit(reader: JsonDetector, unit: number): boolean {
  switch (reader.inside) {
    case 'string':
      return readInString(reader, unit);
    case 'escape':
      reader.inside = unit === 117 ? 'hex' : 'string';
      return '"\\/bfnrtu'.includes(String.fromCharCode(unit));
    case 'hex':
      reader.hex_digits = (reader.hex_digits + 1) % 4;
      if (reader.hex_digits === 0) reader.inside = 'string';
      return /[0-9A-Fa-f]/.test(String.fromCharCode(unit));
    case 'word':
      return isInWord(unit) ? addToWord(reader, unit) : endWord(reader) && readBetween(reader, unit);
    default:
      return readBetween(reader, unit);
  }
}

function readInString(reader: JsonDetector, unit: number): boolean {
  if (unit === BACKSLASH) reader.inside = 'escape';
  if (unit === QUOTE) {
    reader.inside = 'nothing';
    reader.awaits = isKeyPlace(reader.awaits) ? 'colon' : 'separator';
  }
  return unit >= 32;
}

function readBetween(reader: JsonDetector, unit: number): boolean {
  if (isSpace(unit)) return true;
  const { awaits, open } = reader;
  if (unit === COMMA) {
    if (awaits !== 'separator' || open.length === 0) return false;
    reader.awaits = open.at(-1) === OBJECT ? 'key' : 'value';
    return true;
  }
  if (unit === COLON) {
    reader.awaits = 'value';
    return awaits === 'colon';
  }
  if (unit === OBJECT + 2 || unit === ARRAY + 2) {
    reader.awaits = 'separator';
    const isPlace = awaits === 'separator' || awaits === 'first_key' || awaits === 'first_value';
    return isPlace && open.pop() === unit - 2;
  }
  return beginLeaf(reader, unit);
}

function beginLeaf(reader: JsonDetector, unit: number): boolean {
  const { awaits, open } = reader;
  reader.nodes += 1;
  if (unit === QUOTE) {
    reader.inside = 'string';
    return awaits !== 'separator' && awaits !== 'colon';
  }
  if (awaits !== 'value' && awaits !== 'first_value') return false;
  if (unit === OBJECT || unit === ARRAY) {
    open.push(unit);
    reader.awaits = unit === OBJECT ? 'first_key' : 'first_value';
    return true;
  }
  reader.inside = 'word';
  reader.word = '';
  return isInWord(unit) && addToWord(reader, unit);
}

/**
 * Returns whether the word is still valid. A wrong literal is rejected at once, a wrong number only where it ends.
 */
function addToWord(reader: JsonDetector, unit: number): boolean {
  reader.word += String.fromCharCode(unit);
  const { word } = reader;
  return word < 'A'
    ? !/[a-df-z]/i.test(String.fromCharCode(unit))
    : NAMES.some((name) => name.startsWith(word));
}

function endWord(reader: JsonDetector): boolean {
  reader.inside = 'nothing';
  reader.awaits = 'separator';
  return WORD.test(reader.word);
}

function isInWord(unit: number): boolean {
  return (unit | 32) >= 97 && (unit | 32) <= 122
    ? true
    : (unit >= 48 && unit <= 57) || unit === 43 || unit === 45 || unit === 46;
}

function isSpace(unit: number): boolean {
  return unit === 32 || unit === 10 || unit === 13 || unit === 9;
}
