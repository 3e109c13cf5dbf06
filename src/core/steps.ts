/**
 * Steps of readers, counted instead of timed, because core has no clock. One step takes about as long as to scan one
 * UTF-16 unit of clean text: 5 ns. A reader counts steps before it takes them, and ends when the content has none
 * left. So content that costs more than `STEP_LIMITS` is refused early, whatever it is made of.
 */
export const STEP_LIMITS = {
  /** Steps that any content may take: about 50 ms. */
  free: 10_000_000,
  /** Steps for each UTF-16 unit of the content: about 2 us, which is 200 ms for 100 KB. */
  per_unit: 400,
} as const;

let taken = 0;
let limit = Number.POSITIVE_INFINITY;

/** Thrown by `countSteps`, and caught by `takeSteps` alone. */
const EXCEEDED = new Error('There are no steps left.');

/** Counts steps of a reader. Throws if the content has none left. */
export function countSteps(steps: number): void {
  taken += steps;
  if (taken > limit) throw EXCEEDED;
}

/** Adds the steps of content that is about to be read. */
export function allowSteps(units: number): void {
  limit += units * STEP_LIMITS.per_unit;
}

/**
 * Runs a reader within the steps of content with so many UTF-16 units. Returns false if they did not suffice. Inside
 * another call, the steps of the outer one apply.
 */
export function takeSteps(units: number, read: () => void): boolean {
  if (limit !== Number.POSITIVE_INFINITY) {
    read();
    return true;
  }
  limit = taken + STEP_LIMITS.free + units * STEP_LIMITS.per_unit;
  try {
    read();
    return true;
  } catch (error) {
    if (error !== EXCEEDED) throw error;
    return false;
  } finally {
    limit = Number.POSITIVE_INFINITY;
    for (const cache of caches) if (cache.size > 0) cache.clear();
  }
}

const caches: Map<string, unknown>[] = [];

/** Caches the results of a function until the end of the content that is read. */
export function createTextCache<V>(answer: (text: string) => V): (text: string) => V {
  const known = new Map<string, V>();
  caches.push(known);
  return (text) => {
    let found = known.get(text);
    if (found === undefined) {
      found = answer(text);
      known.set(text, found);
    }
    return found;
  };
}

/** Returns the steps taken so far in this process. Tests compare two values. */
export function getStepsTaken(): number {
  return taken;
}
