import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { sql } from 'kysely';
import { expectRows } from '../../../core/testing/expect-rows.ts';
import { parseFilter } from '../filter.ts';
import { openIndexer } from '../indexer.ts';
import { appendRange, makeAuditLog, sampleEvent, waitUntil } from '../testing/audit-log.ts';
import { type LawIndex, law } from '../testing/indexes.ts';
import type { AuditFilter } from '../types.ts';
import { openEventFeed } from './feed.ts';
import { type FollowedPage, followIndex, readAuditEnd } from './follow-index.ts';

async function openStage(t: TestContext, at: LawIndex) {
  const trail = await makeAuditLog(t);
  const index = await at.open(trail.state);
  const { openArrivalNotifier } = await import('../arrivals.ts');
  const feed = openEventFeed({ warn: (message) => assert.fail(message) });
  const arrivals = await openArrivalNotifier(index, feed);
  const indexer = openIndexer({ index, dir: trail.dir, arrivals });
  const sync = async () => void (await indexer.sync());
  const stop = new AbortController();
  t.after(() => stop.abort());
  const follow = async (after: string | null, filter: AuditFilter = {}) => {
    const wish = { filter: parseFilter(filter, 0), after };
    const pages = await followIndex(wish, { index, sync, watch: feed.watch }, stop.signal);
    if (pages === null) return null;
    const seen: FollowedPage[] = [];
    const ended = (async () => {
      for await (const page of pages) seen.push(page);
    })();
    const ids = () => seen.flatMap(({ events }) => events.map(({ event }) => event.event_id));
    return { ids, ended, place: () => seen.findLast(({ place }) => place !== null)?.place ?? null };
  };
  return { trail, index, sync, follow, feed, stop };
}

const ids = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, at) => sampleEvent(from + at).event_id);

law('what is there comes in pages, then what comes, with the place behind it', async (t, at) => {
  const { trail, index, sync, follow, feed, stop } = await openStage(t, at);
  const journal = await trail.open();
  await appendRange(journal, 0, 450);
  await sync();
  assert.equal(feed.isActive(), false);
  const reader = (await follow(null))!;
  await waitUntil(() => reader.ids().length === 450 && reader.place() !== null);
  assert.equal(feed.isActive(), true, 'the index is looked after more often for it');
  await appendRange(journal, 450, 452);
  await sync();
  await waitUntil(() => reader.ids().length === 452);
  assert.deepEqual(reader.ids(), ids(0, 452));
  const { position, ...place } = await readAuditEnd(index);
  await waitUntil(() => reader.place()?.after === sampleEvent(451).event_id);
  assert.deepEqual(reader.place(), place);
  assert.equal(position, 452);
  stop.abort();
  await reader.ended;
  assert.equal(feed.isActive(), false);
});

law(
  'reading continues after an event, even one that is only in the journal, and refuses an unknown one',
  async (t, at) => {
    const { trail, sync, follow } = await openStage(t, at);
    const journal = await trail.open();
    await appendRange(journal, 0, 5);
    await sync();
    await appendRange(journal, 5, 8);
    const reader = (await follow(sampleEvent(6).event_id))!;
    await waitUntil(() => reader.ids().length === 1);
    assert.deepEqual(reader.ids(), ids(7, 8));
    assert.equal(await follow('evt_ffffffffffffffffffffffff'), null);
  },
);

law('filters are texts that are compared, whatever they look like', async (t, at) => {
  const { trail, sync, follow } = await openStage(t, at);
  const journal = await trail.open();
  const rows = [
    { agent_id: 'plain' },
    { agent_id: "o'hara%_.*" },
    { agent_id: '(a+)+$', tenant_id: 'acme', data_tags: ['personal.pii'] },
    { metadata: { phase: 'response', monitored: ['watch:block'], cost: 3 } },
  ];
  for (const [at, fields] of rows.entries()) await journal.append(sampleEvent(at, fields));
  await sync();
  const request: readonly (readonly [AuditFilter, number[]])[] = [
    [{ agent_id: '.*' }, []],
    [{ agent_id: '%' }, []],
    [{ agent_id: "o'hara%_.*" }, [1]],
    [{ agent_id: `${'('.repeat(500)}a+` }, []],
    [{ agent_id: '(a+)+$' }, [2]],
    [{ tenant_id: 'acme' }, [2]],
    [{ data_tag: 'personal' }, [2]],
    [{ phase: 'response' }, [3]],
    [{ monitored: 'watch' }, [3]],
    [{ metadata_key: 'cost', metadata_value: '3' }, [3]],
    [{ metadata_key: '__proto__' }, []],
    [{ metadata_key: 'constructor' }, []],
  ];
  for (const [filter, found] of expectRows(12, request)) {
    const reader = (await follow(null, filter))!;
    await waitUntil(() => reader.place() !== null);
    assert.deepEqual(
      reader.ids(),
      found.map((at) => sampleEvent(at).event_id),
      JSON.stringify(filter),
    );
  }
});

law('many rows that do not match are read in steps', async (t, at) => {
  const { trail, index, sync, follow } = await openStage(t, at);
  const journal = await trail.open();
  await appendRange(journal, 0, 1);
  await sync();
  const row = await index.db.selectFrom('audit_events').selectAll().executeTakeFirstOrThrow();
  const journalRows = await index.db.transaction().execute(async (transaction) => {
    const late = { ...row, event_id: sampleEvent(9).event_id, event: JSON.stringify(sampleEvent(9)) };
    const writer = index.dialect.openWriter(index);
    await writer.begin(transaction);
    return writer.insertEvents(transaction, [late], 1);
  });
  assert.equal(journalRows.size, 1);
  // A gap in the positions, as if the events between had been deleted.
  const column = at.kind === 'sqlite' ? sql`rowid` : sql`stream_position`;
  await sql`update audit_events set ${column} = 35000 where event_id = ${sampleEvent(9).event_id}`.execute(
    index.db,
  );
  if (at.kind === 'postgres') await sql`update audit_stream set position = 35000`.execute(index.db);
  const reader = (await follow(row.event_id))!;
  await waitUntil(() => reader.place() !== null);
  assert.deepEqual(reader.ids(), ids(9, 10));
});
