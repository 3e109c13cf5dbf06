import { createHash } from 'node:crypto';
import type { UpstreamPorts } from './ports.ts';
import type { UpstreamTarget } from './routing-table.ts';
import type { ProxySettings } from './settings.ts';

/** How fast targets have been, for `strategy: latency`. */
export interface LatencyTracker {
  /** A time to the first byte. */
  readonly record: (target: UpstreamTarget, ms: number) => void;
  /** A moving average in milliseconds; `null` where nothing is known. */
  readonly average: (target: UpstreamTarget) => number | null;
}

/** Weight of the newest time in the average. */
const NEWEST_SHARE = 0.3;
/** How often a target that is not the fastest is asked first, so that it is seen when that has changed. */
const EXPLORATION_RATE = 0.05;
/** Models are named by callers, so that what is kept of each has a bound. */
const TARGETS_MAX = 10_000;

/** Nothing is known at first. */
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

export interface OrderingContext {
  readonly strategy: ProxySettings['strategy'];
  readonly affinity: string | null;
  readonly speeds: LatencyTracker;
  readonly ports: Pick<UpstreamPorts, 'random' | 'priceOf'>;
}

/**
 * The order in which targets are tried: by priority, then by the strategy, and what that leaves equal by weight.
 * With an affinity the same targets come in the same order each time as long as they are the same.
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

/** As they are written; the keys of one provider are equal. */
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
  // What nobody knows a price of is asked last.
  cost: ({ provider, model }, { ports }) => {
    const listed = model === null ? null : ports.priceOf?.(provider.name, model);
    return listed ?? provider.price ?? Number.MAX_VALUE;
  },
  // What was never asked is asked first: its speed is not known before.
  latency: (target, { speeds }) => speeds.average(target) ?? -1,
};

/** Smaller comes first; over all draws each target is first as often as its weight says. */
function drawWeight({ id, weight }: UpstreamTarget, { affinity, ports }: OrderingContext): number {
  const uniform = affinity === null ? ports.random() : hashToUnit(`${affinity}\n${id}`);
  return -Math.log(1 - uniform) / weight;
}

/** From 0 to below 1, always the same for the same text. */
function hashToUnit(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48;
}
