/**
 * A pattern in RE2 notation as a tree, to find the sequences that every match contains. The engine has parsed
 * the pattern before, so it is well formed. Constructs that this parser does not handle exactly become wider
 * sets, never narrower ones.
 */
import { parseUnits, type UnitSet } from '../anchors.ts';

export type PatternTree =
  /** One unit of the set. If it is not `is_fixed`, it is one code point, of one or two units. */
  | { readonly kind: 'unit'; readonly set: UnitSet; readonly is_fixed: boolean }
  /** An assertion without length: `\b`, `^`, `$`. */
  | { readonly kind: 'mark'; readonly is_word_edge: boolean }
  | { readonly kind: 'all'; readonly parts: readonly PatternTree[] }
  | { readonly kind: 'any'; readonly ways: readonly PatternTree[] }
  | {
      readonly kind: 'times';
      readonly part: PatternTree;
      readonly least: number;
      readonly most: number;
    };

/** Parses a pattern that the engine accepts. Throws if it cannot. */
export function parsePatternTree(pattern: string): PatternTree {
  const reader = { source: pattern, at: 0, fold: false, all: false };
  return readWays(reader);
}

interface Reader {
  readonly source: string;
  at: number;
  /** The state of `(?i)` and `(?s)`. */
  fold: boolean;
  all: boolean;
}

const EVERY: UnitSet = [[0, 0xffff]];
const EVERY_BUT_BREAK: UnitSet = [
  [0, 9],
  [11, 0xffff],
];

function readWays(reader: Reader): PatternTree {
  const { fold, all } = reader;
  const ways: PatternTree[] = [];
  let parts: PatternTree[] = [];
  while (reader.at < reader.source.length && reader.source[reader.at] !== ')') {
    if (reader.source[reader.at] === '|') {
      reader.at += 1;
      ways.push({ kind: 'all', parts });
      parts = [];
    } else {
      const part = readTerm(reader);
      if (part !== null) parts.push(part);
    }
  }
  // `(?i)` applies until the end of its group.
  Object.assign(reader, { fold, all });
  const last: PatternTree = { kind: 'all', parts };
  return ways.length === 0 ? last : { kind: 'any', ways: [...ways, last] };
}

const COUNT = /(?:([*+?])|\{(\d+)(,(\d*))?\})\??/y;

/** Reads an atom with its counts; returns `null` if there is nothing to match, as in `(?i)`. */
function readTerm(reader: Reader): PatternTree | null {
  let part = readAtom(reader);
  for (
    let count = takeMatch(reader, COUNT);
    count !== null && part !== null;
    count = takeMatch(reader, COUNT)
  ) {
    const [, sign, from, comma, to] = count;
    const least = sign === undefined ? Number(from) : Number(sign === '+');
    const most = sign === undefined ? getMost(least, comma, to) : sign === '?' ? 1 : Number.POSITIVE_INFINITY;
    part = { kind: 'times', part, least, most };
  }
  return part;
}

function getMost(least: number, comma: string | undefined, to: string | undefined): number {
  if (comma === undefined) return least;
  return to === '' || to === undefined ? Number.POSITIVE_INFINITY : Number(to);
}

const FLAGS = /\(\?([imsU]*)(?:-([imsU]+))?([:)])/y;
const GROUP = /\((?:\?P?<\w+>)?/y;

function readAtom(reader: Reader): PatternTree | null {
  const flags = takeMatch(reader, FLAGS);
  if (flags !== null) return readFlags(reader, flags);
  if (takeMatch(reader, GROUP) !== null) return readGroup(reader);
  const char = reader.source[reader.at]!;
  if (char === '\\') return readEscape(reader);
  if (char === '[') return readClass(reader);
  reader.at += 1;
  if (char === '^' || char === '$') return { kind: 'mark', is_word_edge: false };
  if (char === '.') return { kind: 'unit', set: reader.all ? EVERY : EVERY_BUT_BREAK, is_fixed: false };
  return getUnit(char, reader.fold);
}

function readFlags(reader: Reader, [, on = '', off = '', end]: RegExpExecArray): PatternTree | null {
  const before = { fold: reader.fold, all: reader.all };
  if (on.includes('i')) reader.fold = true;
  if (on.includes('s')) reader.all = true;
  if (off.includes('i')) reader.fold = false;
  if (off.includes('s')) reader.all = false;
  if (end === ')') return null;
  const group = readGroup(reader);
  Object.assign(reader, before);
  return group;
}

function readGroup(reader: Reader): PatternTree {
  const inner = readWays(reader);
  reader.at += 1;
  return inner;
}

const MARK = /\\[bBAz]/y;
const QUOTED = /\\Q(.*?)(?:\\E|$)/sy;
const CODE = /\\x(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2}))|\\([0-7]{1,3})/y;
const PROPERTY = /\\[pP](?:\{[^}]*\}|.)/y;
const CONTROLS: Readonly<Record<string, string>> = { a: '\x07', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

function readEscape(reader: Reader): PatternTree {
  const mark = takeMatch(reader, MARK);
  if (mark !== null) return { kind: 'mark', is_word_edge: mark[0] === '\\b' };
  const quoted = takeMatch(reader, QUOTED);
  if (quoted !== null)
    return { kind: 'all', parts: [...quoted[1]!].map((char) => getText(char, reader.fold)) };
  const code = takeMatch(reader, CODE);
  if (code !== null) {
    const point =
      code[3] === undefined ? Number.parseInt(code[1] ?? code[2]!, 16) : Number.parseInt(code[3], 8);
    return getText(String.fromCodePoint(point), reader.fold);
  }
  if (takeMatch(reader, PROPERTY) !== null) return { kind: 'unit', set: EVERY, is_fixed: false };
  const letter = reader.source[reader.at + 1] ?? '';
  reader.at += 2;
  if ('dws'.includes(letter)) return { kind: 'unit', set: parseUnits(`\\${letter}`), is_fixed: true };
  if ('DWS'.includes(letter)) {
    const set = parseUnits(`[^\\${letter.toLowerCase()}]`);
    return { kind: 'unit', set, is_fixed: false };
  }
  return getUnit(CONTROLS[letter] ?? letter, reader.fold);
}

const CLASS = /\[\^?\]?(?:\[:\^?\w+:\]|\\.|[^\]\\])*\]/sy;

/**
 * Reads a class. A class of plain units, ranges and `\d`, `\w`, `\s` is exact; any other class becomes a
 * wider set.
 */
function readClass(reader: Reader): PatternTree {
  const found = takeMatch(reader, CLASS);
  if (found === null) throw new Error('a class of the pattern cannot be read');
  const [text] = found;
  const isNegated = text.startsWith('[^');
  const isPlain = !/\[:|\\[^dwsnrt\W]|[\ud800-\udfff]|^\[\^?\]/.test(text);
  if (!isPlain) return { kind: 'unit', set: EVERY, is_fixed: false };
  const set = parseUnits(text);
  if (isNegated) return { kind: 'unit', set: reader.fold ? EVERY : set, is_fixed: false };
  return { kind: 'unit', set: reader.fold ? foldCase(set) : set, is_fixed: true };
}

/** Returns the tree of one character; a surrogate pair is two units. */
function getText(char: string, fold: boolean): PatternTree {
  if (char.length === 1) return getUnit(char, fold);
  return { kind: 'all', parts: [getUnit(char[0]!, false), getUnit(char[1]!, false)] };
}

function getUnit(char: string, fold: boolean): PatternTree {
  const unit = char.charCodeAt(0);
  const set: UnitSet = [[unit, unit]];
  return { kind: 'unit', set: fold ? foldCase(set) : set, is_fixed: true };
}

/** Adds the other case of each letter. Beyond ASCII the engine folds more letters than this table. */
function foldCase(set: UnitSet): UnitSet {
  if (set.some(([, high]) => high >= 0x80)) return EVERY;
  const units = new Set<number>();
  for (const [low, high] of set) for (let unit = low; unit <= high; unit++) addFolded(units, unit);
  return [...units].sort((a, b) => a - b).map((unit) => [unit, unit]);
}

function addFolded(units: Set<number>, unit: number): void {
  const char = String.fromCharCode(unit);
  for (const each of [char, char.toLowerCase(), char.toUpperCase()]) units.add(each.charCodeAt(0));
  // The long s and the sign for kelvin are letters in another form.
  if (/[sS]/.test(char)) units.add(0x17f);
  if (/[kK]/.test(char)) units.add(0x212a);
}

function takeMatch(reader: Reader, pattern: RegExp): RegExpExecArray | null {
  pattern.lastIndex = reader.at;
  const found = pattern.exec(reader.source);
  if (found !== null) reader.at = pattern.lastIndex;
  return found;
}
