/**
 * Anchors are short sequences of character classes that match at the start of a match. Their notation is a small
 * part of the notation of regular expressions:
 *
 *   `(?i)` first         letters in either case
 *   `\b` next            not after a letter, digit or `_`; allowed after an escape `\n`, `\r`, `\t`
 *   `(?<![...])` next    not after one of these
 *   `a` `\.` `\d` `\w` `[a-f_]` `[^,]`     one UTF-16 unit each
 *   `?` `{3}` `{1,3}`    after a unit; every possible length becomes an anchor of its own
 *
 * There are no groups, no alternatives, no `*` and no `+`, because an anchor has a known length.
 */

/** UTF-16 units as ranges, both ends included, sorted and disjoint. */
export type UnitSet = readonly (readonly [number, number])[];

/** One sequence for the automaton. `length` counts the units of the anchor without its lookbehind. */
export interface Anchor {
  readonly sets: readonly UnitSet[];
  readonly length: number;
}

interface Atom {
  readonly set: UnitSet;
  readonly least: number;
  readonly most: number;
}

const UNIT_MAX = 0xffff;
const EXPANSIONS_MAX = 64;
const DIGIT: UnitSet = [[48, 57]];
const WORD: UnitSet = [
  [48, 57],
  [65, 90],
  [95, 95],
  [97, 122],
];
const SPACE: UnitSet = [
  [9, 13],
  [32, 32],
];
const BACKSLASH: UnitSet = [[92, 92]];
/** The letters of `\n`, `\r` and `\t`. They are letters, but no part of a word. */
const ESCAPE_LETTERS: UnitSet = [
  [110, 110],
  [114, 114],
  [116, 116],
];

/** Parses one anchor. Throws an `Error` that names the offset if the notation is malformed. */
export function parseAnchor(notation: string): readonly Anchor[] {
  const reader = { notation, at: 0 };
  const fold = takeLiteral(reader, '(?i)');
  const notAfter = readBefore(reader);
  const atoms: Atom[] = [];
  while (reader.at < notation.length) atoms.push(readAtom(reader, fold));
  const sequences = expandAtoms(atoms);
  if (sequences.length > EXPANSIONS_MAX)
    throw buildNotationError(reader, `more than ${EXPANSIONS_MAX} lengths`);
  return sequences.flatMap((sets) => withBefore(sets, notAfter));
}

/** Parses one class in the same notation, such as `[a-z0-9.-]` or `\w`. */
export function parseUnits(notation: string): UnitSet {
  const reader = { notation, at: 0 };
  const { set } = readAtom(reader, false);
  if (reader.at < notation.length) throw buildNotationError(reader, 'one class and no more');
  return set;
}

/** Returns whether the set contains a UTF-16 unit. */
export function hasUnit(set: UnitSet, unit: number): boolean {
  for (const [low, high] of set) if (unit >= low && unit <= high) return true;
  return false;
}

interface Reader {
  readonly notation: string;
  at: number;
}

function buildNotationError(reader: Reader, what: string): Error {
  return new Error(`the anchor \`${reader.notation}\` is not in the notation at ${reader.at}: ${what}`);
}

function takeLiteral(reader: Reader, literal: string): boolean {
  if (!reader.notation.startsWith(literal, reader.at)) return false;
  reader.at += literal.length;
  return true;
}

function readBefore(reader: Reader): UnitSet | null {
  if (takeLiteral(reader, '\\b')) return WORD;
  if (!takeLiteral(reader, '(?<!')) return null;
  const { set } = readAtom(reader, false);
  if (!takeLiteral(reader, ')')) throw buildNotationError(reader, 'a class and `)`');
  return set;
}

const sets = new Map<string, UnitSet>();

/** Returns the same object for the same units in the same notation, because many anchors share few sets. */
function readAtom(reader: Reader, fold: boolean): Atom {
  const from = reader.at;
  const units = readUnits(reader);
  const written = `${fold ? 'i' : '='}${reader.notation.slice(from, reader.at)}`;
  const set = sets.get(written) ?? (fold ? foldCase(units) : units);
  sets.set(written, set);
  return { set, ...readCount(reader) };
}

function readUnits(reader: Reader): UnitSet {
  if (takeLiteral(reader, '[')) return readSet(reader);
  return readUnit(reader);
}

function readUnit(reader: Reader): UnitSet {
  if (reader.at >= reader.notation.length) throw buildNotationError(reader, 'it ends too early');
  const char = reader.notation[reader.at++]!;
  if (char !== '\\') {
    if ('(){}*+?|.^$'.includes(char)) throw buildNotationError(reader, `\`${char}\` needs a backslash`);
    return buildSingleSet(char);
  }
  const escaped = reader.notation[reader.at++];
  if (escaped === undefined) throw buildNotationError(reader, 'it ends too early');
  return { d: DIGIT, w: WORD, s: SPACE }[escaped] ?? parseEscapedUnit(escaped);
}

function parseEscapedUnit(escaped: string): UnitSet {
  const named = { n: '\n', r: '\r', t: '\t' }[escaped];
  return buildSingleSet(named ?? escaped);
}

function readSet(reader: Reader): UnitSet {
  const negated = takeLiteral(reader, '^');
  const ranges: (readonly [number, number])[] = [];
  while (!takeLiteral(reader, ']')) {
    const low = readSetUnit(reader);
    const isRange = low.length === 1 && low[0]![0] === low[0]![1] && isDash(reader);
    if (!isRange) {
      ranges.push(...low);
      continue;
    }
    reader.at += 1;
    const high = readSetUnit(reader);
    ranges.push([low[0]![0], high[0]![1]]);
  }
  const set = normalizeRanges(ranges);
  return negated ? computeComplement(set) : set;
}

function isDash(reader: Reader): boolean {
  return reader.notation[reader.at] === '-' && reader.notation[reader.at + 1] !== ']';
}

/** Reads one unit of a set, in which only the backslash and the closing bracket are special. */
function readSetUnit(reader: Reader): UnitSet {
  if (reader.notation[reader.at] === '\\') return readUnit(reader);
  const char = reader.notation[reader.at++];
  if (char === undefined) throw buildNotationError(reader, 'the class is not closed');
  return buildSingleSet(char);
}

function readCount(reader: Reader): { least: number; most: number } {
  if (takeLiteral(reader, '?')) return { least: 0, most: 1 };
  const found = /\{(\d+)(?:,(\d+))?\}/y;
  found.lastIndex = reader.at;
  const match = found.exec(reader.notation);
  if (match === null) return { least: 1, most: 1 };
  reader.at = found.lastIndex;
  return { least: Number(match[1]), most: Number(match[2] ?? match[1]) };
}

function buildSingleSet(char: string): UnitSet {
  const unit = char.charCodeAt(0);
  return [[unit, unit]];
}

function foldCase(set: UnitSet): UnitSet {
  const other = set.flatMap(([low, high]) => [
    ...intersectRanges(low, high, 65, 90, 32),
    ...intersectRanges(low, high, 97, 122, -32),
  ]);
  return normalizeRanges([...set, ...other]);
}

function intersectRanges(
  low: number,
  high: number,
  from: number,
  to: number,
  shift: number,
): [number, number][] {
  const start = Math.max(low, from);
  const end = Math.min(high, to);
  return start <= end ? [[start + shift, end + shift]] : [];
}

function normalizeRanges(ranges: readonly (readonly [number, number])[]): UnitSet {
  const merged: [number, number][] = [];
  for (const [low, high] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else merged.push([low, high]);
  }
  return merged;
}

const others = new WeakMap<UnitSet, UnitSet>();

function getComplement(set: UnitSet): UnitSet {
  const known = others.get(set) ?? computeComplement(set);
  others.set(set, known);
  return known;
}

function computeComplement(set: UnitSet): UnitSet {
  const gaps: [number, number][] = [];
  let from = 0;
  for (const [low, high] of set) {
    if (low > from) gaps.push([from, low - 1]);
    from = high + 1;
  }
  if (from <= UNIT_MAX) gaps.push([from, UNIT_MAX]);
  return gaps;
}

function expandAtoms(atoms: readonly Atom[]): readonly (readonly UnitSet[])[] {
  let sequences: (readonly UnitSet[])[] = [[]];
  for (const { set, least, most } of atoms) {
    const longer: (readonly UnitSet[])[] = [];
    for (let count = least; count <= most; count++) {
      const repeated = Array.from({ length: count }, () => set);
      for (const sequence of sequences) longer.push([...sequence, ...repeated]);
    }
    sequences = longer;
    if (sequences.length > EXPANSIONS_MAX) break;
  }
  return sequences;
}

function withBefore(sets: readonly UnitSet[], notAfter: UnitSet | null): readonly Anchor[] {
  const length = sets.length;
  if (notAfter === null) return [{ sets, length }];
  const plain = { sets: [getComplement(notAfter), ...sets], length };
  if (!hasUnit(notAfter, 110)) return [plain];
  return [plain, { sets: [BACKSLASH, ESCAPE_LETTERS, ...sets], length }];
}
