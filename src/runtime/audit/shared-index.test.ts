/** Several services, each with its own journal, index into one database. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { test as nodeTest, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { explainMissingPostgres } from '../../platform/store/testing/postgres-server.ts';
import { openArrivalNotifier } from './arrivals.ts';
import type { AuditIndex } from './audit-index.ts';
import { countEventsBy } from './event-counts.ts';
import { openEventFeed } from './events/feed.ts';
import { followIndex } from './events/follow-index.ts';
import { openIndexReader } from './events/pages.ts';
import { findStreamPosition, readStreamPage } from './events/replay.ts';
import { parseFilter } from './filter.ts';
import { indexHeads, openIndexer } from './indexer.ts';
import { createOrder } from './order.ts';
import { openPartitions } from './postgres-partitions.ts';
import { queryIndex } from './query.ts';
import { listAuditSessions } from './session-list.ts';
import {
  appendRange,
  makeAuditLog,
  readFiles,
  START_MS,
  sampleEvent,
  waitUntil,
} from './testing/audit-log.ts';
import { type LawIndex, openDatabase } from './testing/indexes.ts';

type Database = Awaited<ReturnType<typeof openDatabase>>;

function test(name: string, work: (t: TestContext, at: Database) => Promise<void>): void {
  nodeTest(name, { skip: explainMissingPostgres() ?? false }, async (t) => work(t, await openDatabase(t)));
}

/** Opens the journal and the indexer of one service. Its workers have the names that every service uses. */
async function openNode(t: TestContext, at: LawIndex) {
  const trail = await makeAuditLog(t);
  const index = await at.open(trail.state);
  const journal = await trail.open();
  return { trail, index, journal, indexer: openIndexer({ index, dir: trail.dir }) };
}

const EVERYTHING = { tenants: '*', agents: '*' } as const;
const options = { now_ms: () => START_MS + 1_000_000_000 };

async function countAll(index: AuditIndex): Promise<number> {
  const request = { by: 'boundary', since_ms: null, until_ms: 0, ...EVERYTHING } as const;
  return (await countEventsBy(index, request)).reduce((sum, { count }) => sum + count, 0);
}

/** Returns the events in the order of the stream, as a reader receives them. */
async function readStream(index: AuditIndex): Promise<string[]> {
  const end = await index.dialect.readLastPosition(index.db);
  const ids: string[] = [];
  for (let at = 0; at < end; ) {
    const page = await readStreamPage(index, at, end, false);
    ids.push(...page.events.map(({ event }) => event.event_id));
    at = page.to;
  }
  return ids;
}

const listIds = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => sampleEvent(from + at).event_id);

test('two services that index at once show every event once', async (t, at) => {
  const nodes = [await openNode(t, at), await openNode(t, at)];
  const perNode = 1_500;
  await Promise.all(
    nodes.map(async ({ journal, indexer }, node) => {
      for (let from = 0; from < perNode; from += 100) {
        const numbers = Array.from({ length: 100 }, (_, step) => node * 10_000 + from + step);
        const append = (each: number) =>
          journal.append(sampleEvent(each, { session_id: `s-${each % 3}`, data_tags: ['personal.pii'] }));
        await Promise.all(numbers.map(append));
        await indexer.sync();
      }
    }),
  );
  for (const { index } of nodes) {
    const { events } = await queryIndex(index, { limit: 10_000 }, options);
    assert.equal(events.length, 2 * perNode);
    assert.equal(new Set(events.map(({ event_id }) => event_id)).size, 2 * perNode);
    assert.equal(
      (await queryIndex(index, { data_tag: 'personal', limit: 10_000 }, options)).count,
      2 * perNode,
    );
    assert.equal(await countAll(index), 2 * perNode);
    const sessions = await listAuditSessions(index, { since_ms: 0, limit: 10, after: null, ...EVERYTHING });
    assert.deepEqual(
      sessions.map(({ agent_ids, event_count }) => [agent_ids, event_count]),
      Array.from({ length: 3 }, () => [['agent-1'], (2 * perNode) / 3]),
    );
    const streamed = await readStream(index);
    assert.equal(streamed.length, 2 * perNode);
    for (const node of [0, 1]) {
      const own = listIds(node * 10_000, node * 10_000 + perNode);
      assert.deepEqual(
        streamed.filter((id) => own.includes(id)),
        own,
        'in the order of its journal',
      );
    }
    assert.equal(await nodes[0]!.indexer.sync(), 0);
  }
  const [first, second] = await Promise.all(nodes.map(({ index }) => indexHeads(index)));
  assert.notDeepEqual(
    first!.get('worker-1'),
    second!.get('worker-1'),
    'each has the chain of its own journal',
  );
});

test('an event in the journals of two services counts once', async (t, at) => {
  const nodes = [await openNode(t, at), await openNode(t, at)];
  for (const { journal, indexer } of nodes) {
    await journal.append(sampleEvent(1, { data_tags: ['secret'], session_id: 's-1' }));
    await indexer.sync();
  }
  const [{ index }] = nodes as [(typeof nodes)[number]];
  assert.equal((await queryIndex(index, { data_tag: 'secret' }, options)).count, 1);
  assert.equal(await countAll(index), 1);
});

test('a killed service continues where its last batch ended', async (t, at) => {
  const node = await openNode(t, at);
  const other = await openNode(t, at);
  const total = 6_000;
  await appendRange(node.journal, 0, total);
  await node.journal.close();
  const child = spawnIndexer(at.addressOf(node.trail.state), node.trail.dir);
  t.after(() => child.kill('SIGKILL'));
  const closed = once(child, 'close');
  await waitUntil(async () => (await countAll(node.index)) > 0);
  child.kill('SIGKILL');
  await closed;
  const indexed = await countAll(node.index);
  assert.ok(indexed > 0 && indexed < total, `it was in the middle: ${indexed}`);
  await appendRange(other.journal, 10_000, 10_100);
  await other.indexer.sync();
  await node.indexer.sync();
  assert.equal(await countAll(other.index), total + 100);
  const streamed = await readStream(other.index);
  assert.equal(streamed.length, total + 100);
  assert.deepEqual(
    streamed.filter((id) => id < sampleEvent(10_000).event_id),
    listIds(0, total),
  );
});

function spawnIndexer(address: object, dir: string): ChildProcess {
  const url = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);
  const program = `
    const { openIndex } = await import(${url('open-index.ts')});
    const { openIndexer } = await import(${url('indexer.ts')});
    const index = await openIndex(${JSON.stringify(address)});
    await openIndexer({ index, dir: ${JSON.stringify(dir)} }).sync();`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

test('no reader passes over the events of a slower service', async (t, at) => {
  const [slow, fast] = [await openNode(t, at), await openNode(t, at)];
  const writer = slow.index.dialect.openWriter(slow.index);
  const late = await buildRow(slow, 1);
  const isHeld = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  await writer.prepare([late]);
  const inserting = slow.index.db.transaction().execute(async (transaction) => {
    await writer.begin(transaction);
    await writer.insertEvents(transaction, [late], await slow.index.dialect.readLastPosition(transaction));
    isHeld.resolve();
    await mayEnd.promise;
  });
  await isHeld.promise;
  await appendRange(fast.journal, 100, 102);
  const syncing = fast.indexer.sync();
  const end = await fast.index.dialect.readLastPosition(fast.index.db);
  assert.deepEqual(await readStream(fast.index), [], 'nothing overtakes the slow one');
  mayEnd.resolve();
  await Promise.all([inserting, syncing]);
  const page = await readStreamPage(
    fast.index,
    end,
    await fast.index.dialect.readLastPosition(fast.index.db),
    false,
  );
  assert.deepEqual(
    page.events.map(({ event }) => event.event_id),
    [late.event_id, ...listIds(100, 102)],
  );
});

/** Builds a row as the indexer of a service does, without inserting it. */
async function buildRow({ index }: { readonly index: AuditIndex }, number: number) {
  const event = sampleEvent(number);
  const { metadata: _metadata, reason: _reason, data_tags: _tags, timestamp, ...rest } = event;
  const { context_hash: _context, policy_hash: _policy, coverage: _coverage, ...fields } = rest;
  assert.equal(index.dialect.name, 'postgres');
  return {
    ...fields,
    timestamp_ms: Date.parse(timestamp),
    writer: 'worker-1',
    seq: number,
    phase: null,
    event: JSON.stringify(event),
  };
}

test('a reader continues on another service when its own is gone', async (t, at) => {
  const [first, second] = [await openNode(t, at), await openNode(t, at)];
  await appendRange(first.journal, 0, 5);
  await first.indexer.sync();
  await appendRange(second.journal, 100, 103);
  await second.indexer.sync();
  await appendRange(first.journal, 5, 8);
  await first.indexer.sync();
  const last = sampleEvent(3).event_id;
  const { position } = (await findStreamPosition(first.index, last))!;
  await first.index.close();
  assert.equal((await findStreamPosition(second.index, last))?.position, position);
  const feed = openEventFeed({ warn: (message) => assert.fail(message) });
  const arrivals = await openArrivalNotifier(second.index, feed);
  const indexer = openIndexer({ index: second.index, dir: second.trail.dir, arrivals });
  const stop = new AbortController();
  const ports = { index: second.index, sync: async () => {}, watch: feed.watch };
  const pages = await followIndex({ filter: parseFilter({}, 0), after: last }, ports, stop.signal);
  const seen: string[] = [];
  const writers = new Set<string>();
  const reading = (async () => {
    for await (const { events } of pages!)
      for (const { event, writer } of events) {
        seen.push(event.event_id);
        writers.add(writer);
      }
  })();
  const before = [...listIds(4, 5), ...listIds(100, 103), ...listIds(5, 8)];
  await waitUntil(() => seen.length === before.length);
  await appendRange(second.journal, 103, 105);
  await indexer.sync();
  await waitUntil(() => seen.length === before.length + 2);
  assert.deepEqual(seen, [...before, ...listIds(103, 105)]);
  assert.deepEqual(
    [...writers].sort(),
    ['node-1/worker-1', 'worker-1'],
    'writers of others have another name',
  );
  stop.abort();
  await reading;
});

test('a service is notified of what others insert', async (t, at) => {
  const [own, other] = [await openNode(t, at), await openNode(t, at)];
  const blocks: [number, number][] = [];
  const watch = {
    isActive: () => true,
    onIndexed: ({ from, to }: { from: number; to: number }) => void blocks.push([from, to]),
  };
  const arrivals = await openArrivalNotifier(own.index, watch);
  await arrivals.poll();
  assert.deepEqual(blocks, []);
  await appendRange(other.journal, 0, 3);
  await other.indexer.sync();
  await arrivals.poll();
  assert.deepEqual(blocks, [[3, 3]], 'the watcher reads the events before the end from the index');
});

test('alert rules of a service see the events of its journal once', async (t, at) => {
  const nodes = [await openNode(t, at), await openNode(t, at)];
  const readers = await Promise.all(
    nodes.map(({ index }) => openIndexReader(index, { event_id: null, time_ms: 0, seqs: {} })),
  );
  const seen: string[][] = [[], []];
  for (let round = 0; round < 3; round++) {
    for (const [node, { journal, indexer }] of nodes.entries()) {
      await appendRange(journal, node * 1_000 + round * 10, node * 1_000 + round * 10 + 10);
      await indexer.sync();
    }
    for (const [node, reader] of readers.entries())
      for (let more = true; more; ) {
        const page = await reader.next({ limit: 7, parse: true });
        seen[node]!.push(...page.events.map(({ event_id }) => event_id));
        more = page.has_more;
      }
  }
  assert.deepEqual(seen, [listIds(0, 30), listIds(1_000, 1_030)]);
});

test('a changed journal recounts the events of its own service', async (t, at) => {
  const nodes = [await openNode(t, at), await openNode(t, at)];
  for (const [node, { journal, indexer }] of nodes.entries()) {
    for (let each = 0; each < 5; each++)
      await journal.append(sampleEvent(node * 100 + each, { session_id: 'shared' }));
    await indexer.sync();
  }
  const [{ trail, index, indexer, journal }] = nodes as [(typeof nodes)[number]];
  await journal.close();
  const [file] = await readFiles(trail);
  const lines = (await readFile(file!.path, 'utf8')).trimEnd().split('\n');
  const last = lines.findLastIndex((line) => line.includes('"kind":"event"'));
  await writeFile(file!.path, `${lines.slice(0, last).join('\n')}\n`);
  await indexer.sync();
  assert.equal(await countAll(index), 9);
  const sessions = await listAuditSessions(index, { since_ms: 0, limit: 10, after: null, ...EVERYTHING });
  assert.deepEqual(
    sessions.map(({ event_count }) => event_count),
    [9],
  );
});

test('an index of unknown or missing tables is refused', async (t, at) => {
  const { index, trail } = await openNode(t, at);
  await sql`drop table audit_counts`.execute(index.db);
  await assert.rejects(at.open(trail.state), {
    code: 'index_damaged',
    message: /drop table if exists audit_events/,
  });
  await at.remove(trail.state);
  await assert.rejects(at.open(trail.state, true), { code: 'index_missing' });
  await sql`create table audit_sessions (mine text)`.execute(index.db);
  await assert.rejects(at.open(trail.state), { code: 'index_foreign', message: /`audit_sessions`/ });
});

test('services that start together create one index', async (_t, at) => {
  const opened = await Promise.all(Array.from({ length: 4 }, (_, node) => at.open(`/node/${node}`)));
  assert.equal(await opened[0]!.dialect.readLastPosition(opened[0]!.db), 0);
});

async function listPartitions({ db }: AuditIndex): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select relid::regclass::text as name from pg_partition_tree('audit_events') where level = 1 order by 1`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

test('events of times that are not kept get no partition', async (t, at) => {
  const { journal, indexer, index } = await openNode(t, at);
  const times = ['1971-01-01T00:00:00.000Z', '2300-01-01T00:00:00.000Z', sampleEvent(0).timestamp];
  for (const [number, timestamp] of times.entries()) await journal.append(sampleEvent(number, { timestamp }));
  await indexer.sync();
  const names = await listPartitions(index);
  assert.ok(names.includes('audit_events_20260131') && names.includes('audit_events_rest'));
  assert.equal(names.length, 5, 'this day, the present one and two ahead, and the rest');
  assert.equal((await queryIndex(index, {}, options)).count, 3);
  await indexer.prune(Date.parse('2026-02-01T00:00:00.000Z'));
  assert.deepEqual(
    (await queryIndex(index, {}, options)).events.map(({ timestamp }) => timestamp),
    [times[1]],
  );
});

test('events of a day ahead move to its partition', async (t, at) => {
  const { journal, indexer, index } = await openNode(t, at);
  const DAY_MS = 86_400_000;
  const aheadMs = Date.now() + 10 * DAY_MS;
  const ahead = { timestamp: new Date(aheadMs).toISOString(), data_tags: ['secret'] };
  await journal.append(sampleEvent(1, ahead));
  await indexer.sync();
  const count = async (table: string) =>
    (await sql<{ found: number }>`select count(*) as found from ${sql.table(table)}`.execute(index.db))
      .rows[0]!.found;
  assert.deepEqual([await count('audit_events_rest'), await count('audit_event_tags_rest')], [1, 1]);
  await openPartitions(index.db, 90, () => aheadMs).prepare([]);
  assert.deepEqual([await count('audit_events_rest'), await count('audit_event_tags_rest')], [0, 0]);
  const later = { now_ms: () => aheadMs + DAY_MS };
  assert.equal((await queryIndex(index, { data_tag: 'secret' }, later)).count, 1);
});

test('after the index is lost alerts keep their place', async (t, at) => {
  const own = await makeAuditLog(t);
  await createOrder(own.dir);
  const journal = await own.open();
  const index = await at.open(own.state);
  const indexer = openIndexer({ index, dir: own.dir });
  for (const from of [0, 5]) {
    await appendRange(journal, from, from + 5);
    await indexer.sync();
  }
  const reader = await openIndexReader(index, { event_id: null, time_ms: 0, seqs: {} });
  const { events, place } = await reader.next({ limit: 100, parse: true });
  assert.equal(events.length, 10);
  assert.notEqual(await findStreamPosition(index, sampleEvent(3).event_id), null);
  await index.close();
  await at.remove(own.state);
  const other = await openNode(t, at);
  await appendRange(other.journal, 100, 103);
  await other.indexer.sync();
  const again = await at.open(own.state);
  const refilled = openIndexer({ index: again, dir: own.dir });
  await refilled.sync();
  assert.equal(await countAll(again), 13);
  assert.equal(
    await findStreamPosition(again, sampleEvent(3).event_id),
    null,
    'others have other places now',
  );
  await appendRange(journal, 10, 12);
  await refilled.sync();
  assert.notEqual(await findStreamPosition(again, sampleEvent(10).event_id), null);
  const next = await (await openIndexReader(again, place)).next({ limit: 100, parse: true });
  assert.deepEqual(
    next.events.map(({ event_id }) => event_id),
    listIds(10, 12),
  );
});
