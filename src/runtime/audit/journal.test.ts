import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { appendFile, open, readdir, readFile, rename, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import type { AuditFailure } from './failure.ts';
import { omitBody } from './journal-record.ts';
import { openSigningKey } from './keys.ts';
import { maintainIdleWriters } from './retention.ts';
import {
  appendRange,
  countFiles,
  makeAuditLog,
  readFiles,
  readRecordedIds,
  START_MS,
  sampleEvent,
  waitUntil,
  writeLines,
} from './testing/audit-log.ts';

const DAY_MS = 86_400_000;
const id = (index: number): string => sampleEvent(index).event_id;

test('an event is in the file when append resolves, and the chain verifies', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  await journal.append(sampleEvent(0));
  assert.deepEqual(await readRecordedIds(trail), [id(0)]);
  await appendRange(journal, 1, 300);
  assert.deepEqual(
    await readRecordedIds(trail),
    Array.from({ length: 300 }, (_, index) => id(index)),
  );
  const report = await trail.verify();
  assert.equal(report.broken, null);
  assert.deepEqual([report.writers[0]?.events, report.writers[0]?.unsigned_tail], [300, 301]);
});

test('a line has the hashes of its body and of its header, and holds the event as it was given', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  const event = sampleEvent(1, {
    reason: 'Zürich \u2028 "quoted" \ud800 \u0000',
    metadata: { rules: ['a', 'b'] },
  });
  await journal.append(event);
  const line = (await readFiles(trail))[0]!.lines[1]!;
  assert.match(
    line,
    /^\{"seq":2,"writer":"worker-1","kind":"event","prev_hash":"[0-9a-f]{64}","body_hash":"[0-9a-f]{64}","event":\{[^\n]*\},"record_hash":"[0-9a-f]{64}"\}$/,
  );
  assert.deepEqual(JSON.parse(line).event, event);
  assert.equal((await trail.verify()).intact, true);
});

test('a shown action is outside its event and erasable', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  const shown = { action_shown: 'Bash {"command":"ls"}', action_marks: [[0, 4]] } as const;
  await Promise.all([journal.append(sampleEvent(1, shown)), journal.append(sampleEvent(2, shown))]);
  await journal.close();
  const [{ path, lines }] = (await readFiles(trail)) as [{ path: string; lines: string[] }];
  const kinds = lines.map((line) => (JSON.parse(line) as { kind: string }).kind);
  assert.deepEqual(kinds, ['segment', 'action', 'event', 'action', 'event', 'checkpoint']);
  assert.deepEqual(JSON.parse(lines[2]!).event, sampleEvent(1));
  const { salt, ...body } = JSON.parse(lines[1]!).action as { salt: string };
  assert.deepEqual(body, { event_id: id(1), ...shown });
  assert.match(salt, /^[0-9a-f]{32}$/);
  assert.notEqual(salt, JSON.parse(lines[3]!).action.salt);

  const erase = (line: string) => omitBody(Buffer.from(line));
  await writeLines(path, lines.with(1, erase(lines[1]!)));
  assert.deepEqual([(await trail.verify()).intact, await readRecordedIds(trail)], [true, [id(1), id(2)]]);
  for (const [at, line] of [
    [1, lines[1]!.replace('ls', 'rm')],
    [2, erase(lines[2]!)],
  ] as const) {
    await writeLines(path, lines.with(at, line));
    assert.equal((await trail.verify()).intact, false);
  }
});

test('closing signs the end; opening continues in the same file', async (t) => {
  const trail = await makeAuditLog(t);
  for (const round of [0, 1, 2]) {
    const journal = await trail.open();
    await appendRange(journal, round * 10, round * 10 + 10);
    await journal.close();
    await assert.rejects(journal.append(sampleEvent(99)), { code: 'journal_closed' });
    assert.equal((await trail.verify()).writers[0]?.unsigned_tail, 0);
  }
  assert.equal((await readFiles(trail)).length, 1);
  assert.equal((await readRecordedIds(trail)).length, 30);
});

test('an event is refused while the file is not in its place, and recorded once it is back', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  await journal.append(sampleEvent(0));
  await rename(trail.dir, `${trail.dir}-away`);
  await assert.rejects(journal.append(sampleEvent(1)), { code: 'journal_write_failed', message: /ENOENT/ });
  await rename(`${trail.dir}-away`, trail.dir);
  await journal.append(sampleEvent(2));
  assert.deepEqual(await readRecordedIds(trail), [id(0), id(2)]);
  assert.equal((await trail.verify()).broken, null);
  await rm(trail.dir, { recursive: true });
  await assert.rejects(journal.append(sampleEvent(3)), { code: 'journal_write_failed' });
  await assert.rejects(journal.close());
  await (await trail.open()).append(sampleEvent(4));
  assert.deepEqual(await readRecordedIds(trail), [id(4)]);
});

test('files and folders are the owner’s alone', async (t) => {
  const trail = await makeAuditLog(t, { compress_rotated: true, max_size_bytes: 2_000 });
  const journal = await trail.open();
  for (let index = 0; index < 10; index++) await journal.append(sampleEvent(index));
  await journal.close();
  const names = await readdir(trail.state, { recursive: true });
  const modes = await Promise.all(
    names.map(async (name) => ((await stat(join(trail.state, name))).mode & 0o077) === 0),
  );
  assert.ok(names.length > 8);
  assert.deepEqual(
    names.filter((_, index) => !modes[index]),
    [],
  );
});

test('the end is signed by itself: after many records, and after a while', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open({ checkpoint_ms: 20 });
  await appendRange(journal, 0, 5_000);
  assert.ok(journal.head().unsigned_records < 4_096);
  await waitUntil(() => journal.head().unsigned_records === 0);
  const report = await trail.verify();
  assert.deepEqual([report.intact, report.writers[0]?.unsigned_tail], [true, 0]);
  assert.ok(report.writers[0]!.checkpoints >= 2);
});

test('a file that has grown to its size is signed, closed and compressed, and the chain continues', async (t) => {
  const trail = await makeAuditLog(t, { max_size_bytes: 10_000, compress_rotated: true });
  const journal = await trail.open();
  for (let index = 0; index < 100; index++) await journal.append(sampleEvent(index));
  await waitUntil(async () => (await countFiles(trail, 'plain')) === 1);
  await journal.close();
  const files = await readFiles(trail);
  assert.ok(files.length > 5);
  assert.ok((await stat(files[0]!.path)).size < 5_000);
  for (const { lines } of files) assert.equal(JSON.parse(lines.at(-1)!).kind, 'checkpoint');
  assert.equal((await readRecordedIds(trail)).length, 100);
  assert.equal((await trail.verify()).intact, true);
  assert.deepEqual(
    (await readdir(join(trail.dir, 'worker-1'))).filter((name) => name.endsWith('.tmp')),
    [],
  );
});

test('closed files past their age are deleted, and the rest still verifies', async (t) => {
  const trail = await makeAuditLog(t, { max_size_bytes: 2_000, max_age_days: 10 });
  const journal = await trail.open();
  for (let index = 0; index < 20; index++) {
    trail.clock.now_ms = START_MS + index * DAY_MS;
    await journal.append(sampleEvent(index));
  }
  await waitUntil(async () => (await readRecordedIds(trail)).length < 15);
  const ids = await readRecordedIds(trail);
  assert.ok(ids.length >= 10, `${ids.length} events are left`);
  assert.equal(ids.at(-1), id(19));
  const report = await trail.verify();
  assert.deepEqual([report.broken, report.warnings], [null, []]);
  assert.ok(report.writers[0]!.first_seq > 1);
});

test('a clock that is set forward deletes nothing, until it has run on for hours', async (t) => {
  const HOUR_MS = 3_600_000;
  const trail = await makeAuditLog(t, { max_size_bytes: 500, max_age_days: 90 });
  const journal = await trail.open();
  let index = 0;
  /** Advances the time, and writes one event to a file of its own each hour. */
  const pass = async (hours: number): Promise<number> => {
    for (let hour = 0; hour < hours; hour++) {
      trail.clock.now_ms += HOUR_MS;
      await journal.append(sampleEvent(index++));
    }
    await journal.append(sampleEvent(index++));
    return (await readRecordedIds(trail)).length;
  };
  const set = (days: number): void => {
    trail.clock.now_ms += days * DAY_MS;
    trail.clock.set_ms += days * DAY_MS;
  };
  await pass(10);
  set(100);
  assert.equal(await pass(5), index);
  set(-100);
  assert.equal(await pass(5), index);
  set(100);
  assert.equal(await pass(5), index, 'hours on either side of a change do not add up');
  const before = index;
  await pass(3);
  await waitUntil(async () => (await readRecordedIds(trail)).length < before);
  const left = await readRecordedIds(trail);
  assert.equal(left.at(-1), id(index - 1));
  assert.ok(left.length > 3);
  assert.equal((await trail.verify()).intact, true);
});

test('an idle chain is compressed and deleted by another writer', async (t) => {
  const trail = await makeAuditLog(t, { max_size_bytes: 2_000 });
  for (const writer of ['worker-2', 'worker-3']) {
    const journal = await trail.open({ writer });
    for (let index = 0; index < 10; index++) await journal.append(sampleEvent(index));
    if (writer === 'worker-2') await journal.close();
  }
  const round = {
    dir: trail.dir,
    writer: 'worker-1',
    max_age_days: 36_500,
    compress_rotated: true,
    signing_key: await openSigningKey({ dir: join(trail.state, 'keys'), now_ms: Date.now }),
    signal: new AbortController().signal,
    steady_now_ms: Date.now,
  };
  await maintainIdleWriters({ ...round, now_ms: Date.now });
  assert.equal(await countFiles(trail, 'gzip', 'worker-2'), 0);
  await maintainIdleWriters({ ...round, now_ms: () => Date.now() + DAY_MS });
  assert.deepEqual(
    [(await countFiles(trail, 'gzip', 'worker-2')) > 2, await countFiles(trail, 'gzip', 'worker-3')],
    [true, 0],
  );
  assert.equal((await trail.verify()).intact, true);
});

test('a stop between compressing and deleting leaves one journal, not two', async (t) => {
  const trail = await makeAuditLog(t, { max_size_bytes: 2_000 });
  const journal = await trail.open();
  for (let index = 0; index < 10; index++) await journal.append(sampleEvent(index));
  await journal.close();
  const [first] = await readFiles(trail);
  await writeFile(`${first!.path}.gz`, gzipSync(await readFile(first!.path)));
  await writeFile(`${first!.path}.gz.0123.tmp`, 'half');
  assert.equal((await readRecordedIds(trail)).length, 10);
  await trail.open({ compress_rotated: true });
  await waitUntil(async () => (await countFiles(trail, 'plain')) === 1);
  assert.equal((await readRecordedIds(trail)).length, 10);
  assert.equal((await trail.verify()).intact, true);
  assert.equal(
    (await readdir(join(trail.dir, 'worker-1'))).filter((name) => name.endsWith('.tmp')).length,
    0,
  );
});

test('a torn last line is cut at opening, the cut is recorded, and whole lines stay', async (t) => {
  const torn = ['{"seq":', '{"seq":99,"writer":"worker-1"', '\0'.repeat(5_000), 'x'];
  for (const piece of torn) {
    const trail = await makeAuditLog(t);
    const journal = await trail.open();
    await appendRange(journal, 0, 5);
    await journal.close();
    const [file] = await readFiles(trail);
    await appendFile(file!.path, piece);
    assert.equal((await trail.verify()).writers[0]?.torn_bytes, piece.length);
    await appendRange(await trail.open(), 5, 7);
    const lines = (await readFiles(trail))[0]!.lines.map((line) => JSON.parse(line));
    const cut = lines.find((line) => line.kind === 'cut')?.cut;
    assert.deepEqual([cut.reason, cut.bytes, cut.set_aside], ['torn_line', piece.length, null]);
    assert.equal((await readRecordedIds(trail)).length, 7);
    assert.equal((await trail.verify()).intact, true);
  }
});

test('a stop at any byte leaves a journal that opens, verifies and loses no whole line', async (t) => {
  const trail = await makeAuditLog(t);
  const first = await trail.open();
  await appendRange(first, 0, 3);
  await first.close();
  const { path, lines } = (await readFiles(trail))[0]!;
  const whole = await readFile(path);
  for (let bytes = 0; bytes < whole.length; bytes += 61) {
    await writeFile(path, whole);
    await truncate(path, bytes);
    const journal = await trail.open();
    await journal.append(sampleEvent(50));
    await journal.close();
    const kept = whole.subarray(0, bytes).toString('utf8').split('\n').slice(0, -1);
    const now = (await readFiles(trail))[0]!.lines;
    if (kept.length > 0) assert.deepEqual(now.slice(0, kept.length), kept, `cut at byte ${bytes}`);
    assert.equal((await trail.verify()).broken, null, `cut at byte ${bytes}`);
  }
  assert.ok(lines.length > 4);
});

test('an unreadable end after the last checkpoint is moved away whole, with a warning', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  await appendRange(journal, 0, 5);
  await journal.close();
  const [file] = await readFiles(trail);
  await appendFile(file!.path, `garbage\n{"seq":8}\nrest`);
  await appendRange(await trail.open(), 5, 6);
  const report = await trail.verify();
  assert.equal(report.intact, true);
  assert.match(report.warnings[0]!, /was moved to/);
  const names = await readdir(join(trail.dir, 'worker-1'));
  const kept = names.find((name) => name.endsWith('.set-aside'))!;
  assert.match(await readFile(join(trail.dir, 'worker-1', kept), 'utf8'), /garbage\n\{"seq":8\}\nrest$/);
});

test('an end that was damaged before signed lines is not continued', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  await appendRange(journal, 0, 5);
  await journal.close();
  const [file] = await readFiles(trail);
  const text = await readFile(file!.path, 'utf8');
  const damages = [text.replace('"agent-1"', '"agent-2"').concat('rest\n'), text.replace(/\}\n$/, ' }\n')];
  for (const damaged of damages) {
    await writeFile(file!.path, damaged);
    await assert.rejects(trail.open(), (failure: AuditFailure) => {
      assert.equal(failure.code, 'journal_broken');
      assert.match(failure.message, /audit verify/);
      return true;
    });
    assert.equal(await readFile(file!.path, 'utf8'), damaged);
  }
});

test('one process at a time has a chain, and waits for the one before it', async (t) => {
  const trail = await makeAuditLog(t);
  const first = await trail.open();
  await assert.rejects(trail.open(), { code: 'journal_in_use' });
  const second = trail.open({ lock_wait_ms: 5_000 });
  await first.close();
  await (await second).append(sampleEvent(1));
  await (await trail.open({ writer: 'worker-2' })).append(sampleEvent(2));
  assert.deepEqual(
    (await trail.verify()).writers.map(({ writer }) => writer),
    ['worker-1', 'worker-2'],
  );
});

test('a folder that cannot be written is an expected failure', async (t) => {
  const trail = await makeAuditLog(t);
  await writeFile(trail.dir, 'a file where the folder belongs');
  await assert.rejects(trail.open(), { code: 'journal_write_failed' });
});

test('what cannot be a line or a writer is refused', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open();
  const large = sampleEvent(1, { reason: 'x'.repeat(1_100_000) });
  await assert.rejects(journal.append(large), { code: 'event_too_large' });
  await journal.append(sampleEvent(2, { reason: 'x'.repeat(1_000_000) }));
  for (const writer of ['../x', 'a/b', '', 'spool', 'A', '.'])
    await assert.rejects(trail.open({ writer }), TypeError);
  assert.equal((await trail.verify()).intact, true);
});

test('any events, however they are grouped, rotated and reopened, come back in order', async (t) => {
  const group = fc.array(fc.record({ reason: fc.string({ unit: 'binary' }), reopen: fc.boolean() }), {
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(group, { maxLength: 6 }),
      fc.integer({ min: 1, max: 6_000 }),
      async (groups, size) => {
        const trail = await makeAuditLog(t, { max_size_bytes: size, compress_rotated: size % 2 === 0 });
        let journal = await trail.open();
        const given: string[] = [];
        for (const events of groups) {
          const some = events.map(({ reason }, index) => sampleEvent(given.length + index, { reason }));
          given.push(...some.map((event) => JSON.stringify(event)));
          await Promise.all(some.map((event) => journal.append(event)));
          if (events[0]?.reopen) {
            await journal.close();
            journal = await trail.open();
          }
        }
        await journal.close();
        const records = (await readFiles(trail)).flatMap(({ lines }) =>
          lines.map((line) => JSON.parse(line)),
        );
        const events = records
          .filter(({ kind }) => kind === 'event')
          .map(({ event }) => JSON.stringify(event));
        assert.deepEqual(events, given);
        assert.equal((await trail.verify()).broken, null);
      },
    ),
    { numRuns: 15 },
  );
});

/** Occupies the threads that do all file work of a process, as a disk that does not respond would. */
async function hangFiles(t: TestContext, dir: string): Promise<{ readonly release: () => Promise<void> }> {
  const THREADS = Number(process.env.UV_THREADPOOL_SIZE ?? 4);
  const pipe = join(dir, 'pipe');
  execFileSync('mkfifo', [pipe]);
  // Opening a pipe for reading blocks until a process opens it for writing.
  const readers = Array.from({ length: THREADS }, () => open(pipe, 'r'));
  let released = false;
  const release = async (): Promise<void> => {
    if (released) return;
    released = true;
    const writer = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    for (const reader of await Promise.all(readers)) await reader.close();
    closeSync(writer);
  };
  t.after(release);
  await nextTurn();
  return { release };
}

test('a disk that neither writes nor fails: every wait ends, and no refused event is recorded', async (t) => {
  const trail = await makeAuditLog(t);
  const journal = await trail.open({ write_ms_max: 30 });
  await journal.append(sampleEvent(0));
  const disk = await hangFiles(t, trail.state);
  const writing = journal.append(sampleEvent(1));
  await nextTurn();
  await nextTurn();
  const waiting = journal.append(sampleEvent(2));
  for (const refused of [writing, waiting]) await assert.rejects(refused, { code: 'journal_hangs' });
  await assert.rejects(journal.append(sampleEvent(3)), { code: 'journal_hangs' });
  await disk.release();
  await waitUntil(() =>
    journal.append(sampleEvent(4)).then(
      () => true,
      () => false,
    ),
  );
  await journal.close();
  assert.deepEqual(await readRecordedIds(trail), [id(0), id(4)]);
  assert.equal((await trail.verify()).intact, true);
  const cut = (await readFiles(trail))[0]!.lines
    .map((line) => JSON.parse(line))
    .find(({ kind }) => kind === 'cut');
  assert.equal(cut.cut.reason, 'write_failed');
  assert.ok(cut.cut.bytes > 0);
  assert.ok(cut.cut.events_rejected >= 3);
});
