import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import type { Json } from '../../core/types/index.ts';
import { StoreFailure } from '../../platform/store/index.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import type { EntryRow } from './entry.ts';
import { MEMORY_CALLER, MEMORY_SUBJECT, openTestMemory } from './testing/test-memory.ts';

/** A text that no detector matches, and that can be found at any position of a file. */
const PLAIN = 'the-walrus-and-the-carpenter';

withStores('memory', (law) => {
  law('any value of its field’s type comes back as it was', async ({ store }) => {
    const { writeValue, resolveValue, value } = await openTestMemory(store);
    const rounds: readonly [string, fc.Arbitrary<Json>][] = [
      ['number', fc.double({ noNaN: true, noDefaultInfinity: true }).filter((it) => !Object.is(it, -0))],
      ['flag', fc.boolean()],
      ['list', fc.array(fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>)],
      ['object', fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>)],
      ['text', fc.string({ unit: 'binary' })],
      [
        'sealed',
        fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
      ],
    ];
    let ran = 0;
    for (const [key, values] of rounds) {
      const property = fc.asyncProperty(values, async (written) => {
        const plain = JSON.parse(JSON.stringify(written)) as Json;
        const handle = await writeValue(key, plain);
        assert.ok(handle !== null, key);
        assert.deepEqual(await resolveValue(handle), plain);
        assert.deepEqual(await value(key), key === 'sealed' ? handle : plain);
        ran++;
      });
      await fc.assert(property, { numRuns: 20 });
    }
    assert.equal(ran, 120);
  });

  law('a row with anything changed in it is never given', async ({ store }) => {
    const { writeValue, resolveValue, memory, events } = await openTestMemory(store);
    const entryId = (await writeValue('sealed', PLAIN)) as string;
    const rows = store.db.selectFrom('memory_entries').selectAll();
    const row = await rows.executeTakeFirstOrThrow();
    let ran = 0;
    for (const [column, value] of Object.entries(row)) {
      for (const other of getChanges(value)) {
        await store.db
          .updateTable('memory_entries')
          .set({ [column]: other })
          .execute();
        const note = `${column} ${other}`;
        assert.equal(await resolveValue(entryId), null, note);
        assert.equal((await memory.readKey(MEMORY_SUBJECT, MEMORY_CALLER, 'sealed', null)).value, null, note);
        assert.deepEqual((await memory.list(MEMORY_SUBJECT, MEMORY_CALLER, null, 100)).entries, [], note);
        await store.db
          .updateTable('memory_entries')
          .set({ [column]: value })
          .execute();
        ran++;
      }
    }
    assert.equal(ran, 512);
    assert.equal(await resolveValue(entryId), PLAIN);
    assert.ok(events.some(({ policy_name }) => policy_name === 'memory.unreadable'));
    assert.equal(events.find(({ policy_name }) => policy_name === 'memory.unreadable')?.decision, 'block');
  });

  law('a row that is moved to another owner does not open there', async ({ store }) => {
    const { writeValue, resolveValue, value } = await openTestMemory(store);
    const own = (await writeValue('sealed', PLAIN)) as string;
    const other = { agent_id: 'other-bot' };
    const theirs = (await writeValue('sealed', 'their own', other)) as string;
    const rows = await store.db.selectFrom('memory_entries').selectAll().orderBy('agent_id').execute();
    const [theirRow, ownRow] = rows as [EntryRow, EntryRow];
    const { sealed, key_id } = ownRow;
    await store.db
      .updateTable('memory_entries')
      .set({ sealed, key_id })
      .where('entry_id', '=', theirs)
      .execute();
    assert.equal(await resolveValue(theirs, other), null);
    await store.db.deleteFrom('memory_entries').where('entry_id', '=', own).execute();
    await store.db
      .updateTable('memory_entries')
      .set({ ...ownRow, slot: theirRow.slot, agent_id: 'other-bot' })
      .execute();
    assert.equal(await resolveValue(own, other), null);
    assert.equal(await value('sealed', other), null);
    await store.db.updateTable('memory_entries').set(ownRow).execute();
    assert.equal(await resolveValue(own), PLAIN);
  });

  law('a new value takes the place of the old one, whose handle is gone', async ({ store }) => {
    const { writeValue, resolveValue, value } = await openTestMemory(store);
    const first = (await writeValue('sealed', 'one')) as string;
    const second = (await writeValue('sealed', 'two')) as string;
    assert.notEqual(first, second);
    assert.equal(await resolveValue(first), null);
    assert.equal(await resolveValue(second), 'two');
    assert.equal(await value('sealed'), second);
    assert.match(second, /^hdl_[0-9a-f]{32}$/);
  });

  law('another process sees the same, and so does a next start', async ({ store, another }) => {
    const one = await openTestMemory(store);
    const two = await openTestMemory(await another());
    const handle = (await one.writeValue('sealed', PLAIN)) as string;
    assert.equal(await two.resolveValue(handle), PLAIN);
    await two.writeValue('text', 'from the other');
    assert.equal(await one.value('text'), 'from the other');
    await store.close();
    const three = await openTestMemory(await another());
    assert.equal(await three.resolveValue(handle), PLAIN);
  });

  law('no value stands in an event, a log or the database', async ({ store, settings, server }) => {
    const rules = [{ name: 'keep', boundary: 'action', data_tags: ['internal'], action: 'flag' }];
    const { writeValue, resolveValue, value, memory, events, logged } = await openTestMemory(store, {
      rules,
    });
    const handle = (await writeValue('sealed', PLAIN)) as string;
    await writeValue('text', `${PLAIN} again`);
    await writeValue('object', { [PLAIN]: PLAIN });
    await resolveValue(handle);
    await value('text');
    await memory.list(MEMORY_SUBJECT, MEMORY_CALLER, null, 100);
    await writeValue('number', PLAIN);
    await writeValue(PLAIN, PLAIN);
    await resolveValue(PLAIN);
    await resolveValue(handle, { agent_id: 'other-bot' });
    const written = JSON.stringify([events, logged]);
    assert.ok(!written.includes('walrus'), written);
    assert.ok(written.includes(handle));
    assert.equal(events.length, 10);
    const stored = await store.db.selectFrom('memory_entries').selectAll().execute();
    assert.equal(stored.length, 3);
    assert.ok(!JSON.stringify(stored).includes('walrus'));
    if (settings.kind !== 'sqlite') return assert.ok(server !== null);
    const names = readdirSync(dirname(settings.path)).filter((name) =>
      name.startsWith(basename(settings.path)),
    );
    const bytes = Buffer.concat(names.map((name) => readFileSync(join(dirname(settings.path), name))));
    assert.ok(bytes.includes(handle) && names.length > 0);
    assert.ok(!bytes.includes('walrus'));
  });

  law(
    'while the store is away everything is refused and written down, and it comes back by itself',
    async ({ store }) => {
      let isThere = true;
      const { writeValue, resolveValue, memory, events } = await openTestMemory(store, {
        store: async () => {
          if (isThere) return store;
          throw new StoreFailure('store_unavailable', 'It is away.');
        },
      });
      isThere = false;
      const calls = [
        () => writeValue('text', PLAIN),
        () => resolveValue(`hdl_${'0'.repeat(32)}`),
        () => memory.readKey(MEMORY_SUBJECT, MEMORY_CALLER, 'text', null),
        () => memory.list(MEMORY_SUBJECT, MEMORY_CALLER, null, 100),
        () => memory.purge(MEMORY_CALLER),
      ];
      for (const call of calls) await assert.rejects(call, Unavailable);
      const rules = events.map(({ policy_name, decision }) => `${policy_name} ${decision}`);
      assert.equal(rules.filter((rule) => rule === 'fault.store block').length, 4);
      isThere = true;
      const handle = (await writeValue('text', PLAIN)) as string;
      assert.equal(await resolveValue(handle), PLAIN);
    },
  );

  law('an event that cannot be written keeps the value back', async ({ store }) => {
    const { writeValue, memory, events } = await openTestMemory(store);
    const handle = (await writeValue('sealed', PLAIN)) as string;
    events.push = () => {
      throw new Error('the disk is full');
    };
    for (const out of [
      await memory.resolve(MEMORY_SUBJECT, MEMORY_CALLER, handle),
      await memory.readKey(MEMORY_SUBJECT, MEMORY_CALLER, 'sealed', null),
      await memory.list(MEMORY_SUBJECT, MEMORY_CALLER, null, 100),
    ]) {
      assert.equal(out.ruling.verdict.rule, 'fault.audit');
      assert.equal(out.value, null);
      assert.deepEqual(out.entries, []);
    }
    assert.equal(await writeValue('text', PLAIN), null);
    const { length } = await store.db.selectFrom('memory_entries').select('entry_id').execute();
    assert.equal(length, 1);
  });
});

/** Returns other values for a column: each byte string with one bit flipped, another digit, or another text. */
function getChanges(value: string | number | Uint8Array): (string | number | Uint8Array)[] {
  if (typeof value === 'number') return [value + 1, value - 1, 0];
  if (typeof value === 'string') return [`${value}x`, value.slice(1), ''];
  return Array.from({ length: value.length * 8 }, (_, bit) => {
    const flipped = Uint8Array.from(value);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    return flipped;
  });
}
