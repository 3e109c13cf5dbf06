/** A racer that claims every row it can, in an order of its own. */

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
    if (got) won.push(id);
  }
  return won;
}
