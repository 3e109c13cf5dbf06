import assert from 'node:assert/strict';
import { withStores } from '../../platform/store/testing/stores.ts';
import { buildExamplePorts } from '../../server/testing/examples.ts';
import { buildMemoryJobs } from './jobs.ts';
import {
  HOUR_MS,
  MEMORY_CALLER,
  MEMORY_NOW_MS,
  MEMORY_SUBJECT,
  openTestMemory,
  type TestMemory,
} from './testing/test-memory.ts';

const PERSON = { ...MEMORY_CALLER, id: 'operator', kind: 'person' } as const;

/** Opens the maintenance jobs over the same store and clock. */
function createJobs(store: Parameters<typeof openTestMemory>[0], { place, wall, events }: TestMemory) {
  const reported: string[] = [];
  const log = (message: string) => void reported.push(message);
  const own = buildExamplePorts(events, { now_ms: () => wall.ms });
  const [purge, reseal] = buildMemoryJobs({
    config: place,
    store: async () => store,
    ports: () => own,
    log: { info: log, error: log },
  });
  return { purge: purge!.run, reseal: reseal!.run, told: reported };
}

withStores('retention of memory', (law) => {
  law('from its last moment on an entry is not given, purged or not', async ({ store }) => {
    const { writeValue, resolveValue, value, memory, wall } = await openTestMemory(store);
    const handle = (await writeValue('sealed', 'x')) as string;
    const out = await memory.list(MEMORY_SUBJECT, MEMORY_CALLER, null, 100);
    assert.equal(Date.parse(out.entries[0]!.expires_at), MEMORY_NOW_MS + HOUR_MS);
    const short = (await writeValue('short', 'y')) as string;
    wall.ms = MEMORY_NOW_MS + 9_999;
    assert.equal(await resolveValue(short), 'y');
    wall.ms = MEMORY_NOW_MS + 10_001;
    assert.equal(await resolveValue(short), null);
    assert.equal(await resolveValue(handle), 'x');
    wall.ms = MEMORY_NOW_MS + HOUR_MS + 1;
    assert.equal(await resolveValue(handle), null);
    assert.equal(await value('sealed'), null);
    assert.deepEqual((await memory.list(MEMORY_SUBJECT, MEMORY_CALLER, null, 100)).entries, []);
    const rows = await store.db.selectFrom('memory_entries').select('entry_id').execute();
    assert.equal(rows.length, 2, 'nothing was purged yet');
  });

  law(
    'what has expired stays so when the clock is set back, also after a restart',
    async ({ store, another }) => {
      const before = await openTestMemory(store);
      const handle = (await before.writeValue('sealed', 'x')) as string;
      const long = (await before.writeValue('language', 'en')) as string;
      before.wall.ms = MEMORY_NOW_MS + HOUR_MS + 1;
      assert.equal(await before.resolveValue(handle), null);
      before.wall.ms = MEMORY_NOW_MS;
      assert.equal(await before.resolveValue(handle), null);
      assert.equal(await before.resolveValue(long), 'en');
      before.wall.ms = MEMORY_NOW_MS + HOUR_MS + 2;
      const other = await openTestMemory(await another(), { wall: { ms: MEMORY_NOW_MS } });
      assert.equal(await other.resolveValue(handle), 'x', 'a process that never saw the later time');
      // The purge job records the latest time.
      await createJobs(store, before).purge();
      const rows = await store.db.selectFrom('memory_entries').select('entry_id').execute();
      assert.equal(rows.length, 1);
      const after = await openTestMemory(await another(), { wall: { ms: MEMORY_NOW_MS } });
      const again = (await after.writeValue('sealed', 'later')) as string;
      const listed = await after.memory.list(MEMORY_SUBJECT, MEMORY_CALLER, 'notes', 100);
      assert.ok(
        Date.parse(listed.entries[0]!.created_at) >= MEMORY_NOW_MS + HOUR_MS + 2,
        'time goes on where it was',
      );
      assert.equal(await after.resolveValue(again), 'later');
    },
  );

  law('a purge deletes what has expired and nothing else, and says how much', async ({ store }) => {
    const own = await openTestMemory(store);
    const { writeValue, memory, wall, events } = own;
    for (let at = 0; at < 7; at++) await writeValue('short', 'x', { session_id: `s-${at}` });
    const kept = await writeValue('sealed', 'y');
    assert.equal(await memory.purge(PERSON), 0);
    wall.ms += HOUR_MS / 2;
    assert.equal(await memory.purge(PERSON), 7);
    const { boundary, decision, caller_id, metadata } = events.at(-1)!;
    assert.deepEqual(
      { boundary, decision, caller_id, metadata },
      {
        boundary: 'memory',
        decision: 'allow',
        caller_id: 'operator',
        metadata: { phase: 'retention_purge', purged_count: 7, trigger: 'manual' },
      },
    );
    const rows = await store.db.selectFrom('memory_entries').select('entry_id').execute();
    assert.deepEqual(
      rows.map(({ entry_id }) => entry_id),
      [kept],
    );
    const { purge } = createJobs(store, own);
    const before = events.length;
    assert.equal(await purge(), false);
    assert.equal(events.length, before, 'a purge of nothing is no event');
    wall.ms += HOUR_MS;
    assert.equal(await purge(), false);
    assert.deepEqual(events.at(-1)?.metadata, {
      phase: 'retention_purge',
      purged_count: 1,
      trigger: 'schedule',
    });
    assert.equal(events.at(-1)?.caller_id, 'service:schedule');
  });

  law('a scheduled purge goes by batches', async ({ store }) => {
    const own = await openTestMemory(store);
    await own.writeValue('sealed', 'x');
    const [row] = await store.db.selectFrom('memory_entries').selectAll().execute();
    const many = Array.from({ length: 1_200 }, (_, at) => ({ ...row!, entry_id: `e${at}`, slot: `s${at}` }));
    for (let at = 0; at < many.length; at += 50)
      await store.db
        .insertInto('memory_entries')
        .values(many.slice(at, at + 50))
        .execute();
    own.wall.ms += 2 * HOUR_MS;
    const { purge } = createJobs(store, own);
    assert.deepEqual([await purge(), await purge(), await purge()], [true, true, false]);
    assert.deepEqual(await store.db.selectFrom('memory_entries').select('entry_id').execute(), []);
    const counts = own.events.flatMap(({ metadata }) => metadata.purged_count ?? []);
    assert.deepEqual(counts, [500, 500, 201]);
  });
});
