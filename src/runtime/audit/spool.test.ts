import assert from 'node:assert/strict';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { drainSpool, writeSpool } from './spool.ts';
import { makeAuditLog, readRecordedIds, START_MS, sampleEvent } from './testing/audit-log.ts';

const now_ms = (): number => START_MS;

test('what short-lived processes leave is chained once, and then gone', async (t) => {
  const trail = await makeAuditLog(t);
  await writeSpool({ dir: trail.dir, events: [sampleEvent(1), sampleEvent(2)], now_ms });
  await writeSpool({ dir: trail.dir, events: [sampleEvent(3)], now_ms: () => START_MS + 1 });
  await writeSpool({ dir: trail.dir, events: [], now_ms });
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
  await writeSpool({ dir: trail.dir, events: [sampleEvent(1)], now_ms });
  const closed = await trail.open();
  await closed.close();
  await assert.rejects(drainSpool({ dir: trail.dir, journal: closed }), { code: 'journal_closed' });
  assert.equal((await drainSpool({ dir: trail.dir, journal: await trail.open() })).events, 1);
});

test('a spool file without an event is kept and read once', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  await writeSpool({ dir: trail.dir, events: [sampleEvent(1)], now_ms });
  const spool = join(trail.dir, 'spool');
  const foreign = [
    'not json',
    '{}',
    'null',
    '{"event_id":"evt_1"}',
    JSON.stringify({ ...sampleEvent(2), timestamp: 'x' }),
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
