import { countSteps } from '../../steps.ts';

/**
 * The work budget of one text. One unit of work is about the time to read one UTF-16 unit of a script, and counts as
 * several steps (steps.ts). An ordinary script takes about 2 per UTF-16 unit to read and 8 to judge. Nesting,
 * repetition and expansion take more, and end at the limit.
 */
export interface WorkBudget {
  /** Negative if more was spent than given. */
  left: number;
}

/** Limits in units of work: per UTF-16 unit of the text, and a fixed part for short texts. */
export const WORK_LIMITS = {
  reading_per_unit: 10,
  judging_per_unit: 46,
  free: 60_000,
} as const;

const STEPS_PER_WORK = 10;

/** Returns the budget of a text with this many UTF-16 units. */
export function createWorkBudget(units: number, perUnit: number): WorkBudget {
  return { left: WORK_LIMITS.free + units * perUnit };
}

/** Spends work that was done. */
export function spendWork(work: WorkBudget, units: number): void {
  work.left -= units;
  countSteps(units * STEPS_PER_WORK);
}

/** Spends work before it is done; returns whether the budget suffices. If not, nothing is left. */
export function tryToSpend(work: WorkBudget, units: number): boolean {
  work.left = units <= work.left ? work.left - units : -1;
  if (work.left >= 0) countSteps(units * STEPS_PER_WORK);
  return work.left >= 0;
}

/** Ends the reading of a script that exceeds another limit. */
export function exhaustWork(work: WorkBudget): void {
  work.left = -1;
}
