import { type Question, read } from './pattern-reach.ts';

/** Properties of the digits in the matches of a pattern. */
export interface Digits {
  /** Maximum number of digits. */
  readonly most: number;
  /** Possible lengths of matches that consist of digits only, ascending; empty if every match has other units. */
  readonly lengths: readonly number[];
  /** Kinds of other units that a match can contain, as bits. */
  readonly joins: number;
  /** True if few shapes fit: no longer repeat has digits and other units. */
  readonly is_strict: boolean;
}

/** Kinds of units, a bit each: digits, what joins the groups of a number, other signs, letters, and all others. */
const KINDS_OF: readonly string[] = [
  '0123456789',
  ' ',
  '-',
  '.',
  '/',
  '+',
  ',;|"\'',
  '\t\n\r',
  '()[]{}<>',
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
];
export const DIGIT = 1;
export const LETTER = 1 << (KINDS_OF.length - 1);
const OTHER = 1 << KINDS_OF.length;
/** Separators between the groups of a number, which no check includes. */
export const SEPARATORS = 0b11110;

const KINDS = new Int32Array(128).fill(OTHER);
KINDS_OF.forEach((units, kind) => {
  for (const unit of units) KINDS[unit.charCodeAt(0)] = 1 << kind;
});

/** The kind of a unit. */
export function kindOf(unit: number): number {
  return unit < KINDS.length ? KINDS[unit]! : OTHER;
}

/** A longer row of one kind is followed no further: no detector knows one. */
export const ROW_UNITS_MAX = 48;

/** Derives the digits of a pattern's matches from its source, without its assertions. */
export function patternDigits({ source }: { readonly source: string }): Digits {
  return read(source, DIGITS);
}

const NONE: Digits = { most: 0, lengths: [0], joins: 0, is_strict: true };
/** So often one behind another a part may stand that has digits and others. */
const STRICT_REPEATS_MAX = 8;

const DIGITS: Question<Digits> = {
  none: NONE,
  atom: (atom) => {
    const kinds = kindsOf(atom);
    const can = kinds & DIGIT;
    return { most: can, lengths: can ? [1] : [], joins: kinds & ~DIGIT, is_strict: true };
  },
  both: (a, b) => ({
    most: a.most + b.most,
    lengths: rising(a.lengths.flatMap((some) => b.lengths.map((more) => some + more))),
    joins: a.joins | b.joins,
    is_strict: a.is_strict && b.is_strict,
  }),
  either: (a, b) => ({
    most: Math.max(a.most, b.most),
    lengths: rising([...a.lengths, ...b.lengths]),
    joins: a.joins | b.joins,
    is_strict: a.is_strict && b.is_strict,
  }),
  repeat: (one, fewest, most) => ({
    most: one.most === 0 ? 0 : one.most * most,
    lengths: repeated(one.lengths, fewest, most),
    joins: one.joins,
    is_strict: one.is_strict && (most <= STRICT_REPEATS_MAX || one.most === 0 || one.joins === 0),
  }),
  assertion: () => NONE,
};

const atoms = new Map<string, number>();
/** Atoms of units beyond ASCII, and those that say what is not meant. */
const WIDE_ATOM = /^\[\^|[^\0-\x7f]|\\(?![dw])[A-Za-z]/;

/** The kinds of which an atom of a pattern takes a unit. */
export function kindsOf(atom: string): number {
  let kinds = atoms.get(atom);
  if (kinds !== undefined) return kinds;
  const one = new RegExp(`^${atom}$`, 'i');
  kinds = WIDE_ATOM.test(atom) ? OTHER : 0;
  for (let unit = 0; unit < KINDS.length; unit++)
    if (one.test(String.fromCharCode(unit))) kinds |= kindOf(unit);
  atoms.set(atom, kinds);
  return kinds;
}

function repeated(one: readonly number[], fewest: number, most: number): readonly number[] {
  const all: number[] = fewest === 0 ? [0] : [];
  let sum: readonly number[] = [0];
  for (let times = 1; times <= Math.min(most, ROW_UNITS_MAX) && sum.length > 0; times++) {
    sum = rising(sum.flatMap((some) => one.map((more) => some + more)));
    if (times >= fewest) all.push(...sum);
  }
  return rising(all);
}

function rising(lengths: readonly number[]): readonly number[] {
  const known = lengths.filter((length) => length <= ROW_UNITS_MAX);
  return [...new Set(known)].sort((a, b) => a - b);
}
