import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type AuditLog, makeAuditLog, sampleEvent } from '../../runtime/audit/testing/audit-log.ts';
import { runInProcess } from './testing/run.ts';

async function writeEvents(trail: AuditLog): Promise<void> {
  const journal = await trail.open();
  for (let at = 0; at < 50; at++) {
    const timestamp = new Date(Date.UTC(2026, 9, 1) + at * 1_000).toISOString();
    trail.clock.now_ms = Date.parse(timestamp);
    await journal.append(sampleEvent(at, { timestamp, tenant_id: at % 2 === 0 ? 'acme' : 'globex' }));
  }
  await journal.close();
  writeFileSync(join(trail.state, 'service.yaml'), `state_dir: ${trail.state}\n`);
}

test('an evidence pack is made and verified, and a changed one is not', async (t) => {
  const trail = await makeAuditLog(t);
  await writeEvents(trail);
  const cwd = trail.state;
  const window = ['--since', '2026-10-01T00:00:10Z', '--until', '2026-10-01T00:00:30Z'];
  const made = await runInProcess(['audit', 'export', '--pack', 'e.tar.gz', ...window], { cwd });
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /e\.tar\.gz {2}20 events, \d+ bytes\n {2}window: 2026-10-01T00:00:10\.000Z to/);
  const again = await runInProcess(['audit', 'export', '--pack', 'e.tar.gz', ...window], { cwd });
  assert.deepEqual([again.code, /exists already/.test(again.stderr)], [2, true]);

  const [keyFile = ''] = (await readdir(join(cwd, 'keys'))).filter((name) => name.endsWith('.json'));
  const key = join('keys', keyFile);
  const intact = await runInProcess(['audit', 'verify', 'e.tar.gz', '--public-key', key], { cwd });
  assert.equal(intact.code, 0, intact.stderr);
  assert.match(intact.stdout, /^intact {2}20 events from /);
  assert.match(intact.stdout, /key: sha256:[0-9a-f]{64} \(the given key/);
  const own = await runInProcess(['audit', 'verify', 'e.tar.gz'], { cwd });
  assert.match(own.stdout, /the pack’s own/);

  const bytes = readFileSync(join(cwd, 'e.tar.gz'));
  bytes[200] = bytes[200]! ^ 1;
  writeFileSync(join(cwd, 'changed.tar.gz'), bytes);
  const broken = await runInProcess(['audit', 'verify', 'changed.tar.gz', '--json'], { cwd });
  assert.deepEqual([broken.code, JSON.parse(broken.stdout).intact], [1, false]);

  // Making a pack is recorded.
  const logs = await runInProcess(['logs', '--json'], { cwd });
  assert.match(logs.stdout, /"pack_sha256":"[0-9a-f]{64}"/);
});

test('the options of a pack, and what is refused', async (t) => {
  const trail = await makeAuditLog(t);
  await writeEvents(trail);
  const cwd = trail.state;
  const scoped = ['--pack', 'acme.tar.gz', '--since', '2026-10-01', '--tenant', 'acme', '--json'];
  const made = await runInProcess(['audit', 'export', ...scoped], { cwd });
  assert.equal(made.code, 0, made.stderr);
  const { events, omitted, tenant_id } = JSON.parse(made.stdout);
  assert.deepEqual([events, omitted, tenant_id], [25, 25, 'acme']);
  const cases: readonly [readonly string[], number, RegExp][] = [
    [['export', '--pack', 'x.tar.gz', '--agent', 'a'], 2, /`--agent` cannot be used with --pack/],
    [['export', '--pack', 'x.tar.gz', '--data-tag', 'a'], 2, /`--data-tag` cannot be used/],
    [['export', '--pack', 'x.tar.gz', '--format', 'csv'], 2, /`--format` cannot be used/],
    [['export', '--pack', 'x.tar.gz', '--since', '2999-01-01'], 2, /before the end of the window/],
    [['verify', '--public-key', 'x'], 2, /is for an evidence pack/],
    [['verify', 'none.tar.gz'], 2, /none\.tar\.gz/],
    [['verify', 'acme.tar.gz', '--public-key', 'service.yaml'], 2, /not an Ed25519 public key/],
    [['verify', 'service.yaml'], 1, /^broken {2}manifest\.json|^broken {2}archive/m],
  ];
  for (const [words, code, message] of cases) {
    const answer = await runInProcess(['audit', ...words], { cwd });
    assert.equal(answer.code, code, words.join(' '));
    assert.match(answer.stdout + answer.stderr, message);
  }
});
