import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { AuditIndex } from './audit-index.ts';
import { openIndexReader } from './events/pages.ts';
import { findStreamPosition } from './events/replay.ts';
import { openIndexer } from './indexer.ts';
import { openIndex } from './open-index.ts';
import { createOrder, findChangedStep, openArrivalOrder } from './order.ts';
import { findStepsToRead } from './reorder.ts';
import { type AuditLog, appendRange, makeAuditLog, sampleEvent } from './testing/audit-log.ts';

/** Opens an index that `sync` fills and that can be rebuilt from nothing. */
async function openStage(t: TestContext) {
  const trail = await makeAuditLog(t, { max_size_bytes: 8_000 });
  const path = join(trail.state, 'index.db');
  const order = join(trail.dir, 'order');
  let index = await openIndex({ path });
  let indexer = openIndexer({ index, dir: trail.dir });
  t.after(() => index.close());
  const reopen = async () => {
    await index.close();
    index = await openIndex({ path });
    indexer = openIndexer({ index, dir: trail.dir });
    await indexer.sync();
  };
  const remake = async () => {
    await index.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true });
    index = await openIndex({ path });
    await reopen();
  };
  return { trail, order, reopen, remake, sync: () => indexer.sync(), index: () => index };
}

/** Returns the events in the order of the stream. */
async function readStreamed(index: AuditIndex): Promise<string[]> {
  const rows = await index.db
    .selectFrom('audit_events')
    .select('event_id')
    .orderBy(index.dialect.position)
    .execute();
  return rows.map(({ event_id }) => event_id);
}

/** Writes as three writers in turns of varying sizes, past the end of files and of blocks. */
async function writeInTurns(trail: AuditLog, sync: () => Promise<number>, first = 0): Promise<number> {
  const writers = ['parent', 'worker-1', 'worker-2'];
  const journals = await Promise.all(writers.map((writer) => trail.open({ writer })));
  let next = first;
  for (const [turn, count] of [3, 1, 40, 1, 2, 700, 5, 1, 1, 9].entries()) {
    await appendRange(journals[(9 - turn) % 3]!, next, next + count);
    next += count;
    if (turn % 3 !== 1) await sync();
  }
  await sync();
  await Promise.all(journals.map((journal) => journal.close()));
  return next;
}

test('an index that is made again has its events in the order of the one before', async (t) => {
  const { trail, order, index, sync, remake, reopen } = await openStage(t);
  await createOrder(trail.dir);
  const written = await writeInTurns(trail, sync);
  const before = await readStreamed(index());
  assert.equal(before.length, written);
  const byTime = before.toSorted();
  assert.notDeepEqual(before, byTime, 'the order is none that the events tell by themselves');
  await remake();
  assert.deepEqual(await readStreamed(index()), before);
  const after = await writeInTurns(trail, sync, written);
  await reopen();
  const grown = await readStreamed(index());
  assert.equal(grown.length, after);
  await remake();
  assert.deepEqual(await readStreamed(index()), grown, 'it is kept on behind an index that was made again');
  assert.equal((await findStreamPosition(index(), before[0]!))?.position, 1);
  assert.equal(statSync(order).mode & 0o777, 0o600);
});

test('a stop between the index and its order costs nothing', async (t) => {
  const { trail, order, index, sync, remake, reopen } = await openStage(t);
  await createOrder(trail.dir);
  await writeInTurns(trail, sync);
  const before = await readStreamed(index());
  const lines = readFileSync(order, 'utf8').trimEnd().split('\n');
  // The index has a step that the order file lacks.
  writeFileSync(order, `${lines.slice(0, -1).join('\n')}\n`);
  await reopen();
  await remake();
  assert.deepEqual(await readStreamed(index()), before);
});

test('an index that lost its end reads it again in the order of before', async (t) => {
  const { trail, index, sync, reopen } = await openStage(t);
  await createOrder(trail.dir);
  const [one, two] = [await trail.open({ writer: 'a' }), await trail.open({ writer: 'b' })];
  await appendRange(one, 0, 3);
  await sync();
  const positions = await index().db.selectFrom('journal_positions').selectAll().execute();
  await appendRange(two, 3, 6);
  await sync();
  await appendRange(one, 6, 9);
  await sync();
  const before = await readStreamed(index());
  const { db } = index();
  await db.deleteFrom('audit_events').where('event_id', '>', sampleEvent(2).event_id).execute();
  await db.deleteFrom('journal_positions').execute();
  await db.insertInto('journal_positions').values(positions).execute();
  await reopen();
  assert.deepEqual(await readStreamed(index()), before);
  assert.equal(before.length, 9);
});

test('after the order is lost, no reader continues from its old positions', async (t) => {
  const { trail, order, index, sync, remake } = await openStage(t);
  await createOrder(trail.dir);
  const written = await writeInTurns(trail, sync);
  const known = await readStreamed(index());
  assert.notEqual(await findStreamPosition(index(), known[5]!), null);
  rmSync(order);
  await remake();
  assert.equal((await readStreamed(index())).length, written);
  for (const eventId of known) assert.equal(await findStreamPosition(index(), eventId), null);
  const journal = await trail.open({ writer: 'worker-1' });
  await appendRange(journal, written, written + 2);
  await sync();
  assert.equal((await findStreamPosition(index(), sampleEvent(written).event_id))?.position, written + 1);
  await remake();
  assert.equal(await findStreamPosition(index(), known[5]!), null, 'it stays so');
  assert.notEqual(await findStreamPosition(index(), sampleEvent(written).event_id), null);
});

test('a reader keeps its place when the index is lost', async (t) => {
  const { trail, order, index, sync, remake } = await openStage(t);
  const journals = await Promise.all(['worker-1', 'worker-2'].map((writer) => trail.open({ writer })));
  for (const [turn, journal] of [...journals, ...journals].entries())
    await appendRange(journal, 20_000 + turn * 3, 20_003 + turn * 3);
  await sync();
  const start = { event_id: null, time_ms: 0, seqs: {} };
  const { events, place } = await (await openIndexReader(index(), start)).next({ limit: 50, parse: true });
  assert.equal(events.length, 12);
  // A spool may hold an event for hours.
  await (await trail.open({ writer: 'parent' })).append(sampleEvent(1));
  await journals[1]!.append(sampleEvent(30_000));
  rmSync(order);
  await remake();
  const reader = await openIndexReader(index(), place);
  const seen: string[] = [];
  for (let page = await reader.next({ limit: 5, parse: true }); ; ) {
    seen.push(...page.events.map(({ event_id }) => event_id));
    if (!page.has_more) break;
    page = await reader.next({ limit: 5, parse: true });
  }
  assert.deepEqual(seen, [sampleEvent(1).event_id, sampleEvent(30_000).event_id]);
});

test('a stop in the middle of reading without an order makes none up', async (t) => {
  const { trail, order, index, sync, remake } = await openStage(t);
  await createOrder(trail.dir);
  const written = await writeInTurns(trail, sync);
  rmSync(order);
  // Does what a process does that is stopped before it reads anything.
  assert.equal((await findStepsToRead(openArrivalOrder(trail.dir), trail.dir, new Map())).length, 3);
  await remake();
  const all = await readStreamed(index());
  assert.equal(all.length, written);
  for (const eventId of all) assert.equal(await findStreamPosition(index(), eventId), null);
});

test('an index from before the order was kept keeps its own', async (t) => {
  const { trail, order, index, sync, reopen, remake } = await openStage(t);
  await createOrder(trail.dir);
  await writeInTurns(trail, sync);
  const before = await readStreamed(index());
  rmSync(order);
  await reopen();
  assert.deepEqual(await readStreamed(index()), before);
  assert.notEqual(await findStreamPosition(index(), before[5]!), null);
  await remake();
  assert.equal(await findStreamPosition(index(), before[5]!), null);
});

test('one writer alone has its own order, whatever was kept', async (t) => {
  const { trail, order, index, sync, remake } = await openStage(t);
  const journal = await trail.open({ writer: 'parent' });
  await appendRange(journal, 0, 20);
  await sync();
  rmSync(order);
  await remake();
  assert.equal((await findStreamPosition(index(), sampleEvent(7).event_id))?.position, 8);
});

test('lines that were taken back have no place in the order', async (t) => {
  const { trail } = await openStage(t);
  mkdirSync(trail.dir, { recursive: true });
  const order = openArrivalOrder(trail.dir);
  assert.equal(order.kept, null);
  for (const [writer, seq] of [
    ['a', 10],
    ['b', 5],
    ['a', 20],
    ['a', 12],
    ['a', 15],
  ] as const)
    order.note({ writer, seq, ordered: true });
  const kept = openArrivalOrder(trail.dir).kept?.map(({ writer, seq }) => `${writer}${seq}`);
  assert.deepEqual(kept, ['a10', 'b5', 'a12', 'a12', 'a15']);
});

test('what is kept has a bound, and what is no line of it is passed over', async (t) => {
  const { trail, order } = await openStage(t);
  mkdirSync(trail.dir, { recursive: true });
  const bounded = openArrivalOrder(trail.dir, 250);
  for (let seq = 1; seq <= 1_000; seq++) bounded.note({ writer: `w-${seq % 2}`, seq, ordered: true });
  assert.ok(statSync(order).size < 300);
  const { kept } = openArrivalOrder(trail.dir);
  assert.deepEqual(kept?.at(-1), { writer: 'w-0', seq: 1_000, ordered: true });
  assert.equal(kept?.[0]?.ordered, false);
  writeFileSync(order, '5 a\n../../x b\n6 ../../b\n1e9 a\n7 a *\n8 ');
  assert.deepEqual(openArrivalOrder(trail.dir).kept, [
    { writer: 'a', seq: 5, ordered: true },
    { writer: 'a', seq: 7, ordered: false },
  ]);
  openArrivalOrder(trail.dir).note({ writer: 'b', seq: 3, ordered: true });
  assert.match(
    readFileSync(order, 'utf8'),
    /^7 a \* #[0-9a-f]{16}\n3 b \* #[0-9a-f]{16}\n$/,
    'half a line swallows no other',
  );
});

test('an order that cannot be written stops nothing', async (t) => {
  const { trail, order, sync, index } = await openStage(t);
  mkdirSync(order, { recursive: true });
  await writeInTurns(trail, sync);
  assert.equal((await readStreamed(index())).length, 763);
});

test('every flipped bit of the order is found', async (t) => {
  const { trail, order } = await openStage(t);
  mkdirSync(trail.dir, { recursive: true });
  const kept = openArrivalOrder(trail.dir);
  assert.equal(await findChangedStep(trail.dir), null, 'there is none yet');
  for (let seq = 1; seq <= 3; seq += 1) kept.note({ writer: `w-${seq}`, seq, ordered: seq !== 2 });
  openArrivalOrder(trail.dir).note({ writer: 'w-9', seq: 9, ordered: true });
  const genuine = readFileSync(order);
  assert.equal(await findChangedStep(trail.dir), null);
  for (let bit = 0; bit < genuine.length * 8; bit += 1) {
    const flipped = Buffer.from(genuine);
    flipped[bit >> 3]! ^= 1 << (bit & 7);
    writeFileSync(order, flipped);
    assert.notEqual(await findChangedStep(trail.dir), null, `bit ${bit}`);
  }
  const lines = genuine.toString().split('\n');
  writeFileSync(order, lines.toSpliced(1, 1).join('\n'));
  assert.equal(await findChangedStep(trail.dir), 2, 'a line is missing');
  writeFileSync(order, genuine.subarray(0, -5));
  assert.equal(await findChangedStep(trail.dir), null, 'a stop has cut the last line');
  writeFileSync(order, '5 a\n7 a *\n');
  assert.equal(await findChangedStep(trail.dir), null, 'a file of an earlier version');
});
