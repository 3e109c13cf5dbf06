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
 * @param now_ms a monotonic clock
 */
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
