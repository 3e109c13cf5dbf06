import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { sql } from 'kysely';
import { explainMissingPostgres } from '../../platform/store/testing/postgres-server.ts';
import { eraseFromFiles, eraseFromIdleChains } from './erase-actions.ts';
import { formatEventIdFloor } from './event-id.ts';
import { listSegments } from './files.ts';
import { openIndexer } from './indexer.ts';
import { omitBody } from './journal-record.ts';
import type { LegalHold } from './legal-holds.ts';
import { openIndex } from './open-index.ts';
import { eraseIndexedActions, findActionHold } from './shown-actions.ts';
import { type AuditLog, makeAuditLog, START_MS, sampleEvent, waitUntil } from './testing/audit-log.ts';
import { law, openDatabase } from './testing/indexes.ts';

const SECOND_MS = 1_000;
const getId = (at: number) => formatEventIdFloor(START_MS + at * SECOND_MS).padEnd(28, '0');
const getShown = (at: number) => `Bash {"command":"rm -rf /srv/zebra-${at}-"}`;

/** Writes events with shown actions, each in a separate file, from the second one. */
async function writeActions(t: TestContext, count: number, compressRotated = false): Promise<AuditLog> {
  const trail = await makeAuditLog(t, { max_size_bytes: 1, compress_rotated: compressRotated });
  const journal = await trail.open();
  for (let at = 0; at < count; at++)
    await journal.append({
      ...sampleEvent(at),
      event_id: getId(at),
      action_shown: getShown(at),
      action_marks: [[0, 4]],
    });
  await journal.close();
  return trail;
}

/** Returns which actions any file of a folder holds, compressed ones too. */
async function findShown(state: string): Promise<number[]> {
  const found = new Set<number>();
  for (const entry of await readdir(state, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = readFileSync(join(entry.parentPath, entry.name));
    const text = (entry.name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('latin1');
    for (const [, at] of text.matchAll(/zebra-(\d+)-/g)) found.add(Number(at));
  }
  return [...found].sort((one, other) => one - other);
}

for (const compressed of [false, true])
  test(`erases actions from ${compressed ? 'compressed' : 'plain'} files and the index`, async (t) => {
    const trail = await writeActions(t, 6, compressed);
    const index = await openIndex({ path: join(trail.state, 'index.db') });
    t.after(() => index.close());
    const indexer = openIndexer({ index, dir: trail.dir });
    assert.equal(await indexer.sync(), 6);
    assert.deepEqual(await findShown(trail.state), [0, 1, 2, 3, 4, 5]);
    const journal = await trail.open();
    const erasures = [{ event_id: getId(5) }, { before_ms: START_MS + 3 * SECOND_MS }] as const;
    for (const [at, erasure] of erasures.entries()) {
      assert.equal(await journal.eraseActions(erasure), [1, 3][at]);
      await eraseIndexedActions(index, erasure);
    }
    assert.deepEqual(await findShown(trail.state), [3, 4]);
    const report = await trail.verify();
    assert.deepEqual(
      [report.broken, report.writers[0]?.erased_actions, report.writers[0]?.events],
      [null, 4, 6],
    );
    await journal.append({ ...sampleEvent(6), event_id: getId(6) });
    assert.equal(await indexer.sync(), 1, 'positions stay valid');
    await journal.close();
    assert.equal((await trail.verify()).intact, true);
  });

test('an erased line keeps its place in an evidence pack', async (t) => {
  const trail = await writeActions(t, 1);
  await eraseFromIdleChains(trail.dir, [], { event_id: getId(0) });
  const [, segment] = await listSegments(join(trail.dir, 'worker-1'));
  const lines = readFileSync(segment!.path, 'utf8').split('\n');
  const line = lines.find((each) => each.includes('"kind":"action"'))!;
  assert.match(omitBody(Buffer.from(line)), /"body_hash":"[0-9a-f]{64}","record_hash":"[0-9a-f]{64}"\}$/);
});

test('a changed line is still a fault after erasing', async (t) => {
  const trail = await writeActions(t, 1);
  await eraseFromIdleChains(trail.dir, [], { event_id: getId(0) });
  const [, segment] = await listSegments(join(trail.dir, 'worker-1'));
  const text = readFileSync(segment!.path, 'utf8');
  writeFileSync(segment!.path, text.replace(/("kind":"action".*"body_hash":")./, '$1x'));
  assert.notEqual((await trail.verify()).broken, null);
});

test('erases copies and torn lines of a crash', async (t) => {
  const trail = await writeActions(t, 2);
  const folder = join(trail.dir, 'worker-1');
  const segments = await listSegments(folder);
  const line = readFileSync(segments[1]!.path, 'utf8')
    .split('\n')
    .find((each) => each.includes('"kind":"action"'))!;
  writeFileSync(join(folder, `${segments[1]!.name}.ab.set-aside`), `${line}\n${line.slice(0, -70)}`);
  writeFileSync(join(folder, `${segments[1]!.name}.cd.tmp`), line);
  await eraseFromIdleChains(trail.dir, [], { before_ms: START_MS + 10 * SECOND_MS });
  assert.deepEqual(await findShown(trail.state), []);
  assert.equal((await trail.verify()).broken, null);
});

test('a killed erasure leaves a valid chain, and the next one completes it', async (t) => {
  const trail = await writeActions(t, 60);
  const folder = join(trail.dir, 'worker-1');
  const segments = await listSegments(folder);
  const before = statSync(segments[1]!.path).ino;
  const program = `
    const { eraseFromIdleChains } = await import(${JSON.stringify(new URL('erase-actions.ts', import.meta.url).href)});
    await eraseFromIdleChains(${JSON.stringify(trail.dir)}, [], { before_ms: ${START_MS + 60 * SECOND_MS} });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' });
  const closed = once(child, 'close');
  await waitUntil(() => statSync(segments[1]!.path).ino !== before);
  child.kill('SIGKILL');
  await closed;
  assert.equal((await trail.verify()).broken, null);
  await eraseFromFiles(folder, segments, { before_ms: START_MS + 60 * SECOND_MS });
  assert.deepEqual(await findShown(trail.state), []);
  assert.equal((await trail.verify()).writers[0]?.erased_actions, 60);
});

law('finds a legal hold on an erased event', async (t, at) => {
  const trail = await writeActions(t, 3);
  const index = await at.open(trail.state);
  await openIndexer({ index, dir: trail.dir }).sync();
  const names = { tenant_id: 'default', agent_id: null, session_id: null };
  const times = { since_ms: START_MS + 2 * SECOND_MS, until_ms: null };
  const hold: LegalHold = { hold_id: 'hold_0123456789abcdef01234567', ...names, ...times };
  const before = (seconds: number) => ({ before_ms: START_MS + seconds * SECOND_MS });
  assert.equal(await findActionHold(index, before(3), [hold]), hold);
  assert.equal(await findActionHold(index, before(2), [hold]), null);
  assert.equal(await findActionHold(index, { event_id: getId(2) }, [hold]), hold);
  assert.equal(await findActionHold(index, before(3), [{ ...hold, tenant_id: 'acme' }]), null);
});

test('erased actions are in no file of the database', {
  skip: explainMissingPostgres() ?? false,
}, async (t) => {
  const trail = await writeActions(t, 4);
  const index = await (await openDatabase(t)).open(trail.state);
  await openIndexer({ index, dir: trail.dir }).sync();
  const readFile = async (): Promise<string> => {
    await sql`checkpoint`.execute(index.db);
    const { rows } = await sql<{ bytes: Uint8Array }>`
      select pg_read_binary_file(pg_relation_filepath('shown_actions')) as bytes`.execute(index.db);
    return Buffer.from(rows[0]!.bytes).toString('latin1');
  };
  assert.match(await readFile(), /zebra-1-/);
  await eraseIndexedActions(index, { before_ms: START_MS + 2 * SECOND_MS });
  const left = await readFile();
  assert.doesNotMatch(left, /zebra-[01]-/);
  assert.match(left, /zebra-3-/);
});
