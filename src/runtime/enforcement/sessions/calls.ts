import { listActingAgents } from '../../../core/decision/rules.ts';
import type { Crossing } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';

const MINUTE_MS = 60_000;

/** A tool call whose calls are counted. */
export type CountedCall = Crossing & { readonly tool: string };

/** Limits on a tool's calls; absent for none. */
export interface CallLimits {
  readonly per_agent?: number;
  readonly per_user?: number;
}

/** Calls in the last minute, including this one: the highest count of the acting agents, and the proved person's. */
export interface RecentCalls {
  readonly calls_last_minute?: number;
  readonly calls_last_minute_for_user?: number;
}

/** Returns the calls in the last minute, including this one, for each limit. */
export async function readRecentCalls(
  store: Store,
  { tool, now_ms, ...crossing }: CountedCall,
  limits: CallLimits,
): Promise<RecentCalls> {
  const counters = listCounters(crossing, limits);
  if (counters.length === 0) return {};
  const rows = await store.db
    .selectFrom('call_counts')
    .select(['agent_id', 'calls'])
    .where('tenant_id', '=', crossing.tenant_id)
    .where(
      'agent_id',
      'in',
      counters.map(({ owner }) => owner),
    )
    .where('tool_name', '=', tool)
    .execute();
  const counts = new Map(rows.map((row) => [row.agent_id, listRecentCalls(row.calls, now_ms).length]));
  return summarizeCounts(counters, ({ owner }) => 1 + (counts.get(owner) ?? 0));
}

/**
 * Counts an allowed call and returns the calls in the last minute. A call over one of the limits is counted nowhere: if
 * calls race for the last place, in any process, one gets it.
 */
export async function countCall(
  store: Store,
  { tool, now_ms, ...crossing }: CountedCall,
  limits: CallLimits,
): Promise<RecentCalls> {
  const tenantId = crossing.tenant_id;
  const counters = listCounters(crossing, limits);
  return store.transaction(async (trx) => {
    const counted = new Map<string, readonly number[]>();
    for (const { owner } of counters) {
      await trx
        .insertInto('call_counts')
        .values({ tenant_id: tenantId, agent_id: owner, tool_name: tool, calls: '[]', last_ms: now_ms })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const row = await trx
        .selectFrom('call_counts')
        .select('calls')
        .where('tenant_id', '=', tenantId)
        .where('agent_id', '=', owner)
        .where('tool_name', '=', tool)
        .forUpdate()
        .executeTakeFirstOrThrow();
      counted.set(owner, [...listRecentCalls(row.calls, now_ms), now_ms]);
    }
    const countOf = ({ owner }: CallCounter) => counted.get(owner)!.length;
    if (counters.every((counter) => countOf(counter) <= counter.calls_max))
      for (const [owner, calls] of counted)
        await trx
          .updateTable('call_counts')
          .set({ calls: JSON.stringify(calls), last_ms: now_ms })
          .where('tenant_id', '=', tenantId)
          .where('agent_id', '=', owner)
          .where('tool_name', '=', tool)
          .execute();
    return summarizeCounts(counters, countOf);
  });
}

/** One agent's count, or one person's over all agents. */
interface CallCounter {
  readonly kind: 'agent' | 'user';
  /** The count's key. */
  readonly owner: string;
  readonly calls_max: number;
}

/** No agent's name has a control character, so that no agent shares a person's count. */
const USER_OWNER = '\u0001';

/** Lists the counts in one order, so that two calls for the same agents do not deadlock. */
function listCounters(
  crossing: Pick<Crossing, 'agent_id' | 'source_agent_id' | 'principal'>,
  { per_agent, per_user }: CallLimits,
): readonly CallCounter[] {
  const user = crossing.principal?.user ?? null;
  const agents = per_agent === undefined ? [] : [...listActingAgents(crossing)].sort();
  return [
    ...agents.map((owner): CallCounter => ({ kind: 'agent', owner, calls_max: per_agent! })),
    ...(per_user === undefined || user === null
      ? []
      : [{ kind: 'user', owner: `${USER_OWNER}${user.user_id}`, calls_max: per_user } as const]),
  ];
}

function summarizeCounts(
  counters: readonly CallCounter[],
  countOf: (counter: CallCounter) => number,
): RecentCalls {
  const highest = (kind: CallCounter['kind']): number | undefined => {
    const counts = counters.filter((counter) => counter.kind === kind).map(countOf);
    return counts.length === 0 ? undefined : Math.max(...counts);
  };
  const [byAgent, byUser] = [highest('agent'), highest('user')];
  return {
    ...(byAgent !== undefined && { calls_last_minute: byAgent }),
    ...(byUser !== undefined && { calls_last_minute_for_user: byUser }),
  };
}

/**
 * Returns the calls of the last minute. The clocks of two machines may differ by a minute. A later call comes
 * from a clock that was wrong and has been set back; counting it would block the tool until that time.
 */
function listRecentCalls(calls: string, nowMs: number): number[] {
  return (JSON.parse(calls) as number[]).filter((atMs) => Math.abs(nowMs - atMs) < MINUTE_MS);
}
