import assert from 'node:assert/strict';
import type { Json } from '../../core/types/index.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { HOUR_MS, MEMORY_CALLER, MEMORY_SUBJECT, openTestMemory } from './testing/test-memory.ts';

withStores('limits of memory', (law) => {
  law(
    'what a document does not declare, or declares otherwise, is refused with its reason',
    async ({ store }) => {
      const { memory, events } = await openTestMemory(store);
      const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000)) as Json;
      const cases: readonly [string, Json, string][] = [
        ['text', 'fits', 'default.allow'],
        ['text', 1, 'memory.type'],
        ['text', null, 'memory.type'],
        ['number', '1', 'memory.type'],
        ['list', {}, 'memory.type'],
        ['object', [], 'memory.type'],
        ['unknown', 'text', 'memory.undeclared'],
        ['Text', 'text', 'memory.undeclared'],
        ['short', '0123456789', 'default.allow'],
        ['short', '0123456789a', 'memory.value_bytes_max'],
        ['short', '\u00e9'.repeat(6), 'memory.value_bytes_max'],
        ['text', 'a'.repeat(65_534), 'default.allow'],
        ['text', 'a'.repeat(65_535), 'memory.value_bytes_max'],
        ['list', deep, 'memory.value_bytes_max'],
      ];
      for (const [key, value, rule] of cases) {
        const before = events.length;
        const { ruling, entry } = await memory.write(MEMORY_SUBJECT, MEMORY_CALLER, {
          key,
          value,
          schema: null,
          declared_tags: [],
        });
        assert.equal(ruling.verdict.rule, rule, key);
        assert.equal(entry !== null, rule === 'default.allow', key);
        assert.equal(ruling.verdict.decision, entry === null ? 'block' : 'allow', key);
        assert.equal(events.length, before + 1);
        assert.equal(events.at(-1)?.event_id, ruling.event_id);
        assert.equal(events.at(-1)?.boundary, 'memory');
        assert.match(ruling.verdict.reason, /^[A-Z].*\.$/);
      }
      assert.equal(cases.length, 14);
    },
  );

  law('without a document for the tenant memory is not configured', async ({ store }) => {
    const { memory } = await openTestMemory(store, {
      documents: [
        {
          memory: {
            name: 'a',
            scope: 'global',
            tenant_id: 'acme',
            fields: [{ name: 'f', type: 'string', tag: 't' }],
          },
        },
      ],
    });
    const request = { key: 'f', value: 'x', schema: null, declared_tags: [] };
    const acme = { ...MEMORY_SUBJECT, tenant_id: 'acme' };
    assert.equal((await memory.write(acme, MEMORY_CALLER, request)).ruling.verdict.rule, 'default.allow');
    const outs = [
      await memory.write(MEMORY_SUBJECT, MEMORY_CALLER, request),
      await memory.readKey(MEMORY_SUBJECT, MEMORY_CALLER, 'f', null),
      await memory.list(MEMORY_SUBJECT, MEMORY_CALLER, null, 100),
      await memory.resolve(MEMORY_SUBJECT, MEMORY_CALLER, `hdl_${'0'.repeat(32)}`),
    ];
    for (const { ruling } of outs) assert.equal(ruling.verdict.rule, 'memory.not_configured');
  });

  law(
    'a session, a user and an agent have as many entries as they may, and room for what is required',
    async ({ store }) => {
      const { writeValue, memory } = await openTestMemory(store);
      assert.ok(await writeValue('colour', 'red'));
      assert.equal(await writeValue('shape', 'round'), null, 'one entry is kept free for what is required');
      assert.deepEqual((await memory.list(MEMORY_SUBJECT, MEMORY_CALLER, 'profile', 100)).missing, [
        'language',
      ]);
      assert.ok(await writeValue('language', 'en'));
      assert.deepEqual((await memory.list(MEMORY_SUBJECT, MEMORY_CALLER, 'profile', 100)).missing, []);
      assert.equal(await writeValue('shape', 'round'), null);
      assert.ok(await writeValue('colour', 'blue'), 'what is replaced takes no room');
      assert.ok(
        await writeValue('shape', 'round', { user_id: 'user-2' }),
        'another user has room of their own',
      );
      assert.equal(await writeValue('colour', 'red', { user_id: 'user-2' }), null);
      const keys = ['text', 'sealed', 'number', 'flag', 'list', 'object'];
      const values: Json[] = ['a', 'b', 1, true, [], {}];
      for (const [at, key] of keys.entries()) assert.ok(await writeValue(key, values[at]!), key);
      assert.equal(await writeValue('short', 'x'), null, 'six entries of a session');
      assert.ok(await writeValue('short', 'x', { session_id: 'sess-2' }));
    },
  );

  law('what has expired takes no room', async ({ store }) => {
    const { writeValue, wall } = await openTestMemory(store);
    assert.ok(await writeValue('colour', 'red', { user_id: 'u' }));
    assert.equal(await writeValue('shape', 'round', { user_id: 'u' }), null);
    wall.ms += 25 * HOUR_MS;
    assert.ok(await writeValue('shape', 'round', { user_id: 'u' }));
  });

  law('all sessions of an agent together have a bound, in entries and in bytes', async ({ store }) => {
    const limits = { agent_entries_max: 3, agent_bytes_max: 1_000 };
    const { writeValue, memory } = await openTestMemory(store, { limits });
    for (const sessionId of ['a', 'b', 'c'])
      assert.ok(await writeValue('text', 'x', { session_id: sessionId }));
    const request = { key: 'text', value: 'x', schema: null, declared_tags: [] };
    const rule = async (value: string, sessionId: string, agentId = MEMORY_SUBJECT.agent_id) =>
      (
        await memory.write({ ...MEMORY_SUBJECT, agent_id: agentId, session_id: sessionId }, MEMORY_CALLER, {
          ...request,
          value,
        })
      ).ruling.verdict.rule;
    assert.equal(await rule('x', 'd'), 'memory.agent_entries_max');
    assert.equal(await rule('y'.repeat(992), 'c'), 'default.allow');
    assert.equal(await rule('y'.repeat(993), 'c'), 'memory.agent_bytes_max');
    assert.equal(await rule('y'.repeat(992), 'a'), 'memory.agent_bytes_max');
    assert.equal(await rule('y'.repeat(992), 'd', 'other-bot'), 'default.allow');
  });

  law('writers at the same time never come to more than there may be', async ({ store, another }) => {
    const limits = { agent_entries_max: 5, agent_bytes_max: 1_000_000 };
    const one = await openTestMemory(store, { limits });
    const two = await openTestMemory(await another(), { limits });
    const kept = await Promise.all(
      Array.from({ length: 24 }, (_, at) =>
        (at % 2 ? one : two).writeValue('text', `${at}`, { session_id: `s-${at}` }),
      ),
    );
    assert.equal(kept.filter((handle) => handle !== null).length, 5);
    const rows = await store.db.selectFrom('memory_entries').select('entry_id').execute();
    assert.deepEqual(
      rows.map(({ entry_id }) => entry_id).sort(),
      kept.filter((handle) => handle !== null).sort(),
    );
    const same = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        (at % 2 ? one : two).writeValue('text', `${at}`, { session_id: 'z', agent_id: 'b' }),
      ),
    );
    assert.equal(same.filter((handle) => handle !== null).length, 12);
    const last = await store.db
      .selectFrom('memory_entries')
      .select('entry_id')
      .where('agent_id', '=', 'b')
      .execute();
    assert.equal(last.length, 1);
    assert.ok(same.includes(last[0]!.entry_id));
  });
});
