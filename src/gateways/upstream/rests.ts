import type { Target } from './plan.ts';

/** Targets that said that they have done what they may for now; others are asked before them. */
export interface Rests {
  readonly begin: (target: Target, ms: number) => void;
  readonly isOn: (target: Target) => boolean;
}

/** Models are named by callers, so that what is kept of each has a bound. */
const RESTS_MAX = 10_000;
const REST_MS_MAX = 60_000;

/** @param now_ms a clock that never jumps */
export function openRests(now_ms: () => number): Rests {
  const until_ms = new Map<string, number>();
  return {
    begin: ({ id }, ms) => {
      until_ms.delete(id);
      until_ms.set(id, now_ms() + Math.min(ms, REST_MS_MAX));
      if (until_ms.size > RESTS_MAX) until_ms.delete(until_ms.keys().next().value!);
    },
    isOn: ({ id }) => now_ms() < (until_ms.get(id) ?? Number.NEGATIVE_INFINITY),
  };
}
