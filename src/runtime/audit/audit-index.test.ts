import assert from 'node:assert/strict';
import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { AuditIndex } from './audit-index.ts';
import { createEventId } from './event-id.ts';
import { type Indexer, indexHeads, openIndexer } from './indexer.ts';
import type { Journal } from './journal.ts';
import { type ChainHead, encodeRecord } from './journal-record.ts';
import { openIndex } from './open-index.ts';
import { queryIndex } from './query.ts';
import {
  type AuditLog,
  appendRange,
  countFiles,
  makeAuditLog,
  readFiles,
  START_MS,
  sampleEvent,
  waitUntil,
} from './testing/audit-log.ts';
import { type LawIndex, law } from './testing/indexes.ts';
import type { AuditEvent, AuditFilter } from './types.ts';

interface IndexedLog {
  readonly trail: AuditLog;
  readonly index: AuditIndex;
  readonly indexer: Indexer;
  readonly ids: (filter: AuditFilter) => Promise<number[]>;
}

const WRITER_BREATH_MS = 5;
const NOW_MS = START_MS + 1_000_000;
const number = (event: AuditEvent): number => Number.parseInt(event.event_id.slice(4), 16);

async function makeIndex(
  t: TestContext,
  at: LawIndex,
  defaults: Parameters<typeof makeAuditLog>[1] = {},
): Promise<IndexedLog> {
  const trail = await makeAuditLog(t, defaults);
  const index = await at.open(trail.state);
  const ids = async (filter: AuditFilter): Promise<number[]> => {
    const page = await queryIndex(index, filter, { now_ms: () => NOW_MS });
    assert.equal(page.count, page.events.length);
    return page.events.map(number);
  };
  return { trail, index, indexer: openIndexer({ index, dir: trail.dir }), ids };
}

const EVENTS: Partial<AuditEvent>[] = [
  {},
  { agent_id: 'agent-2', tool_name: 'send', session_id: 's-1', boundary: 'action' },
  {
    data_tags: ['personal.pii.email', 'personal.pii.ssn'],
    action: 'redact',
    decision: 'modify',
    session_id: 's-1',
  },
  {
    data_tags: ['secret.credential.openai'],
    action: 'block',
    decision: 'block',
    policy_name: 'builtin.secret',
  },
  { data_tags: ['personalised'], tenant_id: 'acme', caller_id: 'key:1' },
  { data_tags: ['personal'], source_agent_id: 'a', destination_agent_id: 'b', boundary: 'memory' },
  {
    metadata: {
      phase: 'response',
      rule: 'r-1',
      count: 3,
      on: true,
      none: null,
      list: ['a', 'b'],
      monitored: ['a:b:block', 'watch:flag'],
    },
  },
];

const QUESTIONS: [AuditFilter, number[]][] = [
  [{}, [6, 5, 4, 3, 2, 1, 0]],
  [{ newest_first: false, limit: 2 }, [0, 1]],
  [{ limit: 3 }, [6, 5, 4]],
  [{ boundary: 'action' }, [1]],
  [{ boundary: 'memory' }, [5]],
  [{ action: 'redact' }, [2]],
  [{ decision: 'block' }, [3]],
  [{ policy_name: 'builtin.secret' }, [3]],
  [{ agent_id: 'agent-2' }, [1]],
  [{ tool_name: 'send' }, [1]],
  [{ session_id: 's-1' }, [2, 1]],
  [{ session_id: 's-1', agent_id: 'agent-2' }, [1]],
  [{ tenant_id: 'acme' }, [4]],
  [{ caller_id: 'key:1' }, [4]],
  [{ source_agent_id: 'a', destination_agent_id: 'b' }, [5]],
  [{ event_id: sampleEvent(4).event_id }, [4]],
  [{ event_id: sampleEvent(4).event_id, agent_id: 'agent-2' }, []],
  [{ phase: 'response' }, [6]],
  [{ data_tag: 'personal' }, [5, 2]],
  [{ data_tag: 'personal.pii' }, [2]],
  [{ data_tag: 'personal.pii.email' }, [2]],
  [{ data_tag: 'PERSONAL.pii' }, [2]],
  [{ data_tag: 'person' }, []],
  [{ data_tag: 'secret' }, [3]],
  [{ data_tag: 'personal', session_id: 's-1' }, [2]],
  [{ data_tag: 'personal', agent_id: 'agent-1', newest_first: false }, [2, 5]],
  [{ data_tag: 'personal', boundary: 'memory' }, [5]],
  [{ data_tag: 'personal', since: '2026-01-31T12:00:03Z' }, [5]],
  [{ metadata_key: 'rule' }, [6]],
  [{ metadata_key: 'none' }, [6]],
  [{ metadata_key: 'toString' }, []],
  [{ metadata_key: 'rule', metadata_value: 'r-1' }, [6]],
  [{ metadata_key: 'rule', metadata_value: 'r-2' }, []],
  [{ metadata_key: 'count', metadata_value: '3' }, [6]],
  [{ metadata_key: 'on', metadata_value: 'true' }, [6]],
  [{ metadata_key: 'list', metadata_value: '["a","b"]' }, [6]],
  [{ monitored: '*' }, [6]],
  [{ monitored: 'a:b' }, [6]],
  [{ monitored: 'watch', phase: 'response' }, [6]],
  [{ monitored: 'a' }, []],
  [{ monitored: 'watch:flag' }, []],
  [{ since: '2026-01-31T12:00:05.000Z' }, [6, 5]],
  [{ until: '2026-01-31T12:00:01.000Z' }, [1, 0]],
  [{ since: '2026-01-31T12:00:01Z', until: '2026-01-31T12:00:02Z' }, [2, 1]],
  [{ last: '1000s' }, [6, 5, 4, 3, 2, 1, 0]],
  [{ last: '996s' }, [6, 5, 4]],
  [{ agent_id: `' or 1=1 --` }, []],
];

async function appendAll(journal: Journal): Promise<void> {
  for (const [index, fields] of EVENTS.entries()) await journal.append(sampleEvent(index, fields));
}

law('every filter finds what it names, and nothing else', async (t, at) => {
  const { trail, indexer, ids, index } = await makeIndex(t, at);
  await appendAll(await trail.open());
  assert.equal(await indexer.sync(), EVENTS.length);
  for (const [filter, expected] of QUESTIONS)
    assert.deepEqual(await ids(filter), expected, JSON.stringify(filter));
  assert.equal(QUESTIONS.length, 47);
  const page = await queryIndex(index, { event_id: sampleEvent(2).event_id }, { now_ms: () => NOW_MS });
  assert.deepEqual(page.events, [sampleEvent(2, EVENTS[2])]);
});

law('a synced index sees every event that was durable before, of all writers, once', async (t, at) => {
  const { trail, indexer, ids } = await makeIndex(t, at, { max_size_bytes: 20_000, compress_rotated: true });
  const [first, second] = [await trail.open(), await trail.open({ writer: 'worker-2' })];
  for (let round = 0; round < 10; round++) {
    const from = round * 40;
    await Promise.all([appendRange(first, from, from + 30), appendRange(second, from + 30, from + 40)]);
    await Promise.all([indexer.sync(), indexer.sync(), indexer.sync()]);
    assert.equal((await ids({ limit: 10_000 })).length, from + 40);
  }
  await waitUntil(async () => (await countFiles(trail, 'gzip')) > 0);
  assert.equal(await indexer.sync(), 0);
});

law('a writer that never pauses does not keep a sync from ending', async (t, at) => {
  const { trail, indexer } = await makeIndex(t, at);
  const journal = await trail.open();
  let next = 0;
  let resting = false;
  // At most as fast as a database indexes: else each sync would leave more to the next one.
  const writing = Array.from({ length: 8 }, async () => {
    while (!resting) {
      await journal.append(sampleEvent(next++));
      await sleep(WRITER_BREATH_MS);
    }
  });
  for (let round = 0; round < 5; round++) await indexer.sync();
  const whileBusy = next;
  resting = true;
  await Promise.all(writing);
  assert.ok(whileBusy > 0);
  await indexer.sync();
  assert.equal(await indexer.sync(), 0);
});

law('questions over more than a page keep their order and miss nothing', async (t, at) => {
  const { trail, indexer, ids } = await makeIndex(t, at);
  const journal = await trail.open();
  const sameTime = { timestamp: sampleEvent(0).timestamp };
  await Promise.all(
    Array.from({ length: 3_500 }, (_, index) =>
      journal.append(sampleEvent(index, index % 7 === 0 ? { ...sameTime, policy_name: 'p' } : sameTime)),
    ),
  );
  await indexer.sync();
  const all = Array.from({ length: 3_500 }, (_, index) => index);
  assert.deepEqual(await ids({ newest_first: false, limit: 10_000 }), all);
  assert.deepEqual(await ids({ limit: 10_000 }), all.toReversed());
  assert.deepEqual(
    await ids({ policy_name: 'p', limit: 400, newest_first: false }),
    all.filter((each) => each % 7 === 0).slice(0, 400),
  );
});

law('the index is made again from the journal after it was deleted', async (t, at) => {
  const { trail, indexer, ids, index } = await makeIndex(t, at, {
    max_size_bytes: 3_000,
    compress_rotated: true,
  });
  await appendAll(await trail.open());
  await indexer.sync();
  const before = await ids({});
  await index.close();
  await at.remove(trail.state);
  const again = await at.open(trail.state);
  assert.equal(await openIndexer({ index: again, dir: trail.dir }).sync(), EVENTS.length);
  const page = await queryIndex(again, {}, { now_ms: () => NOW_MS });
  assert.deepEqual(page.events.map(number), before);
});

test('a damaged file is replaced', async (t) => {
  const trail = await makeAuditLog(t);
  await appendAll(await trail.open());
  const path = join(trail.state, 'index.db');
  await writeFile(path, 'no database at all, but long enough to be read as one'.repeat(40));
  const index = await openIndex({ path });
  t.after(index.close);
  assert.equal(index.rebuilt, true);
  assert.equal(await openIndexer({ index, dir: trail.dir }).sync(), EVENTS.length);
});

law('a writer continues after reopening, and events that are read twice are there once', async (t, at) => {
  const { trail, indexer, ids, index } = await makeIndex(t, at);
  const journal = await trail.open();
  await appendRange(journal, 0, 5);
  await indexer.sync();
  await index.db.deleteFrom('journal_positions').execute();
  await appendRange(journal, 4, 8);
  await openIndexer({ index, dir: trail.dir }).sync();
  assert.deepEqual(await ids({ newest_first: false }), [0, 1, 2, 3, 4, 5, 6, 7]);
});

law('an event that was chained twice is found by its tags once', async (t, at) => {
  const { trail, indexer, ids, index } = await makeIndex(t, at);
  const [first, second] = [await trail.open(), await trail.open({ writer: 'worker-2' })];
  const tagged = sampleEvent(8, { data_tags: ['secret.credential'] });
  for (const journal of [first, first, second]) {
    await journal.append(tagged);
    await journal.append(sampleEvent(9, { data_tags: ['personal.pii'] }));
    await indexer.sync();
  }
  assert.deepEqual(await ids({ data_tag: 'secret' }), [8]);
  const tags = await index.db.selectFrom('audit_event_tags').select('tag').orderBy('tag').execute();
  assert.deepEqual(
    tags.map(({ tag }) => tag),
    ['personal', 'personal.pii', 'secret', 'secret.credential'],
  );
});

/** Truncates the file to its first lines and writes others after them, as a cut or an intruder does. */
async function replaceEnd(
  trail: AuditLog,
  kept: number,
  bodies: readonly ['cut' | 'event', object][],
): Promise<void> {
  const { path, lines } = (await readFiles(trail))[0]!;
  const texts = lines.slice(0, kept).map((line) => `${line}\n`);
  let head = JSON.parse(lines[kept - 1]!) as ChainHead;
  for (const [kind, body] of bodies) {
    const encoded = encodeRecord(head, 'worker-1', kind, JSON.stringify(body));
    texts.push(encoded.line);
    head = encoded.head;
  }
  await writeFile(path, texts.join(''));
}

const CUT = {
  timestamp: sampleEvent(0).timestamp,
  reason: 'write_failed',
  bytes: 9,
  events_rejected: 2,
  set_aside: null,
};
const REPLACEMENTS: [string, ['cut' | 'event', object][], number[], boolean][] = [
  ['a shorter end, with a cut that says why', [['cut', CUT]], [0, 1], true],
  [
    'a longer end, with a cut that says why',
    [['cut', CUT], ...[7, 8, 9, 10].map((index) => ['event', sampleEvent(index)] as ['event', object])],
    [0, 1, 7, 8, 9, 10],
    true,
  ],
  ['a shorter end', [], [0, 1], false],
  ['another end', [7, 8, 9, 10].map((index) => ['event', sampleEvent(index)]), [0, 1, 7, 8, 9, 10], false],
];

for (const [name, bodies, expected, explained] of REPLACEMENTS) {
  law(`the index follows the journal when it finds ${name}`, async (t, at) => {
    const { trail, indexer, ids, index } = await makeIndex(t, at);
    await appendRange(await trail.open(), 0, 5);
    await indexer.sync();
    await replaceEnd(trail, 3, bodies);
    await indexer.sync();
    assert.deepEqual(await ids({ newest_first: false }), expected);
    const report = await trail.verify({ known_heads: await indexHeads(index) });
    assert.equal(report.intact, explained);
    if (!explained) assert.match(report.broken!.reason, /end is missing|rewritten/);
    assert.equal(await indexer.sync(), 0);
  });
}

law('an event of an unheard-of shape stops neither the index nor the others', async (t, at) => {
  const { trail, indexer, ids } = await makeIndex(t, at);
  const journal = await trail.open();
  const strange: object[] = [
    { data_tags: 'personal' },
    { data_tags: [3] },
    { agent_id: undefined },
    { tool_name: {} },
    { timestamp: 'yesterday' },
    { metadata: null },
    { event_id: 'x' },
  ];
  for (const fields of strange) await journal.append({ ...sampleEvent(1), ...fields } as AuditEvent);
  const many = Array.from({ length: 5_000 }, (_, index) => `a.b.c${index}`);
  await journal.append(sampleEvent(2, { data_tags: ['a.'.repeat(100_000), ...many] }));
  await indexer.sync();
  assert.deepEqual(await ids({}), [2]);
  assert.deepEqual(await ids({ data_tag: 'a.b' }), [2]);
});

law('lines that cannot be read are passed over', async (t, at) => {
  const { trail, indexer, ids } = await makeIndex(t, at);
  const journal = await trail.open();
  await appendRange(journal, 0, 3);
  const [file] = await readFiles(trail);
  await journal.close();
  await appendFile(file!.path, `garbage\n{"seq":1,"kind":"event"}\n`);
  assert.equal(await indexer.sync(), 3);
  assert.equal((await ids({})).length, 3);
  assert.equal(await indexer.sync(), 0);
});

law('a reader opens the index next to the writer', async (t, at) => {
  const { trail, indexer } = await makeIndex(t, at);
  const reader = await at.open(trail.state, true);
  await appendAll(await trail.open());
  await indexer.sync();
  assert.equal((await queryIndex(reader, {}, { now_ms: () => NOW_MS })).count, EVENTS.length);
});

law('a reader needs the tables, and none of a later version', async (t, at) => {
  const { trail, index } = await makeIndex(t, at);
  const table = at.kind === 'sqlite' ? 'kysely_migration' : 'audit_index_migrations';
  await sql`insert into ${sql.table(table)} values ('9999_later', 'x')`.execute(index.db);
  await assert.rejects(at.open(trail.state), { code: 'index_newer' });
  await assert.rejects(at.open(trail.state, true), { code: 'index_newer' });
  await index.close();
  await at.remove(trail.state);
  await assert.rejects(at.open(trail.state, true));
});

test('a reader of a file cannot change it', async (t) => {
  const trail = await makeAuditLog(t);
  const path = join(trail.state, 'index.db');
  await (await openIndex({ path })).close();
  const reader = await openIndex({ path, read_only: true });
  t.after(reader.close);
  await assert.rejects(reader.db.deleteFrom('audit_events').execute(), /readonly|read-only/i);
});

law('the index remembers the end of each chain, and verify asks it', async (t, at) => {
  const { trail, indexer, index } = await makeIndex(t, at);
  const journal = await trail.open();
  await appendRange(journal, 0, 9);
  await indexer.sync();
  const knownHeads = await indexHeads(index);
  assert.equal((await trail.verify({ known_heads: knownHeads })).intact, true);
  const [file] = await readFiles(trail);
  const bytes = await readFile(file!.path);
  await writeFile(file!.path, bytes.subarray(0, bytes.lastIndexOf(0x0a, bytes.length - 2) + 1));
  assert.equal((await trail.verify()).intact, true);
  assert.match((await trail.verify({ known_heads: knownHeads })).broken!.reason, /end is missing: the index/);
});

test('old events are deleted on demand with their tags', async (t) => {
  const trail = await makeAuditLog(t);
  const path = join(trail.state, 'index.db');
  const index = await openIndex({ path });
  t.after(index.close);
  const indexer = openIndexer({ index, dir: trail.dir });
  await appendAll(await trail.open());
  await indexer.sync();
  assert.equal(await indexer.prune(START_MS + 3_000), 3);
  const { events } = await queryIndex(index, {}, { now_ms: () => NOW_MS });
  assert.deepEqual(events.map(number), [6, 5, 4, 3]);
  const tags = await index.db.selectFrom('audit_event_tags').select('event_id').distinct().execute();
  assert.equal(tags.length, 3);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

law('events of earlier days are deleted with their tags and counts', async (t, at) => {
  const { trail, indexer, ids, index } = await makeIndex(t, at);
  const DAY_MS = 86_400_000;
  const journal = await trail.open();
  const onDay = (event: number, day: number) =>
    sampleEvent(event, {
      timestamp: new Date(START_MS + day * DAY_MS).toISOString(),
      data_tags: ['personal.pii'],
      session_id: `day-${day}`,
    });
  for (const [event, day] of [-9_999, 0, 0, 1, 2].entries()) await journal.append(onDay(event, day));
  await indexer.sync();
  assert.deepEqual(await ids({ newest_first: false }), [0, 1, 2, 3, 4]);
  const beginMs = Math.floor(START_MS / DAY_MS) * DAY_MS;
  await indexer.prune(beginMs + DAY_MS);
  assert.deepEqual(await ids({ newest_first: false }), [3, 4]);
  assert.deepEqual(await ids({ data_tag: 'personal', newest_first: false }), [3, 4]);
  const tags = await index.db.selectFrom('audit_event_tags').select('event_id').distinct().execute();
  assert.equal(tags.length, 2);
  const counts = index.db
    .selectFrom('audit_counts')
    .select('last_ms')
    .where('last_ms', '<', beginMs + DAY_MS);
  assert.deepEqual(await counts.execute(), []);
  await journal.append(onDay(5, 0));
  await indexer.sync();
  assert.deepEqual(await ids({ newest_first: false }), [5, 3, 4], 'a late event of a deleted day');
});

law('a query returns shown actions on request, until pruned', async (t, at) => {
  const { trail, indexer, index } = await makeIndex(t, at);
  const journal = await trail.open();
  const shown = { action_shown: 'Bash {"command":"rm -rf /"}', action_marks: [[17, 25]] } as const;
  const times = [START_MS, START_MS + 5_000];
  for (const nowMs of times)
    await journal.append(sampleEvent(nowMs - START_MS, { event_id: createEventId(nowMs), ...shown }));
  await journal.append(sampleEvent(1));
  await indexer.sync();
  const find = async (filter: AuditFilter) =>
    (await queryIndex(index, filter, { now_ms: () => NOW_MS })).events;
  const texts = (await find({ with_actions: true })).map(({ action_shown }) => action_shown);
  assert.deepEqual(texts.filter(Boolean), [shown.action_shown, shown.action_shown]);
  const [first] = await find({ with_actions: true, limit: 1, newest_first: false });
  assert.deepEqual(first!.action_marks, shown.action_marks);
  assert.ok((await find({})).every((event) => !('action_shown' in event)));
  await indexer.prune(START_MS + 4_000);
  assert.equal((await index.db.selectFrom('shown_actions').select('event_id').execute()).length, 1);
});

law('a query that reads too many rows is aborted', async (t, at) => {
  const { trail, indexer, index } = await makeIndex(t, at);
  await appendRange(await trail.open(), 0, 2_000);
  await indexer.sync();
  const options = { now_ms: () => NOW_MS, timeout_ms: 0 };
  await assert.rejects(queryIndex(index, { caller_id: 'none', limit: 1 }, options), {
    code: 'query_too_slow',
  });
});
