import assert from 'node:assert/strict';
import { VALUE_QUOTAS } from '../../../core/flow/quotas.ts';
import type { Label, ValueForm } from '../../../core/types/index.ts';
import type { Store } from '../../../platform/store/index.ts';
import { RACERS, runRace } from '../../../platform/store/testing/races.ts';
import { withStores } from '../../../platform/store/testing/stores.ts';
import { buildExamplePorts, caller } from '../../../server/testing/examples.ts';
import { deleteExpiredSessions } from '../sessions/expiry.ts';
import { resetSession } from '../sessions/reset.ts';
import { LIMITS } from '../sessions/testing/limits.ts';
import { openValueIndex, type ValueIndex, type ValuesOwner } from './index.ts';
import { OWNER, SECRET } from './testing/owner.ts';
import { LABELS_MAX } from './value-log.ts';

const NOW = Date.UTC(2026, 10, 21, 12);

interface Worker {
  readonly add: (text: string, label: Label, more?: Partial<ValuesOwner>, form?: ValueForm) => Promise<void>;
  readonly find: (text: string, more?: Partial<ValuesOwner>, atMs?: number) => Promise<readonly string[]>;
  readonly load: (more?: Partial<ValuesOwner>) => ReturnType<ValueIndex['load']>;
  readonly save: ValueIndex['save'];
}

/** A worker process: its own cache and connection. */
function openWorker(store: Store, secret = SECRET): Worker {
  const index = openValueIndex(() => secret);
  const load = (more: Partial<ValuesOwner> = {}, atMs = NOW) =>
    index.load(store, { ...OWNER, ...more }, atMs, LIMITS);
  return {
    load,
    save: index.save,
    add: async (text, label, more = {}, form = 'exact') => {
      const loaded = await load(more);
      const add = [{ hash: loaded.seen.hashValue(form, text), form, label }];
      const change = { add, end: [], origin: null, event_id: `evt_${text}` };
      await index.save(store, loaded, change, NOW, LIMITS);
    },
    find: async (text, more, atMs) => {
      const { seen } = await load(more, atMs);
      return seen.findLabels(seen.hashValue('exact', text)).map((each) => `${each.label} ${each.event_id}`);
    },
  };
}

withStores('values seen', (law) => {
  law('one worker finds the values of another', async ({ store, another }) => {
    const [first, second] = [openWorker(store), openWorker(await another())];
    assert.deepEqual(await second.find('acct-1'), []);
    await first.add('acct-1', 'user');
    assert.deepEqual(await second.find('acct-1'), ['user evt_acct-1']);
    await second.add('acct-2', 'untrusted.mail');
    await second.add('acct-1', 'untrusted.mail');
    assert.deepEqual(await first.find('acct-2'), ['untrusted.mail evt_acct-2']);
    assert.deepEqual(await first.find('acct-1'), ['user evt_acct-1', 'untrusted.mail evt_acct-1']);
    assert.deepEqual(await first.find('acct-3'), []);
  });

  law('changes of several workers merge', async ({ store, another }) => {
    const [first, second] = [openWorker(store), openWorker(await another())];
    const [one, two] = [await first.load(), await second.load()];
    for (const [worker, loaded, text] of [
      [first, one, 'a'],
      [second, two, 'b'],
      [first, one, 'c'],
    ] as const) {
      const add = [{ hash: loaded.seen.hashValue('exact', text), form: 'exact', label: 'own' }] as const;
      await worker.save(store, loaded, { add, end: [], origin: null, event_id: 'evt_1' }, NOW, LIMITS);
    }
    for (const text of ['a', 'b', 'c'])
      for (const worker of [first, second]) assert.deepEqual(await worker.find(text), ['own evt_1'], text);
  });

  law('no value is lost when processes race', async ({ store, settings }) => {
    const work = new URL('./testing/add-values.ts', import.meta.url);
    await runRace({ settings, work, input: 12 });
    const { seen } = await openValueIndex(() => SECRET).load(store, OWNER, Date.now(), LIMITS);
    for (let number = 0; number < RACERS; number++)
      for (let at = 0; at < 12; at++) {
        const found = seen.findLabels(seen.hashValue('exact', `value ${at} of racer ${number}`));
        assert.deepEqual(found, [{ label: 'user', event_id: `evt_${number}_${at}` }]);
      }
  });

  law('another credential, person, agent or tenant sees nothing', async ({ store }) => {
    const worker = openWorker(store);
    await worker.add('acct-1', 'user');
    const others = [
      { caller_id: 'key:other' },
      { user_id: 'eve' },
      { agent_id: 'agent-2' },
      { tenant_id: 'acme' },
      { session_id: 's2' },
    ];
    for (const more of others) assert.deepEqual(await worker.find('acct-1', more), [], JSON.stringify(more));
    assert.equal((await worker.find('acct-1')).length, 1);
  });

  law('nothing is left after a reset', async ({ store, another }) => {
    const [first, second] = [openWorker(store), openWorker(await another())];
    await first.add('acct-1', 'user');
    await first.add('acct-2', 'user', { session_id: 's2' });
    assert.equal((await second.find('acct-1')).length, 1);
    const ports = { ...buildExamplePorts([]), store: async () => store };
    await resetSession({ tenant_id: 'default', session_id: 's', agent_id: 'agent-1' }, caller, ports);
    for (const worker of [first, second]) assert.deepEqual(await worker.find('acct-1'), []);
    assert.equal((await first.find('acct-2', { session_id: 's2' })).length, 1);
    await second.add('acct-3', 'user');
    assert.deepEqual([await first.find('acct-1'), (await first.find('acct-3')).length], [[], 1]);
  });

  law('values expire with their session', async ({ store }) => {
    const worker = openWorker(store);
    await worker.add('acct-1', 'user');
    const expired = NOW + LIMITS.idle_ms + 1;
    assert.equal((await worker.find('acct-1', {}, NOW + LIMITS.idle_ms)).length, 1);
    await deleteExpiredSessions(store, LIMITS, NOW);
    assert.equal((await store.db.selectFrom('values_seen').selectAll().execute()).length, 1);
    const longExpired = expired + LIMITS.idle_ms;
    assert.deepEqual(await worker.find('acct-1', {}, longExpired), []);
    await deleteExpiredSessions(store, LIMITS, longExpired);
    assert.deepEqual(await store.db.selectFrom('values_seen').selectAll().execute(), []);
  });

  law('the store has no plain values', async ({ store }) => {
    const worker = openWorker(store);
    await worker.add('jane.doe@example.com', 'user');
    const [row] = await store.db.selectFrom('values_seen').selectAll().execute();
    const stored = Buffer.from(row!.entries).toString('latin1');
    assert.ok(stored.includes('user') && !stored.replace(/evt_\S+?com/, '').includes('jane'));
  });

  law('another key of the service is a fault', async ({ store }) => {
    await openWorker(store).add('acct-1', 'user');
    await assert.rejects(openWorker(store, 'y'.repeat(43)).find('acct-1'), /another fingerprint key/);
  });

  law('a used-up quota keeps no more of its kind', async ({ store }) => {
    const worker = openWorker(store);
    const loaded = await worker.load();
    const build = (count: number, label: Label, form: ValueForm) =>
      Array.from({ length: count }, (_, at) => ({
        hash: loaded.seen.hashValue(form, `${label} ${form} ${at}`),
        form,
        label,
      }));
    const add = [
      ...build(VALUE_QUOTAS.user + 1, 'user', 'exact'),
      ...build(VALUE_QUOTAS.untrusted, 'untrusted.web', 'folded'),
      ...build(VALUE_QUOTAS.shingle + 1, 'untrusted.web', 'shingle'),
      ...build(1, 'trusted.crm', 'exact'),
    ];
    await worker.save(store, loaded, { add, end: ['trusted.crm'], origin: null, event_id: 'e' }, NOW, LIMITS);
    for (const each of [await worker.load(), await openWorker(store).load()]) {
      assert.deepEqual([...each.seen.full].sort(), ['shingle', 'user']);
      assert.deepEqual(each.seen.ended, ['trusted.crm']);
      const size = [...each.log.labels_by_hash.values()].flat().length;
      assert.equal(size, VALUE_QUOTAS.user + VALUE_QUOTAS.untrusted + VALUE_QUOTAS.shingle + 1);
    }
  });

  law('labels over the limit lose their names', async ({ store }) => {
    const worker = openWorker(store);
    const loaded = await worker.load();
    const hash = (text: string) => loaded.seen.hashValue('exact', text);
    const add = [
      ...Array.from({ length: LABELS_MAX + 1 }, (_, at) => ({
        ...{ hash: hash(`v${at}`), form: 'exact' as const },
        label: at === 0 ? 'untrusted' : `untrusted.tool-${at}`,
      })),
      { hash: hash('crm'), form: 'exact' as const, label: 'trusted.crm' },
    ];
    await worker.save(store, loaded, { add, end: [], origin: null, event_id: 'e' }, NOW, LIMITS);
    assert.deepEqual(await worker.find(`v${LABELS_MAX}`), ['untrusted e']);
    assert.deepEqual(await worker.find('crm'), []);
    assert.deepEqual((await worker.load()).seen.full, ['trusted']);
  });
});
