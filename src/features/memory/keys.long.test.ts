import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { Store } from '../../platform/store/index.ts';
import { withStores } from '../../platform/store/testing/stores.ts';
import { Unavailable } from '../../platform/unavailable.ts';
import { buildExamplePorts } from '../../server/testing/examples.ts';
import { buildMemoryJobs } from './jobs.ts';
import { activateMasterKeys, openKeyActivation } from './key-activation.ts';
import { buildMemoryKeyPath, type MasterKeySettings } from './master-keys.ts';
import {
  HOUR_MS,
  MEMORY_NOW_MS,
  openTestMemory,
  TEST_MASTER_KEY,
  withStateDir,
} from './testing/test-memory.ts';

const NEW_KEY = 'another-master-key-'.padEnd(43, '2');
const nowMs = () => MEMORY_NOW_MS;

function getPlace(stateDir: string, masterKey?: string, previousKeys: string[] = []): MasterKeySettings {
  return {
    state_dir: stateDir,
    memory: { ...(masterKey !== undefined && { master_key: masterKey }), previous_keys: previousKeys },
  };
}

/** Returns the whole content of the memory tables. */
async function getContent(store: Store) {
  return {
    entries: await store.db.selectFrom('memory_entries').selectAll().orderBy('entry_id').execute(),
    state: await store.db.selectFrom('memory_state').selectAll().orderBy('name').execute(),
  };
}

function createResealer(store: Store, config: MasterKeySettings) {
  const reported: string[] = [];
  const log = (message: string) => void reported.push(message);
  const own = buildExamplePorts([], { now_ms: nowMs });
  const [, reseal] = buildMemoryJobs({
    config,
    store: async () => store,
    ports: () => own,
    log: { info: log, error: log },
  });
  return { run: reseal!.run, told: reported };
}

const REFUSAL = { name: 'StartFailure', code: 'state_unusable' };

withStores('keys of memory', (law) => {
  law('the key is made once, for its owner alone, and never over another', async ({ store }) =>
    withStateDir(async (stateDir) => {
      const place = getPlace(stateDir);
      const path = buildMemoryKeyPath(stateDir);
      const admit = openKeyActivation(place, store, nowMs);
      await admit({ memory_schemas: [] });
      assert.ok(!existsSync(path), 'no document asks for memory');
      await admit({ memory_schemas: [{}] as never });
      assert.equal(statSync(path).mode & 0o777, 0o600);
      const key = readFileSync(path, 'utf8');
      assert.match(key, /^[A-Za-z0-9_-]{43}\n$/);
      const first = await activateMasterKeys(place, store, nowMs);
      assert.equal((await activateMasterKeys(place, store, nowMs)).current.key_id, first.current.key_id);
      assert.equal(readFileSync(path, 'utf8'), key);
      assert.deepEqual((await getContent(store)).state, [{ name: 'key_id', value: first.current.key_id }]);
      writeFileSync(path, 'no key at all');
      await assert.rejects(activateMasterKeys(place, store, nowMs), REFUSAL);
      assert.equal(readFileSync(path, 'utf8'), 'no key at all');
    }),
  );

  law('a wrong or lost master key is refused at the start, and nothing is changed', async ({ store }) =>
    withStateDir(async (stateDir) => {
      const { writeValue } = await openTestMemory(store);
      const handle = (await writeValue('sealed', 'x')) as string;
      const before = await getContent(store);
      const refused: readonly [MasterKeySettings, RegExp][] = [
        [
          getPlace(stateDir, NEW_KEY),
          /master key `mk_[0-9a-f]{16}`.*Nothing was changed.*`memory.previous_keys`/,
        ],
        [getPlace(stateDir, NEW_KEY, [`${TEST_MASTER_KEY}x`]), /Nothing was changed/],
        [getPlace(stateDir), /Restore the file.*memory-key/],
      ];
      for (const [place, message] of refused) {
        await assert.rejects(activateMasterKeys(place, store, nowMs), { ...REFUSAL, message });
        assert.deepEqual(await getContent(store), before);
        assert.ok(!existsSync(buildMemoryKeyPath(stateDir)), 'no key is made where one was lost');
      }
      assert.equal(refused.length, 3);
      await activateMasterKeys(getPlace(stateDir, TEST_MASTER_KEY), store, nowMs);
      const again = await openTestMemory(store);
      assert.equal(await again.resolveValue(handle), 'x');
      // A lost key is not required once all entries that need it have expired.
      await activateMasterKeys(getPlace(stateDir), store, () => MEMORY_NOW_MS + 2 * HOUR_MS);
      assert.ok(existsSync(buildMemoryKeyPath(stateDir)));
    }),
  );

  law('a lost key file is the same refusal', async ({ store }) =>
    withStateDir(async (stateDir) => {
      const place = getPlace(stateDir);
      await activateMasterKeys(place, store, nowMs);
      const key = readFileSync(buildMemoryKeyPath(stateDir), 'utf8');
      const { writeValue, resolveValue } = await openTestMemory(store, { master_key: key.trim() });
      const handle = (await writeValue('sealed', 'x')) as string;
      rmSync(buildMemoryKeyPath(stateDir));
      await assert.rejects(activateMasterKeys(place, store, nowMs), REFUSAL);
      writeFileSync(buildMemoryKeyPath(stateDir), key);
      await activateMasterKeys(place, store, nowMs);
      assert.equal(await resolveValue(handle), 'x');
      // The key of the file still decrypts its entries after the configuration sets another key.
      const keys = await activateMasterKeys(getPlace(stateDir, NEW_KEY), store, nowMs);
      assert.equal(keys.by_id.size, 2);
    }),
  );

  law('a process with a key that is not active writes nothing', async ({ store }) => {
    const old = await openTestMemory(store);
    await old.writeValue('text', 'x');
    await openTestMemory(store, { master_key: NEW_KEY, previous_keys: [TEST_MASTER_KEY] });
    await assert.rejects(old.writeValue('text', 'y'), Unavailable);
    assert.equal(old.events.at(-1)?.policy_name, 'fault.store');
    assert.equal(await old.value('text'), 'x');
  });

  law(
    'after a change of the key everything is encrypted anew in the background, and handles stay',
    async ({ store }) => {
      const old = await openTestMemory(store);
      const handles: string[] = [];
      for (let at = 0; at < 230; at++) {
        handles.push((await old.writeValue('sealed', `value ${at}`, { session_id: `s-${at}` })) as string);
      }
      const both = await openTestMemory(store, { master_key: NEW_KEY, previous_keys: [TEST_MASTER_KEY] });
      assert.equal(await both.resolveValue(handles[0]!, { session_id: 's-0' }), 'value 0');
      await both.writeValue('sealed', 'written under the new key', { session_id: 's-1' });
      const first = createResealer(store, both.place);
      assert.equal(await first.run(), true);
      // A new process continues re-encryption where the previous one stopped, while others write.
      const second = createResealer(store, both.place);
      let rounds = 0;
      for (let more = true; more; rounds++) {
        const [hasMore] = await Promise.all([
          second.run(),
          both.writeValue('sealed', `again ${rounds}`, { session_id: `s-${229 - rounds}` }),
        ]);
        more = hasMore;
      }
      assert.equal(rounds, 3);
      assert.deepEqual(second.told, ['memory is encrypted under the new key, and the old one is not needed']);
      const keyIds = await store.db.selectFrom('memory_entries').select('key_id').distinct().execute();
      assert.equal(keyIds.length, 1);
      const alone = await openTestMemory(store, { master_key: NEW_KEY });
      let same = 0;
      for (const [at, handle] of handles.entries()) {
        const value = await alone.resolveValue(handle, { session_id: `s-${at}` });
        if (value === `value ${at}`) same++;
        else assert.equal(value, null);
      }
      assert.equal(same, 226);
      for (let round = 0; round < rounds; round++)
        assert.equal(
          await alone.resolveValue(
            (await alone.value('sealed', { session_id: `s-${229 - round}` })) as string,
            {
              session_id: `s-${229 - round}`,
            },
          ),
          `again ${round}`,
        );
      await assert.rejects(openTestMemory(store), REFUSAL);
    },
  );

  law(
    'an entry that was tampered with stays as it is, and keeps none of the others from it',
    async ({ store }) => {
      const old = await openTestMemory(store);
      for (let at = 0; at < 20; at++)
        await old.writeValue('sealed', `value ${at}`, { session_id: `s-${at}` });
      const rows = await store.db
        .selectFrom('memory_entries')
        .select('entry_id')
        .orderBy('entry_id')
        .execute();
      const spoilt = [rows[0]!.entry_id, rows[11]!.entry_id];
      await store.db
        .updateTable('memory_entries')
        .set({ field: 'text' })
        .where('entry_id', 'in', spoilt)
        .execute();
      const both = await openTestMemory(store, { master_key: NEW_KEY, previous_keys: [TEST_MASTER_KEY] });
      const { run, told: reported } = createResealer(store, both.place);
      assert.deepEqual([await run(), await run(), await run()], [true, false, true]);
      assert.equal(reported[0], 'entries of memory are not as they were written');
      const left = await store.db
        .selectFrom('memory_entries')
        .select('entry_id')
        .where('key_id', '!=', (await getContent(store)).state[0]!.value)
        .orderBy('entry_id')
        .execute();
      assert.deepEqual(
        left.map(({ entry_id }) => entry_id),
        spoilt,
      );
    },
  );
});
