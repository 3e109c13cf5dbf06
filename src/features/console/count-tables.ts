import { ACTIONS, DECISIONS } from '../../core/types/index.ts';
import type { CountField, EventCount, EventCountQuery } from '../../runtime/audit/count-types.ts';
import type { AuditQueries } from '../../runtime/audit/types.ts';
import type { ReadScope } from './read-scope.ts';

/** The outcomes of a decision that charts show. A call that needs approval is blocked until it has one. */
export const OUTCOMES = ['allow', 'modify', 'block', 'require_approval'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The number of events of one value, by outcome. */
export interface ValueCount {
  readonly value: string;
  readonly events: number;
  readonly blocked: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  readonly first_ms: number;
  readonly last_ms: number;
}

/** Counts the events of a period by one field. */
export function readCounts(
  audit: Pick<AuditQueries, 'countEvents'>,
  by: CountField,
  scope: ReadScope,
  { since_ms, until_ms }: Pick<EventCountQuery, 'since_ms' | 'until_ms'>,
  details: Pick<EventCountQuery, 'bucket_ms' | 'split' | 'values' | 'approval_events'> = {},
): Promise<readonly EventCount[]> {
  return audit.countEvents({ by, since_ms, until_ms, ...scope, ...details });
}

/** Returns when each value was first seen, in milliseconds since 1970, as far back as the index reaches. */
export async function readFirstSeen(
  audit: Pick<AuditQueries, 'countEvents'>,
  by: CountField,
  scope: ReadScope,
  values: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (values.length === 0) return new Map();
  const ever = { since_ms: null, until_ms: 0 };
  const sums = sumByValue(await readCounts(audit, by, scope, ever, { values }));
  return new Map(sums.map(({ value, first_ms }) => [value, first_ms]));
}

/** Returns the outcome of a decision and its action. */
export function getOutcome({ decision, action }: Pick<EventCount, 'decision' | 'action'>): Outcome {
  if (action === 'require_approval') return 'require_approval';
  return decision === 'block' ? 'block' : decision === 'modify' ? 'modify' : 'allow';
}

/** Adds the counts of each value up, most frequent first. */
export function sumByValue(counts: readonly EventCount[]): ValueCount[] {
  const sums = new Map<string, { -readonly [Key in keyof ValueCount]: ValueCount[Key] }>();
  for (const each of counts) {
    const sum = sums.get(each.value) ?? {
      value: each.value,
      events: 0,
      blocked: 0,
      outcomes: createEmptyOutcomes(),
      first_ms: each.first_ms,
      last_ms: each.last_ms,
    };
    sums.set(each.value, sum);
    const outcome = getOutcome(each);
    sum.events += each.count;
    if (each.decision === 'block') sum.blocked += each.count;
    sum.outcomes = { ...sum.outcomes, [outcome]: sum.outcomes[outcome] + each.count };
    sum.first_ms = Math.min(sum.first_ms, each.first_ms);
    sum.last_ms = Math.max(sum.last_ms, each.last_ms);
  }
  return [...sums.values()].toSorted((a, b) => b.events - a.events || (a.value < b.value ? -1 : 1));
}

/** Returns a count of zero for each outcome. */
export function createEmptyOutcomes(): Record<Outcome, number> {
  return { allow: 0, modify: 0, block: 0, require_approval: 0 };
}

/** Adds counts up by `decision` or `action`. Each name is present, also with zero. */
export function sumByName(
  counts: readonly EventCount[],
  name: 'decision' | 'action',
): Record<string, number> {
  const names: readonly string[] = name === 'decision' ? DECISIONS : ACTIONS;
  const sums = Object.fromEntries(names.map((one) => [one, 0]));
  for (const each of counts) sums[each[name]] = (sums[each[name]] ?? 0) + each.count;
  return sums;
}

/** Returns the number of all events. */
export function sumEvents(counts: readonly EventCount[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}

/** Formats the counts of a value for an answer. `first_ms` replaces the first event of the period. */
export function formatUsage(
  { events, blocked, outcomes, first_ms, last_ms }: ValueCount,
  firstEverMs: number = first_ms,
) {
  return {
    event_count: events,
    block_count: blocked,
    block_rate: events === 0 ? 0 : blocked / events,
    outcomes: { ...outcomes },
    first_seen: new Date(firstEverMs).toISOString(),
    last_seen: new Date(last_ms).toISOString(),
  };
}
