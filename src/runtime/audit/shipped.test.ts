import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { readWithoutActions } from './erase-actions.ts';
import { listSegments } from './files.ts';
import { openSigningKey } from './keys.ts';
import { sealIdleChains } from './seal-idle.ts';
import { readShippedSeq, writeShippedSeq } from './shipped.ts';
import { type AuditLog, makeAuditLog, START_MS, sampleEvent, waitUntil } from './testing/audit-log.ts';

const DAY_MS = 86_400_000;

const listFiles = (trail: AuditLog, writer = 'worker-1') => listSegments(join(trail.dir, writer));

/** Writes one event a day, each in a separate file, with a maximum age of three days. */
async function writeDays(t: TestContext, days: number, shippedSeq: number | null) {
  const trail = await makeAuditLog(t, { max_size_bytes: 600, max_age_days: 3 });
  const journal = await trail.open(shippedSeq === null ? {} : { seal_after_ms: DAY_MS });
  if (shippedSeq !== null) writeShippedSeq(join(trail.dir, 'worker-1'), shippedSeq);
  for (let day = 0; day < days; day++) {
    trail.clock.now_ms = START_MS + day * DAY_MS;
    await journal.append(sampleEvent(day));
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
  await journal.close();
  return trail;
}

test('retention deletes only files that are shipped', async (t) => {
  const all = await writeDays(t, 8, null);
  assert.ok((await listFiles(all))[0]!.first_seq > 1, 'without shipping, old files go');
  const none = await writeDays(t, 8, 0);
  assert.equal((await listFiles(none))[0]!.first_seq, 1);
  const second = (await listFiles(none))[1]!.first_seq;
  const some = await writeDays(t, 8, second - 1);
  assert.equal((await listFiles(some))[0]!.first_seq, second, 'the first file is shipped');
  assert.equal((await some.verify()).intact, true);
});

test('a damaged note of what is shipped means that nothing is', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  const folder = join(trail.dir, 'worker-1');
  assert.equal(await readShippedSeq(folder), 0);
  writeShippedSeq(folder, 12);
  assert.equal(await readShippedSeq(folder), 12);
  for (const damaged of ['', '{', '{"last_seq":"12"}', '{"last_seq":1.5}']) {
    await writeFile(join(folder, 'shipped.json'), damaged);
    assert.equal(await readShippedSeq(folder), 0, damaged);
  }
  await journal.close();
});

test('a file with events is closed after its time, an empty one is not', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open({ seal_after_ms: 40 });
  await journal.append(sampleEvent(0));
  await waitUntil(async () => (await listFiles(trail)).length === 2);
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal((await listFiles(trail)).length, 2, 'the second file has no event');
  await journal.append(sampleEvent(1));
  await waitUntil(async () => (await listFiles(trail)).length === 3);
  await journal.close();
  const again = await trail.open({ seal_after_ms: 40 });
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal((await listFiles(trail)).length, 3, 'a start with nothing to close makes no file');
  await again.append(sampleEvent(2));
  await again.close();
  const last = await trail.open({ seal_after_ms: 40 });
  await waitUntil(async () => (await listFiles(trail)).length === 4);
  await last.close();
  const report = await trail.verify();
  assert.deepEqual([report.broken, report.writers[0]?.events], [null, 3]);
});

test('idle chains are closed, those in use are not', async (t) => {
  const trail = await makeAuditLog(t);
  const used = await trail.open();
  const idle = await trail.open({ writer: 'worker-2' });
  for (const journal of [used, idle]) await journal.append(sampleEvent(0));
  await idle.close();
  const seal = async (idleMs: number) =>
    sealIdleChains({
      dir: trail.dir,
      idle_ms: idleMs,
      compress_rotated: true,
      max_size_bytes: 1e8,
      signing_key: await openSigningKey({ dir: join(trail.state, 'keys'), now_ms: Date.now }),
      now_ms: Date.now,
      signal: new AbortController().signal,
    });
  await seal(DAY_MS);
  assert.equal((await listFiles(trail, 'worker-2')).length, 1, 'it is not idle for long enough');
  await seal(0);
  await seal(0);
  assert.deepEqual([(await listFiles(trail)).length, (await listFiles(trail, 'worker-2')).length], [1, 2]);
  await used.close();
  const report = await trail.verify();
  assert.deepEqual([report.broken, report.writers.map(({ events }) => events)], [null, [1, 1]]);
});

test('a copy without its ends verifies as partial, one with a gap never does', async (t) => {
  const trail = await makeAuditLog(t, { max_size_bytes: 600 });
  const [one, other] = [await trail.open(), await trail.open({ writer: 'parent', witness: true })];
  for (let index = 0; index < 5; index++) {
    await one.append(sampleEvent(index));
    await other.append(sampleEvent(100 + index));
  }
  await one.close();
  await other.close();
  const files = await listFiles(trail);
  assert.ok(files.length >= 4);
  await rm(join(trail.dir, 'worker-1', 'head.json'));
  await rm(files.at(-1)!.path);
  assert.match((await trail.verify()).broken!.reason, /The end is missing/);
  const withoutEnd = await trail.verify({ is_partial: true });
  assert.equal(withoutEnd.broken, null);
  assert.match(
    withoutEnd.warnings.join('\n'),
    /worker-1: the copy ends with record \d+, and other chains name/,
  );
  await rm(files[0]!.path);
  assert.match((await trail.verify()).broken!.reason, /A file is missing before it/);
  const middle = await trail.verify({ is_partial: true });
  assert.equal(middle.broken, null);
  assert.match(middle.warnings.join('\n'), /worker-1: the copy begins with record/);
  await rm(files[2]!.path);
  assert.match((await trail.verify({ is_partial: true })).broken!.reason, /A file is missing before it/);
});

test('the copy of a file has no shown action, and its chain verifies', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  await journal.append(sampleEvent(0, { action_shown: 'bash rm -rf build', action_marks: [] }));
  await journal.close();
  const [file] = await listFiles(trail);
  const lines: Buffer[] = [];
  for await (const line of readWithoutActions(file!)) lines.push(Buffer.from(line));
  assert.doesNotMatch(Buffer.concat(lines).toString(), /rm -rf/);
  await writeFile(file!.path, Buffer.concat(lines));
  const report = await trail.verify();
  assert.deepEqual([report.broken, report.writers[0]?.erased_actions], [null, 1]);
});
