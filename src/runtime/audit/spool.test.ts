import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { listHostileNames } from '../../core/testing/hostile-characters.ts';
import { drainSpool, writeSpool } from './spool.ts';
import { makeAuditLog, readRecordedIds, START_MS, sampleEvent } from './testing/audit-log.ts';

const nowMs = (): number => START_MS;

test('what short-lived processes leave is chained once, and then gone', async (t) => {
  const trail = await makeAuditLog(t);
  await writeSpool({ dir: trail.dir, events: [sampleEvent(1), sampleEvent(2)], now_ms: nowMs });
  await writeSpool({ dir: trail.dir, events: [sampleEvent(3)], now_ms: () => START_MS + 1 });
  await writeSpool({ dir: trail.dir, events: [], now_ms: nowMs });
  const spool = join(trail.dir, 'spool');
  assert.equal((await stat(join(spool, (await readdir(spool))[0]!))).mode & 0o777, 0o600);
  const journal = await trail.open({ writer: 'parent' });
  assert.deepEqual(await drainSpool({ dir: trail.dir, journal }), { files: 2, events: 3, refused: [] });
  assert.deepEqual(
    await readRecordedIds(trail, 'parent'),
    [1, 2, 3].map((index) => sampleEvent(index).event_id),
  );
  assert.deepEqual(await readdir(spool), []);
  assert.deepEqual(await drainSpool({ dir: trail.dir, journal }), { files: 0, events: 0, refused: [] });
  assert.deepEqual(
    (await trail.verify()).writers.map(({ writer }) => writer),
    ['parent'],
  );
});

test('a file that could not be chained stays for the next time', async (t) => {
  const trail = await makeAuditLog(t);
  await writeSpool({ dir: trail.dir, events: [sampleEvent(1)], now_ms: nowMs });
  const closed = await trail.open();
  await closed.close();
  await assert.rejects(drainSpool({ dir: trail.dir, journal: closed }), { code: 'journal_closed' });
  assert.equal((await drainSpool({ dir: trail.dir, journal: await trail.open() })).events, 1);
});

test('a spool file without an event is kept and read once', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  await writeSpool({ dir: trail.dir, events: [sampleEvent(1)], now_ms: nowMs });
  const spool = join(trail.dir, 'spool');
  const foreign = [
    'not json',
    '{}',
    'null',
    '{"event_id":"evt_1"}',
    JSON.stringify({ ...sampleEvent(2), timestamp: 'x' }),
    JSON.stringify({ ...sampleEvent(2), boundary: 'sideways' }),
    JSON.stringify({ ...sampleEvent(2), decision: 'maybe' }),
    JSON.stringify({ ...sampleEvent(2), action: 'approve' }),
  ];
  for (const [index, text] of foreign.entries()) {
    await writeFile(join(spool, `000000000000${index}-0000000000000000.jsonl`), text);
  }
  await writeFile(join(spool, 'half.jsonl.tmp'), 'still being written');
  const report = await drainSpool({ dir: trail.dir, journal });
  assert.deepEqual([report.events, report.refused.length], [1, foreign.length]);
  assert.deepEqual((await drainSpool({ dir: trail.dir, journal })).refused, []);
  assert.equal((await readdir(spool)).length, foreign.length + 1);
  assert.equal(
    await readFile(join(spool, '0000000000000-0000000000000000.jsonl.refused'), 'utf8'),
    'not json',
  );
});

test('a folder, pipe or link with the name of a spool file stops no other file', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  await writeSpool({ dir: trail.dir, events: [sampleEvent(1)], now_ms: nowMs });
  const spool = join(trail.dir, 'spool');
  const outside = join(trail.dir, '..', `outside-${process.pid}.jsonl`);
  await writeFile(outside, `${JSON.stringify(sampleEvent(2))}\n`);
  const names = ['a', 'b', 'c', 'd'].map((digit) => `0000000000000-000000000000000${digit}.jsonl`);
  const [folder, full, pipe, link] = names.map((name) => join(spool, name)) as [
    string,
    string,
    string,
    string,
  ];
  await mkdir(folder);
  await mkdir(join(full, 'inner'), { recursive: true });
  execFileSync('mkfifo', [pipe]);
  await symlink(outside, link);
  const report = await drainSpool({ dir: trail.dir, journal });
  assert.deepEqual([report.events, [...report.refused].sort()], [1, names]);
  assert.match(await readFile(outside, 'utf8'), /evt_/);
  await rm(outside);
  const verified = await trail.verify();
  assert.deepEqual([verified.intact, verified.warnings.length], [true, 4]);
});

test('a spool that is a link is not read, and nothing is written through it', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  const outside = join(trail.dir, '..', `outside-${process.pid}`);
  await mkdir(outside);
  await symlink(outside, join(trail.dir, 'spool'));
  await writeFile(
    join(outside, '0000000000000-0000000000000000.jsonl'),
    `${JSON.stringify(sampleEvent(1))}\n`,
  );
  assert.equal((await drainSpool({ dir: trail.dir, journal })).events, 0);
  const writing = writeSpool({ dir: trail.dir, events: [sampleEvent(2)], now_ms: nowMs });
  await assert.rejects(writing, { code: 'spool_unusable' });
  assert.equal((await readdir(outside)).length, 1);
  await rm(outside, { recursive: true });
  assert.equal((await trail.verify()).intact, false);
});

test('names from the spool reach the chain without line breaks', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open({ writer: 'parent' });
  const forged = { ...sampleEvent(1), agent_id: 'a\nblock b', tool_name: 'x\u2028y' };
  const hostile = listHostileNames().map((name, at) => ({ ...sampleEvent(at + 2), agent_id: name }));
  await writeSpool({ dir: trail.dir, events: [forged, ...hostile], now_ms: nowMs });
  await drainSpool({ dir: trail.dir, journal });
  await journal.close();
  const [segment] = (await readdir(join(trail.dir, 'parent'))).filter((name) => name.endsWith('.jsonl'));
  const text = await readFile(join(trail.dir, 'parent', segment!), 'utf8');
  assert.match(text, /"agent_id":"a\ufffdblock b"/);
  assert.match(text, /"tool_name":"x\ufffdy"/);
  const agents = text.split('\n').filter((line) => line.includes('"agent_id"'));
  assert.equal(agents.length, hostile.length + 1, 'a name makes no line');
  assert.doesNotMatch(agents.join(' '), /[\p{Cc}\u2028\u2029]|\\u00[01]|\\[nrt]/u);
});
