import { listActingAgents } from '../../../core/decision/rules.ts';
import type { Crossing } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';

const MINUTE_MS = 60_000;

/** A tool call whose calls are counted. */
export type CountedCall = Crossing & { readonly tool: string };

/** Returns the number of calls in the last minute including this one: the highest of the agents that act. */
export async function readRecentCalls(
  store: Store,
  { tenant_id, tool, now_ms, ...crossing }: CountedCall,
): Promise<number> {
  const rows = await store.db
    .selectFrom('call_counts')
    .select('calls')
    .where('tenant_id', '=', tenant_id)
    .where('agent_id', 'in', [...listActingAgents(crossing)])
    .where('tool_name', '=', tool)
    .execute();
  return 1 + Math.max(0, ...rows.map(({ calls }) => listRecentCalls(calls, now_ms).length));
}

/**
 * Counts an allowed call and returns the number of calls in the last minute. A call over `callsMax` is not
 * counted: of calls that race for the last place, in any process, one gets it.
 */
export async function countCall(store: Store, crossing: CountedCall, callsMax: number): Promise<number> {
  const { tenant_id, tool, now_ms } = crossing;
  // Sorted, so that two calls by the same pair of agents do not deadlock.
  const agents = [...listActingAgents(crossing)].sort();
  return store.transaction(async (trx) => {
    let most = 0;
    for (const agentId of agents) {
      await trx
        .insertInto('call_counts')
        .values({ tenant_id, agent_id: agentId, tool_name: tool, calls: '[]', last_ms: now_ms })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const row = await trx
        .selectFrom('call_counts')
        .select('calls')
        .where('tenant_id', '=', tenant_id)
        .where('agent_id', '=', agentId)
        .where('tool_name', '=', tool)
        .forUpdate()
        .executeTakeFirstOrThrow();
      const calls = [...listRecentCalls(row.calls, now_ms), now_ms];
      most = Math.max(most, calls.length);
      if (calls.length > callsMax) continue;
      await trx
        .updateTable('call_counts')
        .set({ calls: JSON.stringify(calls), last_ms: now_ms })
        .where('tenant_id', '=', tenant_id)
        .where('agent_id', '=', agentId)
        .where('tool_name', '=', tool)
        .execute();
    }
    return most;
  });
}

/**
 * Returns the calls of the last minute. The clocks of two machines may differ by a minute. A later call comes
 * from a clock that was wrong and has been set back; counting it would block the tool until that time.
 */
function listRecentCalls(calls: string, nowMs: number): number[] {
  return (JSON.parse(calls) as number[]).filter((atMs) => Math.abs(nowMs - atMs) < MINUTE_MS);
}
