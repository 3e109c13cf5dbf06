import { createHash } from 'node:crypto';
import type { UpstreamPorts } from './ports.ts';
import type { UpstreamTarget } from './routing-table.ts';
import type { ProxySettings } from './settings.ts';

/** The latencies of targets, for `strategy: latency`. */
export interface LatencyTracker {
  /** Records the time to the first byte. */
  readonly record: (target: UpstreamTarget, ms: number) => void;
  /** Returns the moving average in milliseconds; `null` if there is no record. */
  readonly average: (target: UpstreamTarget) => number | null;
}

/** The weight of the newest time in the average. */
const NEWEST_SHARE = 0.3;
/** The share of calls that try a random target first, so that changed latencies are noticed. */
const EXPLORATION_RATE = 0.05;
/** Callers choose model names, so the number of records is bounded. */
const TARGETS_MAX = 10_000;

/** Opens a tracker without records. */
export function openLatencyTracker(): LatencyTracker {
  const averages = new Map<string, number>();
  return {
    record: ({ id }, ms) => {
      const before = averages.get(id);
      averages.delete(id);
      averages.set(id, before === undefined ? ms : before + NEWEST_SHARE * (ms - before));
      if (averages.size > TARGETS_MAX) averages.delete(averages.keys().next().value!);
    },
    average: ({ id }) => averages.get(id) ?? null,
  };
}

/** The strategy and data that the order of targets depends on. */
export interface OrderingContext {
  readonly strategy: ProxySettings['strategy'];
  readonly affinity: string | null;
  readonly speeds: LatencyTracker;
  readonly ports: Pick<UpstreamPorts, 'random' | 'priceOf'>;
}

/**
 * Orders targets by priority, then by strategy, and equal ones randomly by weight. With an affinity the order is the
 * same each time, as long as the targets are the same.
 */
export function orderTargets(
  targets: readonly UpstreamTarget[],
  ordering: OrderingContext,
): UpstreamTarget[] {
  if (targets.length < 2) return [...targets];
  const draws = new Map(targets.map((target) => [target, drawWeight(target, ordering)]));
  const ranks = rankTargets(targets, ordering);
  return [...targets].sort(
    (a, b) => a.priority - b.priority || ranks.get(a)! - ranks.get(b)! || draws.get(a)! - draws.get(b)!,
  );
}

function rankTargets(
  targets: readonly UpstreamTarget[],
  ordering: OrderingContext,
): ReadonlyMap<UpstreamTarget, number> {
  if (ordering.strategy === 'priority') return rankByProvider(targets);
  const rank = RANKS[ordering.strategy];
  const ranks = new Map(targets.map((target) => [target, rank(target, ordering)]));
  if (ordering.strategy !== 'latency' || ordering.ports.random() >= EXPLORATION_RATE) return ranks;
  const explored = targets[Math.floor(ordering.ports.random() * targets.length)]!;
  return ranks.set(explored, Number.NEGATIVE_INFINITY);
}

/** Ranks targets in the order of the configuration. The keys of one provider and model have the same rank. */
function rankByProvider(targets: readonly UpstreamTarget[]): ReadonlyMap<UpstreamTarget, number> {
  const places = new Map<string, number>();
  return new Map(
    targets.map((target) => {
      const name = JSON.stringify([target.provider.name, target.model]);
      if (!places.has(name)) places.set(name, places.size);
      return [target, places.get(name)!];
    }),
  );
}

const RANKS: Readonly<
  Record<
    Exclude<OrderingContext['strategy'], 'priority'>,
    (target: UpstreamTarget, ordering: OrderingContext) => number
  >
> = {
  weighted: () => 0,
  // Targets with an unknown price come last.
  cost: ({ provider, model }, { ports }) => {
    const listed = model === null ? null : ports.priceOf?.(provider.name, model);
    return listed ?? provider.price ?? Number.MAX_VALUE;
  },
  // Targets without a record come first, because their latency is unknown.
  latency: (target, { speeds }) => speeds.average(target) ?? -1,
};

/** Draws a sort key; the smallest comes first. Over many draws, each target is first in proportion to its weight. */
function drawWeight({ id, weight }: UpstreamTarget, { affinity, ports }: OrderingContext): number {
  const uniform = affinity === null ? ports.random() : hashToUnit(`${affinity}\n${id}`);
  return -Math.log(1 - uniform) / weight;
}

/** Hashes a text to a number from 0 up to, not including, 1. */
function hashToUnit(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48;
}
