import { foldPattern, type PatternFold } from './pattern-reach.ts';

/** The digits of a pattern's matches. */
export interface DigitProfile {
  /** The most digits of a match. */
  readonly digits_max: number;
  /** The digit counts of matches that contain only digits, rising; empty if every match contains something else. */
  readonly plain_lengths: readonly number[];
  /** Kinds of other units in a match, as a bit set. */
  readonly other_kinds: number;
  /** True if few shapes fit: no long repeat mixes digits with other units. */
  readonly is_strict: boolean;
}

/** Kinds of units, one bit each: digits, separators of number groups, other signs, letters, all others. */
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
/** Separators between the groups of a number, which no check uses. */
export const SEPARATORS = 0b11110;

const KINDS = new Int32Array(128).fill(OTHER);
KINDS_OF.forEach((units, kind) => {
  for (const unit of units) KINDS[unit.charCodeAt(0)] = 1 << kind;
});

/** Returns the kind of a UTF-16 unit. */
export function classifyUnit(unit: number): number {
  return unit < KINDS.length ? KINDS[unit]! : OTHER;
}

/** Longer runs of one kind are cut here, because no detector matches one. */
export const RUN_UNITS_MAX = 48;

/** Derives the digits of a pattern's matches from its source. Lookarounds are ignored. */
export function buildDigitProfile({ source }: { readonly source: string }): DigitProfile {
  return foldPattern(source, DIGITS);
}

const NONE: DigitProfile = { digits_max: 0, plain_lengths: [0], other_kinds: 0, is_strict: true };
/** The most repeats of a part with digits and other units, in a strict profile. */
const STRICT_REPEATS_MAX = 8;

const DIGITS: PatternFold<DigitProfile> = {
  none: NONE,
  atom: (atom) => {
    const kinds = classifyAtom(atom);
    const can = kinds & DIGIT;
    return { digits_max: can, plain_lengths: can ? [1] : [], other_kinds: kinds & ~DIGIT, is_strict: true };
  },
  both: (a, b) => ({
    digits_max: a.digits_max + b.digits_max,
    plain_lengths: sortLengths(a.plain_lengths.flatMap((some) => b.plain_lengths.map((more) => some + more))),
    other_kinds: a.other_kinds | b.other_kinds,
    is_strict: a.is_strict && b.is_strict,
  }),
  either: (a, b) => ({
    digits_max: Math.max(a.digits_max, b.digits_max),
    plain_lengths: sortLengths([...a.plain_lengths, ...b.plain_lengths]),
    other_kinds: a.other_kinds | b.other_kinds,
    is_strict: a.is_strict && b.is_strict,
  }),
  repeat: (one, fewest, most) => ({
    digits_max: one.digits_max === 0 ? 0 : one.digits_max * most,
    plain_lengths: repeatLengths(one.plain_lengths, fewest, most),
    other_kinds: one.other_kinds,
    is_strict: one.is_strict && (most <= STRICT_REPEATS_MAX || one.digits_max === 0 || one.other_kinds === 0),
  }),
  assertion: () => NONE,
};

const atoms = new Map<string, number>();
/** Atoms with units beyond ASCII, and negated classes. */
const WIDE_ATOM = /^\[\^|[^\0-\x7f]|\\(?![dw])[A-Za-z]/;

/** Returns the kinds of the units that an atom of a pattern matches. */
export function classifyAtom(atom: string): number {
  let kinds = atoms.get(atom);
  if (kinds !== undefined) return kinds;
  const one = new RegExp(`^${atom}$`, 'i');
  kinds = WIDE_ATOM.test(atom) ? OTHER : 0;
  for (let unit = 0; unit < KINDS.length; unit++)
    if (one.test(String.fromCharCode(unit))) kinds |= classifyUnit(unit);
  atoms.set(atom, kinds);
  return kinds;
}

function repeatLengths(one: readonly number[], fewest: number, most: number): readonly number[] {
  const all: number[] = fewest === 0 ? [0] : [];
  let sum: readonly number[] = [0];
  for (let times = 1; times <= Math.min(most, RUN_UNITS_MAX) && sum.length > 0; times++) {
    sum = sortLengths(sum.flatMap((some) => one.map((more) => some + more)));
    if (times >= fewest) all.push(...sum);
  }
  return sortLengths(all);
}

function sortLengths(lengths: readonly number[]): readonly number[] {
  const known = lengths.filter((length) => length <= RUN_UNITS_MAX);
  return [...new Set(known)].sort((a, b) => a - b);
}
