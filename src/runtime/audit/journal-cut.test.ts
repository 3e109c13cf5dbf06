import assert from 'node:assert/strict';
import { appendFile, copyFile, mkdir, open, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { measureJournal } from './journal-cut.ts';
import { type AuditLog, appendRange, makeAuditLog, readFiles } from './testing/audit-log.ts';

const RESTART_PAUSE_MS = 40;

/** Copies the measured parts of a journal and verifies the copy. */
async function verifyCut(trail: AuditLog, copy: string, onMeasured?: () => Promise<void>) {
  for (const part of await measureJournal(trail.dir, onMeasured)) {
    const target = join(copy, part.path);
    await mkdir(dirname(target), { recursive: true });
    if ('text' in part) {
      await writeFile(target, part.text);
      continue;
    }
    await copyFile(join(trail.dir, part.path), target);
    await truncate(target, part.bytes);
  }
  return trail.verify({ dir: copy });
}

test('a cut verifies at every moment, while writers name the checkpoints of each other', async (t) => {
  const trail = await makeAuditLog(t);
  let isOver = false;
  let restarts = 0;
  const write = async (writer: string, first: number) => {
    for (let at = first; !isOver; at += 5) {
      // A writer names the heads of all others when it stops.
      const journal = await trail.open({ writer, compress_rotated: false });
      await appendRange(journal, at, at + 5);
      await journal.close();
      restarts += 1;
      // In memory, restarts without a pause would leave no moment in which nothing is published.
      await sleep(RESTART_PAUSE_MS);
    }
  };
  const writers = [write('worker-1', 0), write('worker-2', 1_000_000), write('parent', 2_000_000)];
  try {
    let events = 0;
    for (let at = 0; at < 20; at++) {
      const report = await verifyCut(trail, join(trail.state, `copy-${at}`));
      assert.deepEqual([report.broken, report.intact || events === 0], [null, true]);
      const found = report.writers.reduce((sum, each) => sum + each.events, 0);
      assert.ok(found >= events);
      events = found;
    }
    assert.ok(events > 50 && restarts > 10, `${events} events, ${restarts} restarts`);
  } finally {
    isOver = true;
    await Promise.all(writers);
  }
});

test('a checkpoint that is published between two writers makes the measurement begin again', async (t) => {
  const trail = await makeAuditLog(t);
  let at = 0;
  const write = async (writer: string) => {
    const journal = await trail.open({ writer });
    await appendRange(journal, at, at + 3);
    at += 3;
    await journal.close();
  };
  await write('worker-1');
  await write('worker-2');
  let calls = 0;
  const report = await verifyCut(trail, join(trail.state, 'copy'), async () => {
    calls += 1;
    if (calls !== 1) return;
    // The second one names a record of the first one that the measurement has passed.
    await write('worker-1');
    await write('worker-2');
  });
  assert.deepEqual([report.broken, report.intact], [null, true]);
  assert.equal(calls, 4);
  assert.equal(
    report.writers.reduce((sum, { events }) => sum + events, 0),
    12,
  );
});

test('a line that is being written is not in the cut', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open({ writer: 'worker-1' });
  await appendRange(journal, 0, 3);
  await journal.close();
  const [file] = await readFiles(trail, 'worker-1');
  const getBytes = async () => (await measureJournal(trail.dir)).find((part) => 'bytes' in part);
  const whole = await getBytes();
  // Longer than one block of the search for the last line.
  await appendFile(file!.path, `{"seq":${'9'.repeat(100_000)}`);
  assert.deepEqual(await getBytes(), whole);
  const handle = await open(file!.path, 'r+');
  await handle.truncate(0);
  await handle.close();
  assert.deepEqual(await getBytes(), { ...whole, bytes: 0 });
});

test('a folder without a journal has no parts', async () => {
  assert.deepEqual(await measureJournal('/nonexistent/journal'), []);
});
