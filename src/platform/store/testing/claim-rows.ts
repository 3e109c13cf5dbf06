/** A racer that claims every row it can, all racers in the same order. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from '../index.ts';
import { withLawTables } from './law-tables.ts';
import type { Racer } from './races.ts';

export { migrations } from './law-tables.ts';

/** @returns the IDs of the rows that this process claimed */
export default async function claim({ store, number, input }: Racer<readonly number[]>): Promise<number[]> {
  const won: number[] = [];
  for (const id of input) {
    const got = await store.transaction(async (trx) => {
      const claims = withLawTables(trx);
      const row = await claims
        .selectFrom('claims')
        .select('owner')
        .where('id', '=', id)
        .forUpdate()
        .executeTakeFirstOrThrow();
      if (row.owner !== null) return false;
      await claims.updateTable('claims').set({ owner: number }).where('id', '=', id).execute();
      return true;
    });
    if (!got) continue;
    won.push(id);
    // A busy machine may run one process to its end before the next begins, and then nothing races.
    if (won.length === 1) await waitForRival(store, number);
  }
  return won;
}

/** Waits until another process has claimed a row. */
async function waitForRival(store: Store, number: number): Promise<void> {
  const claims = withLawTables(store.db)
    .selectFrom('claims')
    .select('id')
    .where('owner', '!=', number)
    .limit(1);
  while ((await claims.execute()).length === 0) await sleep(5);
}
