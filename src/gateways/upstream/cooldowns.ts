import type { UpstreamTarget } from './routing-table.ts';

/** Targets that reported a rate limit. Other targets are tried first until the cooldown ends. */
export interface Cooldowns {
  readonly start: (target: UpstreamTarget, ms: number) => void;
  readonly isActive: (target: UpstreamTarget) => boolean;
}

/** Callers choose model names, so the number of cooldowns is bounded. */
const COOLDOWNS_MAX = 10_000;
const COOLDOWN_MS_MAX = 60_000;

/**
 * Opens an empty set of cooldowns.
 * @param nowMs a monotonic clock
 */
export function openCooldowns(nowMs: () => number): Cooldowns {
  const untilMs = new Map<string, number>();
  return {
    start: ({ id }, ms) => {
      untilMs.delete(id);
      untilMs.set(id, nowMs() + Math.min(ms, COOLDOWN_MS_MAX));
      if (untilMs.size > COOLDOWNS_MAX) untilMs.delete(untilMs.keys().next().value!);
    },
    isActive: ({ id }) => nowMs() < (untilMs.get(id) ?? Number.NEGATIVE_INFINITY),
  };
}
