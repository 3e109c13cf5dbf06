import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { buildTestPolicy } from '../../core/testing/policies.ts';
import { CHAIN_START } from '../../runtime/audit/journal-record.ts';
import { openSigningKey, rotateSigningKey, signMessage } from '../../runtime/audit/keys.ts';
import {
  encodeOldRecord,
  readFiles,
  rehashLine,
  START_MS,
  sampleEvent,
  writeLines,
} from '../../runtime/audit/testing/audit-log.ts';
import { savePolicy } from '../../runtime/policies/saved-policy.ts';
import {
  buildTestPack,
  extractTo,
  makeEvidenceLog,
  type PackedFile,
  repack,
  TEST_WINDOW,
  unpack,
  verifyTestPack,
  writeTestPack,
} from './testing/test-pack.ts';
import { loadVerifier } from './verify-pack.ts';

const run = promisify(execFile);

test('a pack of a window is intact, and equal input gives equal bytes', async (t) => {
  const trail = await makeEvidenceLog(t);
  const path = await writeTestPack(trail);
  const report = await verifyTestPack(path);
  assert.equal(report.broken, null);
  assert.deepEqual(
    [report.events, report.omitted, report.unsigned_tail, report.writers.length],
    [40, 0, 0, 3],
  );
  assert.ok((await readFile(path)).equals(await readFile(await writeTestPack(trail))));
  const { stdout } = await run('tar', ['tzf', path]);
  assert.equal(stdout.split('\n')[0], 'manifest.json');
});

test('the verifier of the pack needs nothing but Node, on the archive and on the extracted folder', async (t) => {
  const trail = await makeEvidenceLog(t, 30);
  const path = await writeTestPack(trail);
  const folder = await mkdtemp(join(trail.state, 'auditor-'));
  await run('tar', ['xzf', path, '-C', folder]);
  for (const words of [[path], [folder], []]) {
    const { stdout } = await run(process.execPath, ['verify.mjs', ...words], { cwd: folder, env: {} });
    assert.match(stdout, /^intact {2}20 events from 2026-01-31T12:00:20.000Z to 2026-01-31T12:00:40.000Z\n/);
  }
  const chain = join(folder, 'journal', 'worker-1.jsonl');
  const lines = (await readFile(chain, 'utf8')).split('\n');
  const { event_id } = JSON.parse(lines[3]!).event;
  await writeFile(chain, lines.with(3, lines[3]!.replace('MARKER', 'MARKED')).join('\n'));
  const failed = await run(process.execPath, ['verify.mjs'], { cwd: folder }).catch((error) => error);
  assert.deepEqual(
    [failed.code, failed.stdout],
    [
      1,
      `broken  journal/worker-1.jsonl, line 4 (${event_id}): The record is not as it was written: its hash does not fit its content.\n`,
    ],
  );
});

test('a pack of one tenant proves the chain without a word of another tenant', async (t) => {
  const trail = await makeEvidenceLog(t);
  const path = await writeTestPack(trail, { tenant_id: 'acme' });
  const report = await verifyTestPack(path);
  assert.equal(report.broken, null);
  assert.deepEqual([report.events, report.attested_links], [20, 0]);
  assert.ok(report.omitted > 20);
  const text = (await unpack(path)).map(({ content }) => content.toString('latin1')).join('\n');
  assert.match(text, /MARKER-acme-30/, 'negative control');
  assert.doesNotMatch(text, /globex/);
});

test('the records of an earlier version that were left out are reported as attested only', async (t) => {
  const trail = await makeEvidenceLog(t, 0);
  const key = await openSigningKey({ dir: join(trail.state, 'keys'), now_ms: () => START_MS });
  let head = CHAIN_START;
  const lines: string[] = [];
  const add = (kind: 'segment' | 'event' | 'checkpoint', body: unknown): void => {
    const encoded = encodeOldRecord(head, 'old', kind, JSON.stringify(body));
    lines.push(encoded.line.slice(0, -1));
    head = encoded.head;
  };
  const timestamp = new Date(START_MS).toISOString();
  add('segment', { format: 1, hash: 'sha256', timestamp });
  for (let index = 20; index < 26; index++)
    add('event', sampleEvent(index, { tenant_id: index % 2 === 0 ? 'acme' : 'globex' }));
  const message = `agent-safety journal checkpoint 1\nold\n${head.seq}\n${head.record_hash}\n${timestamp}`;
  add('checkpoint', { timestamp, key_id: key.key_id, signature: signMessage(message, key) });
  const { mkdir } = await import('node:fs/promises');
  await mkdir(join(trail.dir, 'old'));
  await writeLines(join(trail.dir, 'old', '000000000000001.jsonl'), lines);
  const whole = await verifyTestPack(await writeTestPack(trail));
  assert.deepEqual([whole.broken, whole.events, whole.attested_links], [null, 6, 0]);
  const scoped = await verifyTestPack(await writeTestPack(trail, { tenant_id: 'acme' }));
  assert.deepEqual([scoped.broken, scoped.events, scoped.attested_links], [null, 3, 3]);
});

test('late events are included with their proof, and writers outside the window are accounted for', async (t) => {
  const trail = await makeEvidenceLog(t, 30);
  const clock = START_MS + 86_400_000;
  trail.clock.now_ms = clock;
  const parent = await trail.open({ writer: 'parent' });
  await parent.append(sampleEvent(99_000, { timestamp: new Date(clock).toISOString() }));
  await parent.append(sampleEvent(99_001, { timestamp: new Date(START_MS + 25_000).toISOString() }));
  await parent.close();
  const late = await trail.open({ writer: 'worker-9' });
  await late.append(sampleEvent(99_002, { timestamp: new Date(clock).toISOString() }));
  await late.close();
  const pack = await buildTestPack(trail);
  const [own, , , ninth] = pack.manifest.writers;
  assert.deepEqual([own?.writer, own?.runs.length], ['parent', 1]);
  assert.deepEqual(
    [ninth?.writer, ninth?.file, ninth?.began_at],
    ['worker-9', null, new Date(clock).toISOString()],
  );
  const report = await verifyTestPack(await writeTestPack(trail));
  assert.deepEqual([report.broken, report.events], [null, 21]);
});

test('a window that reaches the present includes what no checkpoint signed yet, and says so', async (t) => {
  const trail = await makeEvidenceLog(t, 10);
  const journal = await trail.open({ writer: 'worker-1' });
  await journal.append(sampleEvent(500, { timestamp: new Date(trail.clock.now_ms).toISOString() }));
  const window = { since_ms: START_MS, until_ms: trail.clock.now_ms + 1 };
  const report = await verifyTestPack(await writeTestPack(trail, { window }));
  assert.deepEqual([report.broken, report.events, report.unsigned_tail], [null, 21, 1]);
  assert.match(report.warnings.join('\n'), /1 records after the last checkpoints/);
  await journal.close();
});

test('a broken journal gives no pack', async (t) => {
  const trail = await makeEvidenceLog(t);
  const file = (await readFiles(trail)).find(({ path }) => path.endsWith('.jsonl'));
  const changed = file!.lines.with(1, file!.lines[1]!.replace('MARKER', 'MARKED'));
  await writeLines(file!.path, changed);
  await assert.rejects(buildTestPack(trail, { window: { since_ms: 0, until_ms: 9e12 } }), {
    code: 'journal_broken',
    message: /worker-1\/\d+\.jsonl, line 2: its hash does not fit its content/,
  });
  await assert.rejects(buildTestPack(trail, { bytes_max: 10_000, window: { since_ms: 1, until_ms: 2 } }), {
    code: 'journal_broken',
  });
});

test('limits, an empty journal and a window that ends before it begins are refused', async (t) => {
  const trail = await makeEvidenceLog(t, 30);
  await assert.rejects(buildTestPack(trail, { bytes_max: 3_000 }), { code: 'pack_too_large' });
  await assert.rejects(buildTestPack(trail, { window: { since_ms: 2, until_ms: 1 } }), {
    code: 'window_invalid',
  });
  await assert.rejects(buildTestPack(trail, { journal_dir: join(trail.state, 'none') }), {
    code: 'journal_missing',
  });
  await assert.rejects(buildTestPack(trail, { signal: AbortSignal.abort() }), { code: 'canceled' });
});

/** Signs the manifest again after a change, as a dishonest operator with the key can. */
async function resign(files: readonly PackedFile[], state: string, keyDir = 'keys'): Promise<PackedFile[]> {
  const { createHash } = await import('node:crypto');
  const key = await openSigningKey({ dir: join(state, keyDir), now_ms: () => START_MS });
  const [manifest, , ...rest] = files;
  const value = JSON.parse(manifest!.content.toString());
  value.files = rest.map(({ path, content }) => ({
    ...{ path, bytes: content.length },
    sha256: createHash('sha256').update(content).digest('hex'),
  }));
  value.key_id = key.key_id;
  const text = `${JSON.stringify(value, null, 2)}\n`;
  const signature = signMessage(`agent-safety evidence pack 1\n${text}`, key);
  return [
    { path: 'manifest.json', content: Buffer.from(text) },
    { path: 'manifest.sig', content: Buffer.from(`${signature}\n`) },
    ...rest,
  ];
}

test('who can sign a pack again cannot change what checkpoints signed', async (t) => {
  const trail = await makeEvidenceLog(t);
  const files = await unpack(await writeTestPack(trail));
  const at = files.findIndex(({ path }) => path === 'journal/worker-1.jsonl');
  const lines = files[at]!.content.toString().split('\n').slice(0, -1);
  const edit = async (next: readonly string[]) => {
    const content = Buffer.from(next.map((line) => `${line}\n`).join(''));
    const target = join(trail.state, 'edited.tar.gz');
    await repack(await resign(files.with(at, { path: files[at]!.path, content }), trail.state), target);
    return (await verifyTestPack(target)).broken;
  };
  assert.equal(await edit(lines), null, 'negative control');
  const changed = rehashLine(lines[5]!.replace('MARKER', 'MARKED'));
  assert.deepEqual((await edit(lines.with(5, changed)))?.line, 7);
  assert.deepEqual((await edit(lines.toSpliced(5, 1)))?.line, 6);
  let previous = JSON.parse(lines[5]!).prev_hash;
  const rechained = lines.map((line, index) => {
    if (index < 5) return line;
    const next = rehashLine(index === 5 ? line.replace('MARKER', 'MARKED') : line, previous);
    previous = JSON.parse(next).record_hash;
    return next;
  });
  const found = await edit(rechained);
  assert.match(found!.reason, /no trusted key made its signature/);
});

test('a pack that another key signed is found with the key of the auditor only', async (t) => {
  const trail = await makeEvidenceLog(t);
  const { readPublicKey, verifyPack } = await loadVerifier();
  const path = await writeTestPack(trail);
  const files = await unpack(path);
  const record = files.find(({ path: name }) => name.startsWith('keys/'))!.content.toString();
  const publicKey = readPublicKey(record);
  const given = await verifyPack(path, { public_key: publicKey });
  assert.deepEqual([given.broken, given.key?.source, given.warnings], [null, 'given', []]);
  const other = await makeEvidenceLog(t);
  const foreign = await writeTestPack(other);
  assert.equal((await verifyPack(foreign, { public_key: null })).intact, true);
  assert.match(
    (await verifyPack(foreign, { public_key: publicKey })).broken!.reason,
    /not signed by the given key/,
  );
});

test('after a rotation of the key, the first key is enough', async (t) => {
  const trail = await makeEvidenceLog(t, 30);
  const dir = join(trail.state, 'keys');
  const nowMs = (): number => START_MS;
  const first = await openSigningKey({ dir, now_ms: nowMs });
  const record = await readFile(join(dir, `${first.key_id}.json`), 'utf8');
  const second = await rotateSigningKey({ dir, now_ms: nowMs });
  const path = await writeTestPack(trail);
  const { readPublicKey, verifyPack } = await loadVerifier();
  const report = await verifyPack(path, { public_key: readPublicKey(record) });
  assert.deepEqual([report.broken, report.key?.key_id], [null, second.key_id]);
  assert.equal((await unpack(path)).filter(({ path: name }) => name.startsWith('keys/')).length, 2);
});

test('policies are included by hash, and those of a tenant’s pack are named only', async (t) => {
  const trail = await makeEvidenceLog(t, 30);
  const policy = buildTestPolicy();
  await savePolicy(join(trail.state, 'policies'), policy);
  const journal = await trail.open({ writer: 'worker-1' });
  const timestamp = new Date(TEST_WINDOW.since_ms + 1).toISOString();
  await journal.append(sampleEvent(7_000, { timestamp, tenant_id: 'acme', policy_hash: policy.hash }));
  await journal.close();
  const whole = await buildTestPack(trail);
  assert.deepEqual(whole.manifest.policies.included, [policy.hash]);
  assert.equal(whole.manifest.policies.left_out.length, 1, 'the policy of the samples is not saved');
  assert.equal((await verifyTestPack(await writeTestPack(trail))).broken, null);
  const scoped = await buildTestPack(trail, { tenant_id: 'acme' });
  assert.deepEqual(scoped.manifest.policies.included, []);
  const files = await unpack(await writeTestPack(trail));
  const at = files.findIndex(({ path }) => path.startsWith('policies/'));
  const content = Buffer.from(files[at]!.content.toString().replace('"builtin', '"built1n'));
  const target = join(trail.state, 'policy.tar.gz');
  await repack(await resign(files.with(at, { ...files[at]!, content }), trail.state), target);
  assert.match((await verifyTestPack(target)).broken!.reason, /hash of the policy/);
});

test('an extracted pack with another file or a link is refused', async (t) => {
  const trail = await makeEvidenceLog(t, 30);
  const files = await unpack(await writeTestPack(trail));
  const { symlink, rename } = await import('node:fs/promises');
  const extra = await mkdtemp(join(trail.state, 'extra-'));
  await extractTo(extra, files);
  assert.equal((await verifyTestPack(extra)).broken, null, 'negative control');
  await writeFile(join(extra, 'journal', 'x'), '');
  assert.equal((await verifyTestPack(extra)).broken?.file, 'journal/x');
  const linked = await mkdtemp(join(trail.state, 'linked-'));
  await extractTo(linked, files);
  await rename(join(linked, 'README.txt'), join(trail.state, 'README.txt'));
  await symlink(join(trail.state, 'README.txt'), join(linked, 'README.txt'));
  assert.match((await verifyTestPack(linked)).broken!.reason, /not a plain file/);
});
