/**
 * How much one text may cost, counted and not timed: there is no clock in core. One unit of work is about what
 * it takes to look at one UTF-16 unit of a script (some 50 to 100 ns). An ordinary script takes about 2 of them
 * per UTF-16 unit to read and 8 to judge; what nests, repeats and fills in takes more, and ends at the limit.
 */
export interface Work {
  /** Below zero when more was asked for than there is. */
  left: number;
  readonly given: number;
}

/** Limits in units of work: for each UTF-16 unit of the text, and a share that short texts have as well. */
export const WORK_LIMITS = {
  reading_per_unit: 10,
  judging_per_unit: 46,
  free: 60_000,
} as const;

/** The work that a text of so many UTF-16 units may take. */
export function workFor(units: number, per_unit: number): Work {
  const given = WORK_LIMITS.free + units * per_unit;
  return { left: given, given };
}

/** Notes work that was done. */
export function spend(work: Work, units: number): void {
  work.left -= units;
}

/** Asks for work that is still to be done, and notes it. Where there is not as much left, none is left. */
export function afford(work: Work, units: number): boolean {
  work.left = units <= work.left ? work.left - units : -1;
  return work.left >= 0;
}

/** What was taken so far. */
export function spent({ given, left }: Work): number {
  return given - left;
}
