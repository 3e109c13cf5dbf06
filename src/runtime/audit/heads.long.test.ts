/** Cross-signed checkpoints: deleted ends and whole writers are detected with only the files and the public key. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { buildSegmentName, listSegments } from './files.ts';
import { openIndexer } from './indexer.ts';
import type { Journal } from './journal.ts';
import { CHAIN_START, type RecordKind } from './journal-record.ts';
import { openSigningKey, signMessage } from './keys.ts';
import { openIndex } from './open-index.ts';
import { findShortenedChains } from './shortened-chains.ts';
import {
  type AuditLog,
  appendRange,
  countFiles,
  encodeOldRecord,
  makeAuditLog,
  readFiles,
  rehashLine,
  START_MS,
  sampleEvent,
  waitUntil,
  writeLines,
} from './testing/audit-log.ts';

const DAY_MS = 86_400_000;
const KILLS = process.env.NIGHTLY === undefined ? 2 : 4;
const LOOKS = process.env.NIGHTLY === undefined ? 5 : 10;
const LOAD = fileURLToPath(new URL('./testing/append-load.ts', import.meta.url));

/** Makes two workers with several files each, and a parent that stops last and wrote events only at first. */
async function makeService(t: TestContext): Promise<AuditLog> {
  const trail = await makeAuditLog(t);
  const parent = await trail.open({ writer: 'parent', witness: true });
  await appendRange(parent, 0, 3);
  for (const [index, writer] of ['worker-1', 'worker-2'].entries()) {
    const journal = await trail.open({ writer, max_size_bytes: 100_000 });
    for (let batch = 0; batch < 4; batch++)
      await appendRange(journal, index * 1_000 + batch * 150, index * 1_000 + batch * 150 + 150);
    await journal.close();
    assert.ok((await readFiles(trail, writer)).length >= 3);
  }
  await parent.close();
  return trail;
}

async function cutLines(trail: AuditLog, writer: string, count: number): Promise<void> {
  let left = count;
  for (const { path, lines } of (await readFiles(trail, writer)).reverse()) {
    if (left <= 0) return;
    if (lines.length <= left) await rm(path);
    else await writeLines(path, lines.slice(0, lines.length - left));
    left -= lines.length;
  }
}

/** Deletes the last checkpoint and all lines after it, or the last two checkpoints and all lines between them. */
async function cutCheckpoints(trail: AuditLog, writer: string, count: number): Promise<void> {
  const lines = (await readFiles(trail, writer)).flatMap((file) => file.lines);
  const at = lines.flatMap((line, index) => (JSON.parse(line).kind === 'checkpoint' ? [index] : []));
  await cutLines(trail, writer, lines.length - at.at(-count)!);
}

async function appendMore(trail: AuditLog, writer: string, from: number, to: number): Promise<void> {
  const journal = await trail.open({ writer });
  await appendRange(journal, from, to);
  await journal.close();
}

interface ChainTamper {
  readonly name: string;
  readonly tamper: (trail: AuditLog) => Promise<unknown>;
  readonly writer: string;
  readonly reason: RegExp;
}

const TAMPERINGS: readonly ChainTamper[] = [
  {
    name: 'the last file of a writer is deleted',
    tamper: async (trail) => rm((await readFiles(trail, 'worker-1')).at(-1)!.path),
    writer: 'worker-1',
    reason: /^The end is missing: a checkpoint of `parent` names record \d+, and \d+ are there\.$/,
  },
  {
    name: 'all files of a writer are deleted and its folder stays',
    tamper: async (trail) => {
      for (const { path } of await readFiles(trail, 'worker-1')) await rm(path);
    },
    writer: 'worker-1',
    reason: /^The whole chain is missing/,
  },
  {
    name: 'the last 100 lines are deleted',
    tamper: (trail) => cutLines(trail, 'worker-1', 100),
    writer: 'worker-1',
    reason: /^The end is missing/,
  },
  {
    name: 'the last line alone, a checkpoint, is deleted',
    tamper: (trail) => cutLines(trail, 'worker-2', 1),
    writer: 'worker-2',
    reason: /^The end is missing/,
  },
  {
    name: 'the last checkpoint and all behind it are deleted',
    tamper: (trail) => cutCheckpoints(trail, 'worker-1', 1),
    writer: 'worker-1',
    reason: /^The end is missing/,
  },
  {
    name: 'the last two checkpoints and all behind them are deleted',
    tamper: (trail) => cutCheckpoints(trail, 'worker-2', 2),
    writer: 'worker-2',
    reason: /^The end is missing/,
  },
  {
    name: 'a whole writer is deleted',
    tamper: (trail) => rm(join(trail.dir, 'worker-2'), { recursive: true }),
    writer: 'worker-2',
    reason: /^The whole chain is missing: a checkpoint of `parent` names record \d+\.$/,
  },
  {
    name: 'all workers are deleted',
    tamper: async (trail) => {
      for (const writer of ['worker-1', 'worker-2']) await rm(join(trail.dir, writer), { recursive: true });
    },
    writer: 'worker-1',
    reason: /^The whole chain is missing/,
  },
  {
    name: 'the parent is deleted, which a worker names',
    tamper: async (trail) => {
      await appendMore(trail, 'worker-2', 5_000, 5_010);
      await rm(join(trail.dir, 'parent'), { recursive: true });
    },
    writer: 'parent',
    reason: /^The whole chain is missing: a checkpoint of `worker-2`/,
  },
  {
    name: 'the end is cut, and the service has gone on past it',
    tamper: async (trail) => {
      await cutLines(trail, 'worker-1', 100);
      await appendMore(trail, 'worker-1', 7_000, 7_300);
    },
    writer: 'worker-1',
    reason: /^The chain was rewritten: a checkpoint of `parent` names record \d+ with another hash\.$/,
  },
  {
    name: 'a writer is deleted, and a new one of its name has grown past it, and is witnessed itself',
    tamper: async (trail) => {
      await rm(join(trail.dir, 'worker-1'), { recursive: true });
      await appendMore(trail, 'worker-1', 0, 2_000);
      await (await trail.open({ writer: 'parent', witness: true })).close();
    },
    writer: 'worker-1',
    reason: /^The chain was rewritten/,
  },
  {
    name: 'a checkpoint is stripped of the heads that it names, and the writer of its end',
    tamper: async (trail) => {
      await cutLines(trail, 'worker-1', 100);
      const [file] = await readFiles(trail, 'parent');
      const stripped = file!.lines.map((line) =>
        JSON.parse(line).kind === 'checkpoint' ? rehashLine(line.replace(/,"heads":\[.*?\]/, '')) : line,
      );
      await writeLines(file!.path, stripped);
    },
    writer: 'parent',
    reason: /signature/,
  },
  {
    name: 'a head in a checkpoint is lowered to what is there',
    tamper: async (trail) => {
      const [file] = await readFiles(trail, 'parent');
      const lowered = file!.lines.map((line) =>
        JSON.parse(line).kind === 'checkpoint'
          ? rehashLine(line.replace(/("worker-1","seq":)\d+/, '$11'))
          : line,
      );
      await writeLines(file!.path, lowered);
    },
    writer: 'parent',
    reason: /signature|follow/,
  },
];

/** Returns the records of a writer that the parent's checkpoints name. */
async function readNamedSeqs(trail: AuditLog, writer: string): Promise<number[]> {
  const records = (await readFiles(trail, 'parent')).flatMap(({ lines }) =>
    lines.map((line) => JSON.parse(line)),
  );
  return records
    .flatMap(({ checkpoint }) => checkpoint?.heads ?? [])
    .filter((head) => head.writer === writer)
    .map(({ seq }) => seq);
}

for (const { name, tamper, writer, reason } of TAMPERINGS) {
  test(`found without the index: ${name}`, async (t) => {
    const trail = await makeService(t);
    assert.equal((await trail.verify()).broken, null);
    await tamper(trail);
    const { intact, broken } = await trail.verify();
    assert.equal(intact, false);
    assert.equal(broken?.writer, writer);
    assert.match(broken!.reason, reason);
  });
}

test('not seen: the end behind the last checkpoint anywhere, the last witness, and the whole folder put back', async (t) => {
  const trail = await makeAuditLog(t);
  const parent = await trail.open({ writer: 'parent', witness: true, checkpoint_ms: 20 });
  const worker = await trail.open();
  await appendRange(worker, 0, 20);
  await cutLines(trail, 'worker-1', 5);
  assert.equal((await trail.verify()).intact, true, 'lines that nothing has signed');
  await rm(join(trail.dir, 'worker-1'), { recursive: true });
  assert.equal((await trail.verify()).intact, true, 'a writer that no checkpoint names yet');
  await parent.close();
  const other = await makeService(t);
  const copy = `${other.dir}-copy`;
  await cp(other.dir, copy, { recursive: true });
  await appendMore(other, 'worker-1', 9_000, 9_100);
  await (await other.open({ writer: 'parent', witness: true })).close();
  assert.equal((await other.verify()).broken, null);
  await cutLines(other, 'parent', 1);
  await cutLines(other, 'worker-1', 50);
  assert.match((await other.verify()).broken!.file!, /^(?:parent|worker-1)\/head\.json$/);
  for (const writer of ['parent', 'worker-1']) await rm(join(other.dir, writer, 'head.json'));
  assert.equal((await other.verify()).intact, true, 'the end of the witness and what it names');
  assert.equal((await other.verify({ dir: copy })).intact, true, 'an earlier state of all');
});

test('a witness signs what others have written while nothing of its own is, and only then', async (t) => {
  const trail = await makeAuditLog(t);
  const parent = await trail.open({ writer: 'parent', witness: true, checkpoint_ms: 20 });
  const worker = await trail.open({ checkpoint_ms: 20 });
  const readLast = async (): Promise<{ seq?: number; checkpoint?: { heads: { seq: number }[] } }> => {
    const [file] = await readFiles(trail, 'parent');
    return JSON.parse(file?.lines.at(-1) ?? '{}');
  };
  const named = async (): Promise<number> => (await readLast()).checkpoint?.heads[0]?.seq ?? 0;
  let before = 0;
  for (let round = 0; round < 3; round++) {
    await appendRange(worker, round * 10, round * 10 + 10);
    await waitUntil(async () => (await named()) > before && worker.head().unsigned_records === 0);
    await waitUntil(async () => (await named()) === worker.head().seq);
    before = await named();
  }
  // A line is in the file shortly before the journal counts it.
  await waitUntil(async () => (await readLast()).seq === parent.head().seq);
  const heads = [parent.head().seq, worker.head().seq];
  await sleep(300);
  assert.deepEqual([parent.head().seq, worker.head().seq], heads, 'no line is written of nothing new');
  await worker.close();
  await parent.close();
  const closed = await readFile((await readFiles(trail, 'parent'))[0]!.path);
  for (let round = 0; round < 3; round++)
    await (await trail.open({ writer: 'parent', witness: true })).close();
  assert.deepEqual(await readFile((await readFiles(trail, 'parent'))[0]!.path), closed);
  assert.equal((await trail.verify()).broken, null);
});

test('intact: files that are rotated, compressed and deleted by age, with heads that name records in them', async (t) => {
  const trail = await makeAuditLog(t, { max_size_bytes: 3_000, max_age_days: 2, compress_rotated: true });
  const names = ['parent', 'worker-1', 'worker-2'];
  const lastSeqs: number[] = [];
  for (let day = 0; day < 6; day++) {
    trail.clock.now_ms = START_MS + day * DAY_MS;
    const journals: Journal[] = [];
    for (const writer of names)
      journals.push(
        await trail.open(
          writer === 'parent'
            ? { writer, witness: true, checkpoint_ms: 5, max_size_bytes: 1e8 }
            : { writer, checkpoint_ms: 5 },
        ),
      );
    // The second worker exists only in the first days.
    const running = journals.filter((_, index) => index < 2 || day < 3);
    for (let round = 0; round < 6; round++)
      for (const [index, journal] of running.entries())
        await appendRange(
          journal,
          day * 100 + round * 10 + index * 3,
          day * 100 + round * 10 + index * 3 + 3,
        );
    trail.clock.now_ms += 8 * 3_600_000;
    for (const journal of running) await appendRange(journal, day * 100 + 90, day * 100 + 95);
    lastSeqs.push(journals[1]!.head().seq);
    // Closing ends the maintenance that deletes, so all files of three days ago must be gone before.
    const expiredSeq = lastSeqs[day - 3] ?? 0;
    await waitUntil(async () => (await listSegments(join(trail.dir, 'worker-1')))[0]!.first_seq > expiredSeq);
    for (const journal of journals.reverse()) await journal.close();
    assert.equal((await trail.verify()).broken, null, `day ${day}`);
  }
  const retired = await Promise.all(
    names.map(async (writer) => (await readdir(join(trail.dir, writer))).includes('retired.json')),
  );
  assert.deepEqual(retired.slice(0, 2), [false, true], 'the parent still names what age has deleted');
  const [first] = (await trail.verify()).writers.filter(({ writer }) => writer === 'worker-1');
  assert.ok(first!.first_seq > lastSeqs[2]!);
  assert.ok((await readNamedSeqs(trail, 'worker-1')).some((seq) => seq < first!.first_seq));
  assert.ok((await countFiles(trail, 'gzip')) > 0);
  await rm(join(trail.dir, 'worker-2'), { recursive: true });
  assert.match((await trail.verify()).broken!.reason, /whole chain is missing/);
});

test('intact: while writers run, rotate and sign, at every look', async (t) => {
  const trail = await makeAuditLog(t, { max_size_bytes: 20_000, compress_rotated: true, checkpoint_ms: 3 });
  const journals = await Promise.all(
    ['parent', 'worker-1', 'worker-2', 'worker-3'].map((writer) =>
      trail.open({ writer, witness: writer === 'parent' }),
    ),
  );
  let rounds = 0;
  let running = true;
  const looking = (async () => {
    for (let looks = 0; looks < LOOKS || rounds < 2 * LOOKS; looks++)
      assert.equal((await trail.verify()).broken, null);
  })().finally(() => {
    running = false;
  });
  for (; running; rounds++) {
    await Promise.all(
      journals.map((journal, index) => appendRange(journal, rounds * 40 + index, rounds * 40 + index + 9)),
    );
    // The files must not grow as fast as a slow machine reads them: a look would never end.
    await sleep(rounds < 200 ? 20 : 200);
  }
  await looking;
  await waitUntil(async () => (await countFiles(trail, 'gzip')) >= journals.length);
  await Promise.all(journals.map((journal) => journal.close()));
  assert.equal((await trail.verify()).broken, null);
});

test('intact: a worker is killed under load again and again, while its head is signed', async (t) => {
  const trail = await makeAuditLog(t);
  const parent = await trail.open({ writer: 'parent', witness: true, checkpoint_ms: 5 });
  for (let round = 1; round <= KILLS; round++) {
    const child: ChildProcess = spawn(process.execPath, [LOAD, trail.state, String(round), '64'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let stated = '';
    child.stdout!.on('data', (chunk) => {
      stated += String(chunk);
    });
    await waitUntil(() => stated.split('\n').length > 1_500);
    child.kill('SIGKILL');
    await once(child, 'close');
    assert.equal((await trail.verify()).broken, null);
  }
  await parent.close();
  const last = JSON.parse((await readFiles(trail, 'parent')).at(-1)!.lines.at(-1)!);
  const [report] = (await trail.verify()).writers.filter(({ writer }) => writer === 'worker-1');
  assert.ok(last.checkpoint.heads[0].seq > 200 && last.checkpoint.heads[0].seq <= report!.last_seq);
});

/** Writes a chain as the first version did, with checkpoints that name no heads. */
async function writeOldChain(trail: AuditLog, writer: string): Promise<void> {
  const key = await openSigningKey({ dir: join(trail.state, 'keys'), now_ms: () => START_MS });
  const timestamp = new Date(START_MS).toISOString();
  const bodies: [RecordKind, unknown][] = [
    ['segment', { format: 1, hash: 'sha256', timestamp }],
    ['event', sampleEvent(1)],
  ];
  let text = '';
  let head = CHAIN_START;
  const add = (kind: RecordKind, body: unknown): void => {
    const encoded = encodeOldRecord(head, writer, kind, JSON.stringify(body));
    text += encoded.line;
    head = encoded.head;
  };
  for (const [kind, body] of bodies) add(kind, body);
  const message = `agent-safety journal checkpoint 1\n${writer}\n${head.seq}\n${head.record_hash}\n${timestamp}`;
  add('checkpoint', { timestamp, key_id: key.key_id, signature: signMessage(message, key) });
  await mkdir(join(trail.dir, writer), { recursive: true });
  await writeFile(join(trail.dir, writer, buildSegmentName(1)), text);
}

test('intact: a journal of an earlier version, alone and continued', async (t) => {
  const trail = await makeAuditLog(t);
  for (const writer of ['parent', 'worker-1', 'worker-2']) await writeOldChain(trail, writer);
  const { broken, writers } = await trail.verify();
  assert.equal(broken, null);
  assert.deepEqual(
    writers.map(({ checkpoints }) => checkpoints),
    [1, 1, 1],
  );
  await appendMore(trail, 'worker-1', 10, 20);
  await appendMore(trail, 'parent', 20, 30);
  assert.equal((await trail.verify()).broken, null);
  await cutLines(trail, 'worker-1', 4);
  assert.match((await trail.verify()).broken!.reason, /end is missing: a checkpoint of `parent`/);
});

test('a published head that the key has not signed, or that is of another writer, is not named', async (t) => {
  const trail = await makeAuditLog(t);
  await appendMore(trail, 'worker-1', 0, 3);
  const path = join(trail.dir, 'worker-1', 'head.json');
  const genuine = await readFile(path, 'utf8');
  const namedBy = async (): Promise<unknown[]> => {
    const journal = await trail.open({ writer: 'parent' });
    await appendRange(journal, 0, 1);
    await journal.close();
    const [file] = await readFiles(trail, 'parent');
    return JSON.parse(file!.lines.at(-1)!).checkpoint.heads;
  };
  assert.equal((await namedBy()).length, 1);
  const forged = [
    genuine.replace(/"seq":\d+/, '"seq":999'),
    genuine.replace('worker-1', 'worker-9'),
    genuine.replace(/"signature":"[^"]*"/, '"signature":1'),
    '',
    'null',
    '[]',
    `${' '.repeat(2_000)}${genuine}`,
    genuine.slice(0, 60),
  ];
  for (const text of forged) {
    await writeFile(path, text);
    assert.deepEqual(await namedBy(), [], text.slice(0, 80));
    const { intact, broken, warnings } = await trail.verify();
    assert.deepEqual([intact, broken?.file], text === '' ? [true, undefined] : [false, 'worker-1/head.json']);
    assert.equal(/is empty/.test(warnings.join()), text === '');
  }
  const bytes = Buffer.from(genuine);
  for (let at = 0; at < bytes.length; at += 1) {
    const flipped = Buffer.from(bytes);
    flipped[at]! ^= 1 << (at % 8);
    await writeFile(path, flipped);
    assert.equal((await trail.verify()).broken?.file, 'worker-1/head.json', `byte ${at}`);
  }
  await writeFile(path, genuine);
  assert.equal((await trail.verify()).intact, true);
  await mkdir(join(trail.dir, 'worker-9'));
  await cp(path, join(trail.dir, 'worker-9', 'head.json'));
  assert.equal((await namedBy()).length, 1);
  assert.equal((await trail.verify()).broken?.file, 'worker-9/head.json');
});

test('the index knows which chains are shorter than it remembers', async (t) => {
  const trail = await makeService(t);
  const index = await openIndex({ path: join(trail.state, 'index.db') });
  t.after(() => index.close());
  const sync = (): Promise<number> => openIndexer({ index, dir: trail.dir }).sync();
  await sync();
  assert.deepEqual(await findShortenedChains(index, trail.dir), []);
  await appendMore(trail, 'worker-2', 9_000, 9_010);
  assert.deepEqual(await findShortenedChains(index, trail.dir), [], 'grown is not shortened');
  await sync();
  const [remembered] = (await trail.verify()).writers.filter(({ writer }) => writer === 'worker-1');
  const away = join(trail.state, 'away');
  await rename(join(trail.dir, 'worker-1'), away);
  await sync();
  const expected = { writer: 'worker-1', remembered_seq: remembered!.last_seq };
  assert.deepEqual(await findShortenedChains(index, trail.dir), [{ ...expected, last_seq: 0 }]);
  await rename(away, join(trail.dir, 'worker-1'));
  assert.deepEqual(await findShortenedChains(index, trail.dir), []);
  await cutLines(trail, 'worker-1', 30);
  await sync();
  assert.deepEqual(await findShortenedChains(index, trail.dir), [
    { ...expected, last_seq: expected.remembered_seq - 30 },
  ]);
  await appendMore(trail, 'worker-1', 7_000, 7_100);
  await sync();
  const [grown] = await findShortenedChains(index, trail.dir);
  assert.ok(grown!.last_seq! > expected.remembered_seq, 'grown past what is remembered, and still known');
  await truncate((await readFiles(trail, 'worker-2')).at(-1)!.path, 0);
  await sync();
  assert.deepEqual(
    (await findShortenedChains(index, trail.dir)).map(({ writer }) => writer),
    ['worker-1', 'worker-2'],
  );
});

test('every table above ran', () => assert.equal(TAMPERINGS.length, 13));
