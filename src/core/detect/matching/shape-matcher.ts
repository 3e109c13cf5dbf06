/**
 * Computes which matches of a pattern a text shape allows: the kinds of its units (digits, letters, signs), whatever
 * their values.
 */
import { classifyAtom, DIGIT } from './digit-profile.ts';
import { foldPattern, type PatternFold } from './pattern-reach.ts';

/** The kinds of the first units of a text; `is_whole` if that is all of it. */
export interface TextShape {
  readonly kinds: readonly number[];
  readonly is_whole: boolean;
}

/** The offsets at which the matches that begin at the start of a shape can end. */
export interface MatchEnds {
  /** Offsets after the last unit, rising. No digit follows a match. */
  readonly ends: readonly number[];
  /** True if more of the text could change the result. */
  readonly is_open: boolean;
}

/** Returns the matches that a shape allows. */
export type ShapeMatcher = (shape: TextShape) => MatchEnds;

/** Positions in a shape, one bit each; the bit after the last unit means that the match continues. */
type PositionSet = bigint;
type Step = (from: PositionSet, walk: Walk) => PositionSet;

interface Walk {
  readonly shape: TextShape;
  /** True if a pattern continued after the end of the shape. */
  is_open: boolean;
}

/** Compiles a pattern's source. Lookarounds count as true. */
export function compileShapeMatcher({ source }: { readonly source: string }): ShapeMatcher {
  const step = foldPattern(source, STEPS);
  return (shape) => {
    const { kinds, is_whole } = shape;
    const walk: Walk = { shape, is_open: false };
    const places = step(1n, walk);
    const ends: number[] = [];
    for (let end = 1; end < kinds.length; end++)
      if ((places >> BigInt(end)) & 1n && kinds[end] !== DIGIT) ends.push(end);
    const isAfter = ((places >> BigInt(kinds.length)) & 1n) === 1n && kinds.length > 0;
    if (isAfter && is_whole) ends.push(kinds.length);
    return { ends, is_open: !is_whole && (walk.is_open || isAfter) };
  };
}

const STAY: Step = (from) => from;

const STEPS: PatternFold<Step> = {
  none: STAY,
  atom: (atom) => {
    // A back-reference repeats a group, or nothing if the group is empty.
    if (atom.startsWith('\\k')) return (from, walk) => from | advancePositions(from, walk, ~0);
    const kinds = classifyAtom(atom);
    return (from, walk) => advancePositions(from, walk, kinds);
  },
  both: (a, b) => (from, walk) => b(a(from, walk), walk),
  either: (a, b) => (from, walk) => a(from, walk) | b(from, walk),
  repeat: (one, fewest, most) => (from, walk) => {
    let all: PositionSet = fewest === 0 ? from : 0n;
    let places = from;
    for (let times = 1; times <= Math.min(most, walk.shape.kinds.length + 1) && places !== 0n; times++) {
      places = one(places, walk);
      if (times >= fewest) all |= places;
    }
    return all;
  },
  assertion: () => STAY,
};

function advancePositions(from: PositionSet, walk: Walk, kindsTaken: number): PositionSet {
  const { kinds } = walk.shape;
  let to: PositionSet = 0n;
  for (let at = 0; at < kinds.length; at++)
    if ((from >> BigInt(at)) & 1n && (kinds[at]! & kindsTaken) !== 0) to |= 1n << BigInt(at + 1);
  if ((from >> BigInt(kinds.length)) & 1n) walk.is_open = true;
  return to;
}
