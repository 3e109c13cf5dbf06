import { type Anchor, complement, hasUnit, type UnitSet } from './anchors.ts';

/**
 * The part of an anchor that the automata look for: rare enough to be seldom in vain, and short enough that
 * there are few states. What is not in it is compared unit by unit where it was found (`standsAt`).
 */
export interface Head {
  /** What comes before it, which is no unit of `sets`. */
  readonly context: Context;
  readonly sets: readonly UnitSet[];
  /** Units from the beginning of the anchor to the end of the head. */
  readonly reach: number;
  /** A word has few units for each place. Words and shapes in one automaton would multiply. */
  readonly kind: 'word' | 'shape';
}

/** Nothing; no letter; no letter and no digit. An escape (`\n`) ends in neither. */
export type Context = 'any' | 'no_letter' | 'no_word';

/** How long heads are, and how many kinds of units beyond ASCII there are: the first for which states are few. */
export interface Fineness {
  readonly word_bits: number;
  readonly word_units_max: number;
  readonly shape_bits: number;
  readonly shape_units_max: number;
  /** A power of two. */
  readonly beyond_ascii: number;
}

export const FINENESS: readonly Fineness[] = [
  { word_bits: 32, word_units_max: 14, shape_bits: 18, shape_units_max: 10, beyond_ascii: 8 },
  { word_bits: 20, word_units_max: 8, shape_bits: 14, shape_units_max: 8, beyond_ascii: 4 },
  { word_bits: 12, word_units_max: 4, shape_bits: 10, shape_units_max: 4, beyond_ascii: 4 },
  { word_bits: 6, word_units_max: 2, shape_bits: 6, shape_units_max: 2, beyond_ascii: 1 },
  { word_bits: 0, word_units_max: 1, shape_bits: 0, shape_units_max: 1, beyond_ascii: 1 },
];

/** From so many ASCII units in one place on an anchor is a shape. */
const WIDE_UNITS = 7;
/** A shape's head has to be this rare, if the anchor is. */
const RARE_BITS = 13;

/** The units that a context stands for. */
export const CONTEXT_UNITS: Readonly<Record<Exclude<Context, 'any'>, UnitSet>> = {
  no_letter: [
    [0, 64],
    [91, 96],
    [123, 0xffff],
  ],
  no_word: [
    [0, 47],
    [58, 64],
    [91, 96],
    [123, 0xffff],
  ],
};

/** The head of an anchor. */
export function headOf(anchor: Anchor, fineness: Fineness): Head {
  const kind = anchor.sets.some((set) => count(set, 0, 127) >= WIDE_UNITS) ? 'shape' : 'word';
  const { context, units, before } = sequenceOf(anchor, kind);
  const span = kind === 'word' ? beginning(units, before, fineness) : rarest(units, before, fineness);
  const has_context = span.from === 0 && context !== 'any';
  return {
    context: has_context ? context : 'any',
    sets: units.slice(has_context ? 1 : span.from, span.to),
    reach: span.to - before,
    kind,
  };
}

/** All units of an anchor with what is around; `before` of them come before it. */
function sequenceOf(
  { sets, not_after, not_before }: Anchor,
  kind: Head['kind'],
): { context: Context; units: readonly UnitSet[]; before: number } {
  const units = not_before === null ? sets : [...sets, complement(not_before)];
  if (not_after === null) return { context: 'any', units, before: 0 };
  const others = complement(not_after);
  if (letters(others) > 0) {
    const is_number = !hasUnit(others, 48) && count(sets[0]!, 48, 57) > 1;
    return is_number
      ? { context: 'any', units: [others, ...units], before: 1 }
      : { context: 'any', units, before: 0 };
  }
  const is_strict = !hasUnit(others, 48) && (kind === 'shape' || hasUnit(sets[0]!, 48));
  const context = is_strict ? 'no_word' : 'no_letter';
  return { context, units: [CONTEXT_UNITS[context], ...units], before: 1 };
}

interface Span {
  readonly from: number;
  readonly to: number;
}

/** As many of the first units as make it rare. */
function beginning(units: readonly UnitSet[], before: number, fineness: Fineness): Span {
  const { word_bits, word_units_max } = fineness;
  const most = Math.min(units.length, before + word_units_max);
  let to = before + 1;
  while (to < most && bitsOf(units.slice(0, to)) < word_bits) to += 1;
  return { from: 0, to };
}

/** The part that makes fewest states while it is rare enough; then the rarest. */
function rarest(units: readonly UnitSet[], before: number, fineness: Fineness): Span {
  const { shape_bits, shape_units_max } = fineness;
  let best = { from: 0, to: units.length };
  let best_score = Number.NEGATIVE_INFINITY;
  for (let from = 0; from < units.length; from++) {
    for (let to = from + 1; to <= Math.min(units.length, from + shape_units_max); to++) {
      if (to <= before) continue;
      const score = scoreOf(units.slice(from, to), from === 0 ? before : 0, shape_bits);
      if (score > best_score) {
        best = { from, to };
        best_score = score;
      }
    }
  }
  return best;
}

function scoreOf(units: readonly UnitSet[], before: number, bits_max: number): number {
  const bits = bitsOf(units);
  const cost = units.reduce((sum, set, at) => sum + (at < before ? 0 : costOf(set, at === 0)), 0);
  const is_rare = bits >= Math.min(RARE_BITS, bits_max);
  const length = units.length / 20 + (before === 0 ? 0.5 : 0);
  return is_rare ? 1000 - cost + Math.min(bits, bits_max) - length : bits * 10 - cost;
}

/** How much a wide class multiplies states: those with letters most, for words and shapes are made of them. */
function costOf(set: UnitSet, is_first: boolean): number {
  if (count(set, 0, 127) > 70) return 9;
  const width = letters(set);
  if (width > 4) return is_first ? 1 : width > 12 ? 5 : 3;
  return width === 0 && hasUnit(set, 9) && hasUnit(set, 10) ? 1.5 : 0;
}

function letters(set: UnitSet): number {
  return count(set, 65, 90) + count(set, 97, 122);
}

/** Units of the set from `low` to `high`. */
function count(set: UnitSet, low: number, high: number): number {
  return set.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, high) - Math.max(from, low) + 1), 0);
}

/**
 * What follows what in ordinary text: small and capital letters, digits, blanks, line breaks and tabs, other
 * signs, units beyond ASCII. Counted over prose, code, logs and JSON, and rounded.
 */
const FOLLOWS: readonly (readonly number[])[] = [
  [0.784, 0.02, 0.009, 0.103, 0.005, 0.077, 0.002],
  [0.454, 0.394, 0.033, 0.044, 0.005, 0.068, 0.002],
  [0.12, 0.052, 0.543, 0.056, 0.022, 0.206, 0.001],
  [0.414, 0.052, 0.014, 0.354, 0.001, 0.149, 0.016],
  [0.154, 0.069, 0.009, 0.393, 0.248, 0.125, 0.002],
  [0.258, 0.055, 0.053, 0.219, 0.14, 0.274, 0.001],
  [0.043, 0.001, 0.001, 0.164, 0.003, 0.004, 0.784],
];
const SHARES: readonly number[] = [0.596, 0.05, 0.034, 0.162, 0.027, 0.116, 0.015];
const KINDS = SHARES.length;
const BEYOND_ASCII = KINDS - 1;
/** Of a thousand letters, digits, and other signs; what is not named is once in two thousand. */
const LETTERS = 'a69b14c44d40e125f23g20h30i71j3k9l41m29n67o70p30q3r71s71t95u32v11w10x8y14z2';
const SIGNS = `"75#9$6%3&7'37(59)59*18+6,73-58.129/83:74;28<9=49>15?5@3[17\\5]16^1_38\`29{36|11}36~2!5`;
/** An alphabet beyond ASCII is about eight blocks of sixteen. */
const BLOCK_UNITS = 16;
const ALPHABET_BLOCKS = 8;

const frequencies = unitFrequencies();

function unitFrequencies(): Float64Array {
  const shares = new Float64Array(128).fill(0.0005).fill(0.1, 48, 58);
  for (const [, sign, share] of `${LETTERS}${LETTERS.toUpperCase()}${SIGNS}`.matchAll(/(\D)(\d+)/g))
    shares[sign!.charCodeAt(0)] = Number(share) / 1000;
  shares[32] = 1;
  shares[10] = 0.85;
  shares[9] = 0.15;
  return shares;
}

function kindOf(unit: number): number {
  if (unit >= 97 && unit <= 122) return 0;
  if (unit >= 65 && unit <= 90) return 1;
  if (unit >= 48 && unit <= 57) return 2;
  if (unit === 32) return 3;
  if (unit === 10 || unit === 13 || unit === 9) return 4;
  return unit < 128 ? 5 : BEYOND_ASCII;
}

const known = new WeakMap<UnitSet, readonly number[]>();

/** Per kind, the share of its units that are in the set. */
function sharesOf(set: UnitSet): readonly number[] {
  const shares = known.get(set) ?? countShares(set);
  known.set(set, shares);
  return shares;
}

function countShares(set: UnitSet): readonly number[] {
  const shares = new Array<number>(KINDS).fill(0);
  for (const [low, high] of set) {
    for (let unit = low; unit <= Math.min(high, 127); unit++) shares[kindOf(unit)]! += frequencies[unit]!;
  }
  const blocks = count(set, 128, 0xffff) / BLOCK_UNITS;
  shares[BEYOND_ASCII] = blocks === 0 ? 0 : Math.min(1, Math.ceil(blocks) / ALPHABET_BLOCKS);
  return shares;
}

/** How rare a sequence is: it begins at one unit in 2 to the power of this. */
function bitsOf(units: readonly UnitSet[]): number {
  let chances = sharesOf(units[0]!).map((share, kind) => share * SHARES[kind]!);
  for (const set of units.slice(1)) {
    const before = chances;
    chances = sharesOf(set).map(
      (share, kind) => share * before.reduce((sum, chance, from) => sum + chance * FOLLOWS[from]![kind]!, 0),
    );
  }
  return -Math.log2(chances.reduce((sum, chance) => sum + chance, 0));
}
