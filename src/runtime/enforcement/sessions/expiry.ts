import type { Store } from '../../../platform/store/index.ts';
import { deleteExpiredTotals } from '../totals/delete-totals.ts';
import { deleteExpiredValues } from '../values/delete-values.ts';
import type { SessionLimits } from './types.ts';

const BATCH = 500;
/** The time after which a count without calls is deleted; longer than a minute, because clocks may differ. */
const COUNT_MS = 3_600_000;

/**
 * Deletes a batch of expired sessions, of the values that they have seen, of counts without calls and of totals.
 * Returns `true` if more are left.
 */
export async function deleteExpiredSessions(
  store: Store,
  limits: SessionLimits,
  nowMs: number,
): Promise<boolean> {
  const sessions = await forgetExpired(store, limits, nowMs);
  const counts = await forgetCounts(store, nowMs);
  const values = await deleteExpiredValues(store, limits, nowMs, BATCH);
  const totals = await deleteExpiredTotals(store, nowMs, BATCH);
  return [sessions, counts, values, totals].includes(BATCH);
}

async function forgetExpired(
  { db }: Store,
  { idle_ms, age_ms }: SessionLimits,
  nowMs: number,
): Promise<number> {
  const expired = await db
    .selectFrom('sessions')
    .select(['tenant_id', 'session_id', 'agent_id', 'seen_ms', 'started_ms'])
    .where((row) => row.or([row('seen_ms', '<', nowMs - idle_ms), row('started_ms', '<', nowMs - age_ms)]))
    .limit(BATCH)
    .execute();
  for (const { tenant_id, session_id, agent_id, seen_ms, started_ms } of expired)
    await db
      .deleteFrom('sessions')
      .where('tenant_id', '=', tenant_id)
      .where('session_id', '=', session_id)
      .where('agent_id', '=', agent_id)
      // A session that was used again meanwhile stays.
      .where('seen_ms', '=', seen_ms)
      .where('started_ms', '=', started_ms)
      .execute();
  return expired.length;
}

async function forgetCounts({ db }: Store, nowMs: number): Promise<number> {
  const old = await db
    .selectFrom('call_counts')
    .select(['tenant_id', 'agent_id', 'tool_name', 'last_ms'])
    .where('last_ms', '<', nowMs - COUNT_MS)
    .limit(BATCH)
    .execute();
  for (const { tenant_id, agent_id, tool_name, last_ms } of old)
    await db
      .deleteFrom('call_counts')
      .where('tenant_id', '=', tenant_id)
      .where('agent_id', '=', agent_id)
      .where('tool_name', '=', tool_name)
      .where('last_ms', '=', last_ms)
      .execute();
  return old.length;
}
