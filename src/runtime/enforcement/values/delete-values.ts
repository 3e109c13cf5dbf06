import type { Transaction } from 'kysely';
import type { Store, StoreTables } from '../../../platform/store/index.ts';
import { deleteOldTexts } from './conversation-texts.ts';

/**
 * Deletes a batch of expired sessions' values, and the texts that no longer count. Returns the number of deleted
 * sessions.
 */
export async function deleteExpiredValues(
  store: Store,
  { idle_ms, age_ms }: { readonly idle_ms: number; readonly age_ms: number },
  nowMs: number,
  batch: number,
): Promise<number> {
  await deleteOldTexts(store, { age_ms }, nowMs);
  const { db } = store;
  const expired = await db
    .selectFrom('values_seen')
    .select(['tenant_id', 'session_id', 'agent_id', 'principal_hash', 'version', 'seen_ms'])
    .where((row) => row.or([row('seen_ms', '<', nowMs - idle_ms), row('started_ms', '<', nowMs - age_ms)]))
    .limit(batch)
    .execute();
  for (const row of expired)
    await db
      .deleteFrom('values_seen')
      // A session that was used again meanwhile stays.
      .where(({ and }) => and(row))
      .execute();
  return expired.length;
}

/** Deletes a session's values, for one agent or, with `null`, for all. */
export async function deleteSessionValues(
  trx: Transaction<StoreTables>,
  {
    tenant_id,
    session_id,
    agent_id,
  }: { readonly tenant_id: string; readonly session_id: string; readonly agent_id: string | null },
): Promise<void> {
  let rows = trx
    .deleteFrom('values_seen')
    .where('tenant_id', '=', tenant_id)
    .where('session_id', '=', session_id);
  if (agent_id !== null) rows = rows.where('agent_id', '=', agent_id);
  await rows.execute();
}
