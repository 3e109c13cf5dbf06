/** A racer that repeatedly increments a counter: it reads the value, yields, and writes the value plus one. */
import { withLawTables } from './law-tables.ts';
import type { Racer } from './races.ts';

export { migrations } from './law-tables.ts';

/** @param racer - its input is the number of increments */
export default async function increment({ store, input: times }: Racer<number>): Promise<number> {
  for (let time = 0; time < times; time++) {
    await store.transaction(async (trx) => {
      const db = withLawTables(trx);
      const row = await db
        .selectFrom('counts')
        .select('amount')
        .where('id', '=', 'one')
        .forUpdate()
        .executeTakeFirstOrThrow();
      await new Promise((resolve) => setImmediate(resolve));
      await db
        .updateTable('counts')
        .set({ amount: row.amount + 1 })
        .where('id', '=', 'one')
        .execute();
    });
  }
  return times;
}
