import type { Store } from '../../../platform/store/index.ts';

/** Deletes a batch of totals whose window has passed. Returns the number of deleted rows. */
export async function deleteExpiredTotals({ db }: Store, nowMs: number, batch: number): Promise<number> {
  const expired = await db
    .selectFrom('totals')
    .select(['tenant_id', 'total_hash', 'version'])
    .where('expires_ms', '<', nowMs)
    .limit(batch)
    .execute();
  for (const row of expired)
    await db
      .deleteFrom('totals')
      // A total that was used again meanwhile stays.
      .where(({ and }) => and(row))
      .execute();
  return expired.length;
}
