/** Tests the guarantees that every feature relies on, on both databases. */
import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import type { Migrations, Store } from './index.ts';
import { entries, migrations, withLawTables } from './testing/law-tables.ts';
import type { PairsOrders } from './testing/pairs.ts';
import { runRace } from './testing/races.ts';
import { type LawStore, withStores } from './testing/stores.ts';

const made = async (store: Store): Promise<string[]> => {
  const rows = await store.db.selectFrom('store_migrations').select('name').orderBy('name').execute();
  return rows.map(({ name }) => name);
};

const later: Migrations = {
  ...migrations,
  '0003_later': {
    up: async (db) => {
      await db.schema.createTable('later').addColumn('id', 'text').execute();
    },
  },
};

const broken: Migrations = {
  ...later,
  '0004_broken': {
    up: async (db) => {
      await db.schema.createTable('half').addColumn('id', 'text').execute();
      throw new Error('the second half does not work');
    },
  },
};

withStores(
  'the tables of the store',
  (law) => {
    law('changing them twice, or by four at once, is changing them once', async ({ store, another }) => {
      const before = await made(store);
      assert.deepEqual(before, Object.keys(migrations));
      const four = Array.from({ length: 4 }, () => another({ migrate: true, migrations: later }));
      await Promise.all(four);
      assert.deepEqual(await made(store), Object.keys(later));
      await withLawTables(store.db).selectFrom('counts').selectAll().execute();
    });

    law('those of a later version are refused, and stay as they are', async ({ store, another }) => {
      await another({ migrate: true, migrations: later });
      for (const migrate of [true, false])
        await assert.rejects(another({ migrate }), { name: 'StoreFailure', code: 'store_newer' });
      assert.deepEqual(await made(store), Object.keys(later));
    });

    law(
      'those of an earlier version are refused by a process that may not change them',
      async ({ another }) => {
        await assert.rejects(another({ migrations: later }), { code: 'store_older' });
      },
    );

    law(
      'a change that fails half-way leaves nothing, and all before it are taken back too',
      async ({ store, another }) => {
        await assert.rejects(another({ migrate: true, migrations: broken }), /does not work/);
        assert.deepEqual(await made(store), Object.keys(migrations));
        const tables = await store.db.introspection.getTables();
        assert.deepEqual(
          tables.filter(({ name }) => ['half', 'later'].includes(name)),
          [],
        );
        await another({ migrate: true, migrations: later });
      },
    );

    law('those of a development version are refused with a way out', async ({ store, another }) => {
      for (const name of ['0010_approvals', '0070_mcp_pins', '0420_approval_actions']) {
        const development = { ...migrations, [name]: later['0003_later']! };
        const first = await another({ migrate: true, migrations: development });
        for (const migrate of [true, false])
          await assert.rejects(another({ migrate }), {
            code: 'store_unreleased',
            message: /development version.*Move `store\.db\*`.*, or keep using that version/,
          });
        assert.deepEqual(await made(store), Object.keys(development).sort());
        await first.db.deleteFrom('store_migrations').where('name', '=', name).execute();
        await first.db.schema.dropTable('later').execute();
      }
    });

    law('a described table has its keys, constraints, indexes and rows', async ({ store }) => {
      const db = withLawTables(store.db);
      const row = await db.selectFrom('entries').selectAll().executeTakeFirstOrThrow();
      assert.deepEqual(entries.show(row), {
        tenant_id: 'default',
        number: 1,
        subject: 's',
        issuer: null,
        tags: ['x'],
        is_active: true,
        created_at: '2026-01-31T12:00:00.000Z',
      });
      const insert = (changed: Partial<typeof row>) =>
        db
          .insertInto('entries')
          .values({ ...row, sha256: 'b', ...changed })
          .execute();
      await insert({ version: 2, issuer: 'i' });
      const refused: Partial<typeof row>[] = [
        { version: 2, sha256: 'c' },
        { version: 3, sha256: 'a' },
        { version: 4, sha256: 'd', issuer: 'i' },
      ];
      for (const changed of refused) await assert.rejects(insert(changed), JSON.stringify(changed));
      assert.equal((await db.selectFrom('entries').selectAll().execute()).length, 2);
      const tables = await store.db.introspection.getTables();
      const columns = tables.find(({ name }) => name === 'entries')!.columns;
      const nullable = columns.filter(({ isNullable }) => isNullable);
      assert.deepEqual(
        nullable.map(({ name }) => name),
        ['issuer'],
      );
    });

    law('a subject that is added in between is made up for', async ({ another, store }) => {
      const between = { ...migrations, '0001_between': later['0003_later']! };
      await another({ migrate: true, migrations: between });
      assert.deepEqual(await made(store), Object.keys(between).sort());
    });
  },
  { migrations },
);

withStores(
  'transactions of the store',
  (law) => {
    law('two processes that count to 1,000 each come to 2,000', async ({ store, settings }) => {
      await withLawTables(store.db).insertInto('counts').values({ id: 'one', amount: 0 }).execute();
      const work = new URL('./testing/increment.ts', import.meta.url);
      const counted = await runRace<number, number>({ settings, work, input: 1_000, processes: 2 });
      assert.deepEqual(counted, [1_000, 1_000]);
      assert.equal(await getAmount(store, 'one'), 2_000);
    });

    law('what fails is taken back, and others go on', async ({ store, another }) => {
      const failing = store.transaction(async (trx) => {
        await withLawTables(trx).insertInto('counts').values({ id: 'a', amount: 1 }).execute();
        throw new Error('changed its mind');
      });
      await assert.rejects(failing, /changed its mind/);
      const second = await another();
      await withLawTables(second.db).insertInto('counts').values({ id: 'a', amount: 2 }).execute();
      assert.equal(await getAmount(store, 'a'), 2);
    });

    law('uncommitted changes are invisible to others', async ({ store, another }) => {
      const second = await another();
      await store.transaction(async (trx) => {
        await withLawTables(trx).insertInto('counts').values({ id: 'a', amount: 1 }).execute();
        assert.equal(await getAmount(second, 'a'), undefined);
      });
      assert.equal(await getAmount(second, 'a'), 1);
    });

    law('many at once in one process all come about', async ({ store }) => {
      await withLawTables(store.db).insertInto('counts').values({ id: 'one', amount: 0 }).execute();
      const raise = () =>
        store.transaction(async (trx) => {
          const db = withLawTables(trx);
          const { amount } = await db
            .selectFrom('counts')
            .select('amount')
            .where('id', '=', 'one')
            .forUpdate()
            .executeTakeFirstOrThrow();
          await db
            .updateTable('counts')
            .set({ amount: amount + 1 })
            .where('id', '=', 'one')
            .execute();
        });
      await Promise.all(Array.from({ length: 100 }, raise));
      assert.equal(await getAmount(store, 'one'), 100);
    });

    law('two transactions that wait for each other both succeed', async ({ store, another }) => {
      const db = withLawTables(store.db);
      await db
        .insertInto('counts')
        .values([
          { id: 'a', amount: 0 },
          { id: 'b', amount: 0 },
        ])
        .execute();
      const second = await another();
      const raise = (by: Store, order: readonly string[]) =>
        by.transaction(async (trx) => {
          for (const id of order) {
            const raised = withLawTables(trx).updateTable('counts').where('id', '=', id);
            await raised.set(({ eb }) => ({ amount: eb('amount', '+', 1) })).execute();
          }
        });
      const both = Array.from({ length: 10 }, () => [raise(store, ['a', 'b']), raise(second, ['b', 'a'])]);
      await Promise.all(both.flat());
      assert.deepEqual([await getAmount(store, 'a'), await getAmount(store, 'b')], [20, 20]);
    });

    law('work that never ends is rolled back, and delays no other', async ({ store, another }) => {
      const hasty = await another({ transaction_ms_max: 100 });
      let late: Promise<unknown> | null = null;
      const endless = hasty.transaction(async (trx) => {
        await withLawTables(trx).insertInto('counts').values({ id: 'a', amount: 1 }).execute();
        late = new Promise((resolve) => setTimeout(resolve, 300)).then(() =>
          withLawTables(trx).insertInto('counts').values({ id: 'b', amount: 1 }).execute(),
        );
        await late;
      });
      await assert.rejects(endless, { code: 'store_busy' });
      await withLawTables(store.db).insertInto('counts').values({ id: 'a', amount: 2 }).execute();
      await assert.rejects(late!, /rolled back/);
      assert.deepEqual([await getAmount(hasty, 'a'), await getAmount(hasty, 'b')], [2, undefined]);
    });

    law('its own store is no way out of a transaction', async ({ store }) => {
      for (const wrong of [() => store.db, () => store.transaction(async () => 1)])
        await assert.rejects(
          store.transaction(async () => wrong()),
          /`trx`/,
        );
      assert.ok(await store.isThere());
    });

    law('a store that was closed says so', async ({ another }) => {
      const store = await another();
      await store.close();
      await store.close();
      assert.throws(() => store.db, { code: 'store_closed' });
      await assert.rejects(
        store.transaction(async () => 1),
        { code: 'store_closed' },
      );
      assert.equal(await store.isThere(), false);
    });
  },
  { migrations },
);

withStores(
  'a writer of the store that is killed',
  (law) => {
    law('loses nothing that it had said, and leaves no half', async ({ store, settings }) => {
      const KILLS = 5;
      let next = 0;
      let saidInAll = 0;
      for (let kill = 1; kill <= KILLS; kill++) {
        const { said: stated, first } = await killAfter(settings, next, kill * 7);
        saidInAll += stated;
        const rows = await withLawTables(store.db)
          .selectFrom('counts')
          .selectAll()
          .where('amount', '>=', first)
          .execute();
        const pairs = Map.groupBy(rows, ({ amount }) => amount);
        for (let pair = first; pair < first + stated; pair++)
          assert.ok(pairs.has(pair), `pair ${pair} is lost`);
        for (const [pair, halves] of pairs) assert.equal(halves.length, 2, `pair ${pair}`);
        next = first + pairs.size;
      }
      assert.ok(saidInAll >= KILLS * 7);
    });

    law('a kill within a transaction delays no other, and leaves nothing', async ({ store, settings }) => {
      const child = startPairs({ settings, first: 0, stay: true });
      assert.deepEqual(await once(child, 'message'), ['inside', undefined]);
      child.kill('SIGKILL');
      await once(child, 'exit');
      await store.transaction(async (trx) => {
        assert.equal((await withLawTables(trx).selectFrom('counts').selectAll().execute()).length, 0);
        await withLawTables(trx).insertInto('counts').values({ id: '0 left', amount: 0 }).execute();
      });
    });
  },
  { migrations },
);

withStores(
  'values in the store',
  (law) => {
    law('come out as they went in', async ({ store }) => {
      const text = fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.string(),
        fc.constantFrom('\0', 'a\0b', '\uD800', '\uF8FF0000'),
      );
      const wild = fc
        .array(fc.integer({ min: 0, max: 0xffff }))
        .map((units) => String.fromCharCode(...units));
      const row = fc.record({
        amount: fc.option(fc.maxSafeInteger()),
        bytes: fc.option(fc.uint8Array()),
        note: fc.option(fc.oneof(text, wild)),
      });
      let rows = 0;
      const thereAndBack = fc.asyncProperty(row, async (values) => {
        rows += 1;
        const id = values.note ?? 'none';
        await withLawTables(store.db).deleteFrom('values').execute();
        await withLawTables(store.db)
          .insertInto('values')
          .values({ id, ...values })
          .execute();
        const found = await withLawTables(store.db)
          .selectFrom('values')
          .selectAll()
          .where('id', '=', id)
          .execute();
        assert.deepEqual(found, [{ id, ...values }]);
      });
      await fc.assert(thereAndBack, { numRuns: 150 });
      assert.ok(rows >= 150);
    });

    law('are numbers where they are counted and added up', async ({ store }) => {
      const db = withLawTables(store.db);
      await db
        .insertInto('counts')
        .values([
          { id: 'a', amount: 2 ** 50 },
          { id: 'b', amount: 1 },
        ])
        .execute();
      const { count, total } = await db
        .selectFrom('counts')
        .select(({ fn }) => [fn.countAll().as('count'), fn.sum('amount').as('total')])
        .executeTakeFirstOrThrow();
      assert.deepEqual([count, total], [2, 2 ** 50 + 1]);
    });

    law('that are no number JavaScript has are refused, not rounded', async ({ store }) => {
      const { sql } = await import('kysely');
      const wide = sql`select cast(9007199254740993 as bigint) as amount`.execute(store.db);
      await assert.rejects(wide, RangeError);
    });

    law('that were said to be unique are so, and no failure of the store', async ({ store }) => {
      const twice = { id: 'a', amount: 1 };
      await withLawTables(store.db).insertInto('counts').values(twice).execute();
      const again = withLawTables(store.db).insertInto('counts').values(twice).execute();
      await assert.rejects(again, (error: Error) => error.name !== 'StoreFailure');
      const kept = await withLawTables(store.db)
        .insertInto('counts')
        .values({ id: 'a', amount: 2 })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .returning('id')
        .execute();
      assert.deepEqual(kept, []);
    });
  },
  { migrations },
);

withStores(
  'a clock that is set back',
  (law) => {
    law('revives nothing whose end was stored when it was reached', async ({ store }) => {
      const db = withLawTables(store.db);
      const EXPIRES_MS = 1_000;
      await db
        .insertInto('values')
        .values({ id: 'token', amount: EXPIRES_MS, note: null, bytes: null })
        .execute();
      // Features do the same: they check the row's note first, and record an expiry in the row.
      const isUsable = (nowMs: number) =>
        store.transaction(async (trx) => {
          const values = withLawTables(trx);
          const row = await values
            .selectFrom('values')
            .selectAll()
            .where('id', '=', 'token')
            .forUpdate()
            .executeTakeFirstOrThrow();
          if (row.note === 'ended') return false;
          if (nowMs < row.amount!) return true;
          await values.updateTable('values').set({ note: 'ended' }).where('id', '=', 'token').execute();
          return false;
        });
      const answers: boolean[] = [];
      for (const nowMs of [0, EXPIRES_MS - 1, EXPIRES_MS, 500, 0]) answers.push(await isUsable(nowMs));
      assert.deepEqual(answers, [true, true, false, false, false]);
    });
  },
  { migrations },
);

async function getAmount(store: Store, id: string): Promise<number | undefined> {
  const rows = withLawTables(store.db).selectFrom('counts').select('amount').where('id', '=', id);
  return (await rows.executeTakeFirst())?.amount;
}

function startPairs(orders: PairsOrders) {
  const child = fork(new URL('./testing/pairs.ts', import.meta.url), { serialization: 'advanced' });
  child.send(orders);
  return child;
}

/** Kills a writer in the middle of a pair, after it has reported a number of pairs. */
async function killAfter(
  settings: LawStore['settings'],
  first: number,
  pairs: number,
): Promise<{ first: number; said: number }> {
  const child = startPairs({ settings, first, stay: false });
  let stated = 0;
  child.on('message', () => {
    stated += 1;
    if (stated === pairs) child.kill('SIGKILL');
  });
  await once(child, 'close');
  return { first, said: stated };
}
