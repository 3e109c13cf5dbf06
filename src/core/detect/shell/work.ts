/**
 * The work budget of one text, counted instead of timed, because core has no clock. One unit of work is about the
 * time to read one UTF-16 unit of a script (50 to 100 ns). An ordinary script takes about 2 per UTF-16 unit to read
 * and 8 to judge. Nesting, repetition and expansion take more, and end at the limit.
 */
export interface WorkBudget {
  /** Negative if more was spent than given. */
  left: number;
  readonly given: number;
}

/** Limits in units of work: per UTF-16 unit of the text, and a fixed part for short texts. */
export const WORK_LIMITS = {
  reading_per_unit: 10,
  judging_per_unit: 46,
  free: 60_000,
} as const;

/** Returns the budget of a text with this many UTF-16 units. */
export function createWorkBudget(units: number, per_unit: number): WorkBudget {
  const given = WORK_LIMITS.free + units * per_unit;
  return { left: given, given };
}

/** Spends work that was done. */
export function spendWork(work: WorkBudget, units: number): void {
  work.left -= units;
}

/** Spends work before it is done; returns whether the budget suffices. If not, nothing is left. */
export function tryToSpend(work: WorkBudget, units: number): boolean {
  work.left = units <= work.left ? work.left - units : -1;
  return work.left >= 0;
}

/** Returns the work spent so far. */
export function getSpentWork({ given, left }: WorkBudget): number {
  return given - left;
}
