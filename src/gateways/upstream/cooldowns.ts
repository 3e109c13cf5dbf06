import type { UpstreamTarget } from './routing-table.ts';

/** Targets that said that they have done what they may for now; others are asked before them. */
export interface Cooldowns {
  readonly start: (target: UpstreamTarget, ms: number) => void;
  readonly isActive: (target: UpstreamTarget) => boolean;
}

/** Models are named by callers, so that what is kept of each has a bound. */
const COOLDOWNS_MAX = 10_000;
const COOLDOWN_MS_MAX = 60_000;

/** @param now_ms a clock that never jumps */
export function openCooldowns(now_ms: () => number): Cooldowns {
  const until_ms = new Map<string, number>();
  return {
    start: ({ id }, ms) => {
      until_ms.delete(id);
      until_ms.set(id, now_ms() + Math.min(ms, COOLDOWN_MS_MAX));
      if (until_ms.size > COOLDOWNS_MAX) until_ms.delete(until_ms.keys().next().value!);
    },
    isActive: ({ id }) => now_ms() < (until_ms.get(id) ?? Number.NEGATIVE_INFINITY),
  };
}
