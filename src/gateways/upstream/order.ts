import { createHash } from 'node:crypto';
import type { Target } from './plan.ts';
import type { UpstreamPorts } from './ports.ts';
import type { ProxySettings } from './settings.ts';

/** How fast targets have been, for `strategy: latency`. */
export interface Speeds {
  /** A time to the first byte. */
  readonly note: (target: Target, ms: number) => void;
  /** A moving average in milliseconds; `null` where nothing is known. */
  readonly of: (target: Target) => number | null;
}

/** Weight of the newest time in the average. */
const NEWEST_SHARE = 0.3;
/** How often a target that is not the fastest is asked first, so that it is seen when that has changed. */
const EXPLORED_SHARE = 0.05;
/** Models are named by callers, so that what is kept of each has a bound. */
const SPEEDS_MAX = 10_000;

/** Nothing is known at first. */
export function openSpeeds(): Speeds {
  const averages = new Map<string, number>();
  return {
    note: ({ id }, ms) => {
      const before = averages.get(id);
      averages.delete(id);
      averages.set(id, before === undefined ? ms : before + NEWEST_SHARE * (ms - before));
      if (averages.size > SPEEDS_MAX) averages.delete(averages.keys().next().value!);
    },
    of: ({ id }) => averages.get(id) ?? null,
  };
}

export interface Ordering {
  readonly strategy: ProxySettings['strategy'];
  readonly affinity: string | null;
  readonly speeds: Speeds;
  readonly ports: Pick<UpstreamPorts, 'random' | 'priceOf'>;
}

/**
 * The order in which targets are tried: by priority, then by the strategy, and what that leaves equal by weight.
 * With an affinity the same targets come in the same order each time as long as they are the same.
 */
export function inOrder(targets: readonly Target[], ordering: Ordering): Target[] {
  if (targets.length < 2) return [...targets];
  const draws = new Map(targets.map((target) => [target, draw(target, ordering)]));
  const ranks = ranked(targets, ordering);
  return [...targets].sort(
    (a, b) => a.priority - b.priority || ranks.get(a)! - ranks.get(b)! || draws.get(a)! - draws.get(b)!,
  );
}

function ranked(targets: readonly Target[], ordering: Ordering): ReadonlyMap<Target, number> {
  if (ordering.strategy === 'priority') return byProvider(targets);
  const rank = RANKS[ordering.strategy];
  const ranks = new Map(targets.map((target) => [target, rank(target, ordering)]));
  if (ordering.strategy !== 'latency' || ordering.ports.random() >= EXPLORED_SHARE) return ranks;
  const explored = targets[Math.floor(ordering.ports.random() * targets.length)]!;
  return ranks.set(explored, Number.NEGATIVE_INFINITY);
}

/** As they are written; the keys of one provider are equal. */
function byProvider(targets: readonly Target[]): ReadonlyMap<Target, number> {
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
  Record<Exclude<Ordering['strategy'], 'priority'>, (target: Target, ordering: Ordering) => number>
> = {
  weighted: () => 0,
  // What nobody knows a price of is asked last.
  cost: ({ provider, model }, { ports }) => {
    const listed = model === null ? null : ports.priceOf?.(provider.name, model);
    return listed ?? provider.price ?? Number.MAX_VALUE;
  },
  // What was never asked is asked first: its speed is not known before.
  latency: (target, { speeds }) => speeds.of(target) ?? -1,
};

/** Smaller comes first; over all draws each target is first as often as its weight says. */
function draw({ id, weight }: Target, { affinity, ports }: Ordering): number {
  const uniform = affinity === null ? ports.random() : hashed(`${affinity}\n${id}`);
  return -Math.log(1 - uniform) / weight;
}

/** From 0 to below 1, always the same for the same text. */
function hashed(text: string): number {
  return createHash('sha256').update(text).digest().readUIntBE(0, 6) / 2 ** 48;
}
