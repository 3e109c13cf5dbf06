/**
 * Writes pairs of rows until it is killed, each pair in one transaction. Reports the number of a pair when it is
 * durable. With `stay`, it stops inside a transaction after the first row of a pair.
 */
import { once } from 'node:events';
import { openServiceStore } from '../../../server/store.ts';
import type { StoreSettings } from '../index.ts';
import { migrations, withLawTables } from './law-tables.ts';

export interface PairsOrders {
  readonly settings: StoreSettings;
  readonly first: number;
  readonly stay: boolean;
}

process.once('disconnect', () => process.exit(1));
const [{ settings, first, stay }] = (await once(process, 'message')) as [PairsOrders];
const store = await openServiceStore(settings, { migrations });
for (let pair = first; ; pair++) {
  await store.transaction(async (trx) => {
    const db = withLawTables(trx);
    await db
      .insertInto('counts')
      .values({ id: `${pair} left`, amount: pair })
      .execute();
    if (stay) {
      process.send?.('inside');
      await new Promise((resolve) => setTimeout(resolve, 3_600_000));
    }
    await db
      .insertInto('counts')
      .values({ id: `${pair} right`, amount: pair })
      .execute();
  });
  process.send?.(pair);
}
