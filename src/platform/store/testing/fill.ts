/**
 * Writes incompressible rows of 64 KB until the store rejects one, and reports why. After a message, writes one more.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { openServiceStore } from '../../../server/store.ts';
import { StoreFailure, type StoreSettings } from '../index.ts';
import { migrations, withLawTables } from './law-tables.ts';

const ROWS_MAX = 5_000;

process.once('disconnect', () => process.exit(1));
const [settings] = (await once(process, 'message')) as [StoreSettings];
const store = await openServiceStore(settings, { migrations });
let written = 0;
let failure: unknown = null;
const write = () =>
  store.transaction(async (trx) => {
    const row = {
      id: `${written}`,
      amount: written,
      note: null,
      bytes: new Uint8Array(randomBytes(65_536)),
    };
    await withLawTables(trx).insertInto('values').values(row).execute();
    await withLawTables(trx)
      .insertInto('counts')
      .values({ id: `${written}`, amount: written })
      .execute();
  });
while (failure === null && written < ROWS_MAX) {
  await write().then(
    () => {
      written += 1;
    },
    (error) => {
      failure = error;
    },
  );
}
process.send?.({ written, code: failure instanceof StoreFailure ? failure.code : String(failure) });
await once(process, 'message');
await write();
written += 1;
process.send?.({ written, code: null });
