import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { AlertMessage } from './channel.ts';
import { fileChannel } from './file.ts';
import { alertChannelDrivers } from './index.ts';
import { buildAlertMessage } from './testing/message.ts';

const folder = mkdtempSync(join(tmpdir(), 'alert-file-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const SIGNAL = AbortSignal.timeout(60_000);
const openAt = (path: string, maxFiles = 2) =>
  fileChannel.open({ path, max_size_mb: 1, max_files: maxFiles });

function readMessages(path: string): AlertMessage[] {
  return readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('each message is one line of a file that only its owner can read', async () => {
  assert.ok(alertChannelDrivers.includes(fileChannel));
  const path = join(folder, 'new', 'alerts.jsonl');
  const channel = openAt(path);
  const hostile = buildAlertMessage({ rule_name: 'a\nb\u2028c"' });
  const messages = [hostile, ...['acknowledge', 'resolve', 'test'].map((kind) => ({ ...hostile, kind }))];
  const results = await Promise.all(messages.map((message) => channel.send(message as AlertMessage, SIGNAL)));
  assert.deepEqual(results, Array(4).fill({ sent: true }));
  assert.deepEqual(readMessages(path), messages);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(join(folder, 'new')).mode & 0o777, 0o700);
});

test('a full file is rotated, and the oldest one is removed', async () => {
  const path = join(folder, 'rotated.jsonl');
  writeFileSync(path, '', { mode: 0o644 });
  const channel = openAt(path);
  for (let at = 0; at < 4; at++) {
    const sent = await channel.send(buildAlertMessage({ delivery_id: `dlv_${at}` }), SIGNAL);
    assert.deepEqual(sent, { sent: true });
    assert.equal(statSync(path).mode & 0o777, 0o600);
    if (at < 3) truncateSync(path, 1_048_576);
  }
  const names = readdirSync(folder).filter((name) => name.startsWith('rotated'));
  assert.deepEqual(names.sort(), ['rotated.jsonl', 'rotated.jsonl.1', 'rotated.jsonl.2']);
  const first = (name: string) => readFileSync(join(folder, name), 'utf8').split('\n')[0]!;
  assert.deepEqual(
    names.map((name) => JSON.parse(first(name)).delivery_id),
    ['dlv_3', 'dlv_2', 'dlv_1'],
  );
});

test('a path that is no regular file, or has no folder, is a failed delivery', async () => {
  const pipe = join(folder, 'pipe');
  const link = join(folder, 'link');
  const target = join(folder, 'target');
  mkdirSync(join(folder, 'dir'));
  symlinkSync(target, link);
  assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
  writeFileSync(join(folder, 'plain'), '');
  const cases = [
    [pipe, 'Its path is no regular file.'],
    [link, 'Its path is a symbolic link; configure the path that the link points to.'],
    [join(folder, 'plain', 'x'), 'It could not be written: a file is in its place. Choose another path.'],
    [join(folder, 'dir'), 'Its path is no regular file.'],
  ];
  for (const [path, reason] of cases) {
    const sent = await openAt(path!).send(buildAlertMessage(), SIGNAL);
    assert.equal(sent.sent, false, path);
    assert.equal(sent.sent || sent.reason, reason, path);
  }
  assert.equal(existsSync(target), false);
  const late = await openAt(join(folder, 'late')).send(buildAlertMessage(), AbortSignal.abort());
  assert.equal(late.sent, false);
  assert.equal(existsSync(join(folder, 'late')), false);
});
