import { listActingAgents } from '../../../core/decision/rules.ts';
import type { Crossing } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';

const MINUTE_MS = 60_000;

/** Of which tool calls are counted. */
export type CountedCall = Crossing & { readonly tool: string };

/** The most calls of the tool that one of those who act was let make in the last minute, and this one. */
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
  return 1 + Math.max(0, ...rows.map(({ calls }) => recent(calls, now_ms).length));
}

/**
 * Counts a call that is let through, and gives how many there were in the last minute with it. Where that is more
 * than `calls_max`, it is not counted: of calls that race for the last place, in whatever process, one has it.
 */
export async function countCall(store: Store, crossing: CountedCall, calls_max: number): Promise<number> {
  const { tenant_id, tool, now_ms } = crossing;
  // Two calls by the same pair of agents must not wait for each other crosswise.
  const agents = [...listActingAgents(crossing)].sort();
  return store.transaction(async (trx) => {
    let most = 0;
    for (const agent_id of agents) {
      await trx
        .insertInto('call_counts')
        .values({ tenant_id, agent_id, tool_name: tool, calls: '[]', last_ms: now_ms })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      const row = await trx
        .selectFrom('call_counts')
        .select('calls')
        .where('tenant_id', '=', tenant_id)
        .where('agent_id', '=', agent_id)
        .where('tool_name', '=', tool)
        .forUpdate()
        .executeTakeFirstOrThrow();
      const calls = [...recent(row.calls, now_ms), now_ms];
      most = Math.max(most, calls.length);
      if (calls.length > calls_max) continue;
      await trx
        .updateTable('call_counts')
        .set({ calls: JSON.stringify(calls), last_ms: now_ms })
        .where('tenant_id', '=', tenant_id)
        .where('agent_id', '=', agent_id)
        .where('tool_name', '=', tool)
        .execute();
    }
    return most;
  });
}

/**
 * The calls of the last minute. The clocks of two machines may differ by as much; what is from further ahead is of a
 * clock that was wrong and has been set back, and would keep the tool from its agent until then.
 */
function recent(calls: string, now_ms: number): number[] {
  return (JSON.parse(calls) as number[]).filter((at_ms) => Math.abs(now_ms - at_ms) < MINUTE_MS);
}
