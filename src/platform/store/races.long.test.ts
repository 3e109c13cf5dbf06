import assert from 'node:assert/strict';
import { migrations, withLawTables } from './testing/law-tables.ts';
import { RACERS, runRace } from './testing/races.ts';
import { withStores } from './testing/stores.ts';

const ROWS = process.env.NIGHTLY === undefined ? 300 : 1_000;

withStores(
  'the store under several processes',
  (law) => {
    law('rows that all claim at once have one owner each', async ({ store, settings }) => {
      const ids = Array.from({ length: ROWS }, (_, at) => at);
      await withLawTables(store.db)
        .insertInto('claims')
        .values(ids.map((id) => ({ id, owner: null })))
        .execute();
      const won = await runRace<number[], number[]>({
        settings,
        work: new URL('./testing/claim-rows.ts', import.meta.url),
        input: ids,
      });
      assert.equal(won.length, RACERS);
      assert.deepEqual(
        won.flat().sort((a, b) => a - b),
        ids,
      );
      const rows = await withLawTables(store.db).selectFrom('claims').selectAll().execute();
      assert.equal(rows.length, ROWS);
      for (const { id, owner } of rows) assert.ok(won[owner!]!.includes(id), `row ${id}`);
    });
  },
  { migrations },
);
