import type { AuditIndex } from './audit-index.ts';
import type { EventWindow, PolicyInterval } from './window-types.ts';

/** The events of one policy in a short period. */
interface PolicyUse {
  readonly policy_hash: string;
  readonly first_ms: number;
  readonly last_ms: number;
}

type MutableInterval = { -readonly [Key in keyof PolicyInterval]: PolicyInterval[Key] };

/**
 * Lists the times in which decisions were made under each policy, by the beginning. A policy stays active until events
 * of another one follow and none of its own are among them. Two policies overlap if two processes decide with
 * different ones. A policy that was active before the window is active from its beginning on.
 */
export async function listPolicyIntervals(
  index: AuditIndex,
  { since_ms, until_ms }: Pick<EventWindow, 'since_ms' | 'until_ms'>,
): Promise<PolicyInterval[]> {
  const before = await index.db
    .selectFrom('audit_policies')
    .select(['policy_hash', 'last_ms'])
    .where('first_ms', '<', since_ms)
    .where('bucket_ms', '<=', since_ms)
    .orderBy('bucket_ms', 'desc')
    .orderBy('last_ms', 'desc')
    .orderBy('policy_hash')
    .limit(1)
    .executeTakeFirst();
  const uses = await index.db
    .selectFrom('audit_policies')
    .select(['policy_hash', 'first_ms', 'last_ms'])
    .where('last_ms', '>=', since_ms)
    .where('first_ms', '<', until_ms)
    .orderBy('first_ms')
    .orderBy('last_ms')
    .orderBy('policy_hash')
    .execute();
  const first: PolicyUse[] =
    before === undefined ? [] : [{ policy_hash: before.policy_hash, first_ms: since_ms, last_ms: since_ms }];
  const clamped = uses.map(({ policy_hash, first_ms, last_ms }) => ({
    policy_hash,
    first_ms: Math.max(first_ms, since_ms),
    last_ms: Math.min(last_ms, until_ms - 1),
  }));
  return joinUses([...first, ...clamped], until_ms);
}

/** Joins uses, sorted by their beginning, to intervals. Exported for the test. */
export function joinUses(uses: readonly PolicyUse[], untilMs: number): PolicyInterval[] {
  const intervals: MutableInterval[] = [];
  const open = new Map<string, MutableInterval>();
  for (const use of uses) {
    const own = open.get(use.policy_hash);
    // Another policy began and ended between two uses of this one, so this one was replaced meanwhile.
    const wasReplaced =
      own !== undefined &&
      [...open.values()].some(
        (other) => other !== own && other.from_ms > own.to_ms && other.to_ms < use.first_ms,
      );
    if (own !== undefined && !wasReplaced) {
      own.to_ms = Math.max(own.to_ms, use.last_ms);
      continue;
    }
    const next = { policy_hash: use.policy_hash, from_ms: use.first_ms, to_ms: use.last_ms };
    open.set(use.policy_hash, next);
    intervals.push(next);
  }
  return intervals
    .map((each) => ({ ...each, to_ms: findEnd(each, intervals, untilMs) }))
    .toSorted(
      (a, b) => a.from_ms - b.from_ms || a.to_ms - b.to_ms || (a.policy_hash < b.policy_hash ? -1 : 1),
    );
}

/** Returns when an interval ends: at the next beginning after its last event, unless another one covers that time. */
function findEnd(
  { from_ms, to_ms }: PolicyInterval,
  intervals: readonly PolicyInterval[],
  untilMs: number,
): number {
  const covering = intervals.some((other) => other.from_ms < from_ms && other.to_ms > to_ms);
  if (covering) return to_ms + 1;
  const next = intervals
    .filter((other) => other.from_ms > to_ms)
    .reduce((least, other) => Math.min(least, other.from_ms), untilMs);
  return Math.max(next, to_ms + 1);
}
