import type { UnitSet } from './anchors.ts';

/** Equivalence classes of UTF-16 units: no set of a tree separates two units of one class. */
export interface UnitClasses {
  /** The class of each of the 65,536 UTF-16 units. The first `wide_count` classes contain units beyond ASCII. */
  readonly classes: Uint16Array;
  readonly class_count: number;
  readonly wide_count: number;
  /** 1 at `set * class_count + class` if the set contains the class. */
  readonly holds: Uint8Array;
}

const CLASSES_MAX = 2048;
const ASCII_UNITS = 128;
const UNITS = 0x10000;

/**
 * Splits all units at the bounds of the sets; between two bounds every unit is in the same sets. Throws if there are
 * too many classes.
 */
export function classifyUnits(sets: readonly UnitSet[]): UnitClasses {
  const bounds = [...findBounds(sets).entries()].sort(([a], [b]) => a - b);
  const holding = new Uint8Array(sets.length);
  const members: (readonly number[])[] = [];
  const known = new Map<string, number>();
  const spans = bounds.map(([low, changes], at) => {
    for (const set of changes) holding[set]! ^= 1;
    const high = bounds[at + 1]?.[0] ?? UNITS;
    return { low, high, held: listHeldSets(holding) };
  });
  const classes = new Uint16Array(UNITS);
  const addSpan = ({ low, high, held }: (typeof spans)[number]): void => {
    const key = held.join();
    if (!known.has(key)) known.set(key, members.push(held) - 1);
    classes.fill(known.get(key)!, low, high);
  };
  spans.filter(({ low }) => low >= ASCII_UNITS).forEach(addSpan);
  const wideCount = members.length;
  spans.filter(({ low }) => low < ASCII_UNITS).forEach(addSpan);
  if (members.length > CLASSES_MAX) throw new Error(`the anchors need more than ${CLASSES_MAX} classes`);
  const holds = new Uint8Array(sets.length * members.length);
  members.forEach((held, c) => {
    for (const set of held) holds[set * members.length + c] = 1;
  });
  return { classes, class_count: members.length, wide_count: wideCount, holds };
}

/** Returns the units at which sets begin or end, with those sets. */
function findBounds(sets: readonly UnitSet[]): ReadonlyMap<number, readonly number[]> {
  const bounds = new Map<number, number[]>([
    [0, []],
    [ASCII_UNITS, []],
  ]);
  const add = (unit: number, set: number): void => {
    if (unit === UNITS) return;
    const known = bounds.get(unit);
    if (known === undefined) bounds.set(unit, [set]);
    else known.push(set);
  };
  sets.forEach((ranges, set) => {
    for (const [low, high] of ranges) {
      add(low, set);
      add(high + 1, set);
    }
  });
  return bounds;
}

function listHeldSets(holding: Uint8Array): readonly number[] {
  const held: number[] = [];
  for (let set = 0; set < holding.length; set++) if (holding[set] === 1) held.push(set);
  return held;
}
