/**
 * Which matches of a pattern the shape of a text leaves: where there are digits, letters and signs, whatever they are.
 */
import { DIGIT, kindsOf } from './pattern-digits.ts';
import { type Question, read } from './pattern-reach.ts';

/** The kinds of the first units of a text; `is_whole` where that is all of it. */
export interface Shape {
  readonly kinds: readonly number[];
  readonly is_whole: boolean;
}

/** Where matches of a pattern can end that begin where a shape does. */
export interface Ends {
  /** Offsets behind the last unit, rising. Behind a match there is no digit. */
  readonly ends: readonly number[];
  /** True if more can be said when more of the text is known. */
  readonly is_open: boolean;
}

/** The part of a shape that a pattern leaves open. */
export type Fit = (shape: Shape) => Ends;

/** Places in a shape, a bit each; one behind its last unit is where the text goes on. */
type Places = bigint;
type Step = (from: Places, walk: Walk) => Places;

interface Walk {
  readonly shape: Shape;
  /** True if a place behind the shape was come to by a pattern that goes on. */
  is_open: boolean;
}

/** Reads a pattern's source. What it only looks at is taken to be right. */
export function fitOf({ source }: { readonly source: string }): Fit {
  const step = read(source, STEPS);
  return (shape) => {
    const { kinds, is_whole } = shape;
    const walk: Walk = { shape, is_open: false };
    const places = step(1n, walk);
    const ends: number[] = [];
    for (let end = 1; end < kinds.length; end++)
      if ((places >> BigInt(end)) & 1n && kinds[end] !== DIGIT) ends.push(end);
    const is_behind = ((places >> BigInt(kinds.length)) & 1n) === 1n && kinds.length > 0;
    if (is_behind && is_whole) ends.push(kinds.length);
    return { ends, is_open: !is_whole && (walk.is_open || is_behind) };
  };
}

const STAY: Step = (from) => from;

const STEPS: Question<Step> = {
  none: STAY,
  atom: (atom) => {
    // What a group took is taken again, or nothing where it took nothing.
    if (atom.startsWith('\\k')) return (from, walk) => from | advance(from, walk, ~0);
    const kinds = kindsOf(atom);
    return (from, walk) => advance(from, walk, kinds);
  },
  both: (a, b) => (from, walk) => b(a(from, walk), walk),
  either: (a, b) => (from, walk) => a(from, walk) | b(from, walk),
  repeat: (one, fewest, most) => (from, walk) => {
    let all: Places = fewest === 0 ? from : 0n;
    let places = from;
    for (let times = 1; times <= Math.min(most, walk.shape.kinds.length + 1) && places !== 0n; times++) {
      places = one(places, walk);
      if (times >= fewest) all |= places;
    }
    return all;
  },
  assertion: () => STAY,
};

function advance(from: Places, walk: Walk, kinds_taken: number): Places {
  const { kinds } = walk.shape;
  let to: Places = 0n;
  for (let at = 0; at < kinds.length; at++)
    if ((from >> BigInt(at)) & 1n && (kinds[at]! & kinds_taken) !== 0) to |= 1n << BigInt(at + 1);
  if ((from >> BigInt(kinds.length)) & 1n) walk.is_open = true;
  return to;
}
