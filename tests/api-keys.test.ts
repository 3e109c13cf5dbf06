/** API keys change with a reload: new ones work, and revoked ones end at once, in all workers and open streams. */
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { startTestService, type TestService } from './support/service.ts';

const newKey = (): string => `svc_key_${randomBytes(32).toString('base64url')}`;
const sha256 = (key: string): string => createHash('sha256').update(key).digest('hex');

function getConfig(keys: readonly string[]): object {
  const apiKeys = keys.map((key, at) => ({
    id: `k${at}-${sha256(key).slice(0, 6)}`,
    sha256: sha256(key),
    permissions: ['check', 'audit:read_own', 'audit:read'],
  }));
  return { auth: { required: true, api_keys: apiKeys } };
}

/** Sends requests over many connections, so that all workers answer. */
async function statuses({ url }: TestService, key: string): Promise<readonly number[]> {
  const asked = Array.from({ length: 12 }, async () => {
    const answer = await fetch(`${url}/v1/scan/input`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-service-key': key, connection: 'close' },
      body: '{"text":"hello"}',
    });
    await answer.body?.cancel();
    return answer.status;
  });
  return [...new Set(await Promise.all(asked))];
}

async function reload(service: TestService, keys: readonly string[]): Promise<void> {
  const { dir, port, url, state_dir } = service;
  const config = { server: { port, workers: 2 }, state_dir, ...getConfig(keys) };
  writeFileSync(join(dir, 'service.yaml'), JSON.stringify(config));
  const token = readFileSync(join(state_dir, 'operator-token'), 'utf8').trim();
  const answer = await fetch(`${url}/v1/policies/reload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  });
  const report = (await answer.json()) as { reloaded: boolean; warnings: readonly string[] };
  assert.equal(report.reloaded, true, JSON.stringify(report));
  assert.ok(!report.warnings.some((warning) => warning.includes('api_keys')), 'no restart is needed');
}

test('a key that is added works after a reload, and one that is removed ends at once', async () => {
  const [first, second] = [newKey(), newKey()];
  const service = await startTestService({
    workers: 2,
    config: getConfig([first]) as Record<string, unknown>,
  });
  try {
    assert.deepEqual(await statuses(service, first), [200]);
    assert.deepEqual(await statuses(service, second), [401]);
    await reload(service, [first, second]);
    assert.deepEqual(await statuses(service, second), [200]);

    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/ws/events`, {
      headers: { 'x-service-key': first },
    });
    const closed = new Promise<number>((done) => socket.on('close', done));
    socket.on('error', () => {});
    await Promise.race([
      new Promise((done) => socket.on('open', done)),
      closed.then((code) => assert.fail(`the WebSocket was refused (${code})`)),
    ]);
    const stream = await fetch(`${service.url}/v1/events`, { headers: { 'x-service-key': first } });
    assert.equal(stream.status, 200);
    const stays = await fetch(`${service.url}/v1/events`, { headers: { 'x-service-key': second } });

    await reload(service, [second]);
    assert.deepEqual(await statuses(service, first), [401]);
    assert.deepEqual(await statuses(service, second), [200]);
    assert.ok((await closed) >= 1_000);
    await stream.text();
    const reading = stays.text().then(
      () => 'ended',
      () => 'ended',
    );
    assert.equal(await Promise.race([reading, sleep(1_000, 'open')]), 'open');
    await stays.body?.cancel().catch(() => {});

    // A restarted worker has the keys of the last reload.
    for (const pid of service.worker_pids()) process.kill(pid, 'SIGKILL');
    for (let tries = 0; ; tries++) {
      const seen = await statuses(service, second).catch(() => [0]);
      if (seen.length === 1 && seen[0] === 200) break;
      assert.ok(tries < 300, 'the workers came back');
      await sleep(100);
    }
    assert.deepEqual(await statuses(service, first), [401]);
  } finally {
    await service.stop();
  }
});
