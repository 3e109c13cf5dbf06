/** The processes, drivers and settings that the console shows, on a real service with two workers. */
import assert from 'node:assert/strict';
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startTestService, type TestService } from './support/service.ts';
import { until } from './support/until.ts';

/** A port on which nothing listens. */
const CLOSED = 'http://127.0.0.1:9';
const MARKER = ['hidden', 'marker', '7a61'].join('-');
const config = {
  secrets: { backend: 'env' },
  auth: {
    oidc: { issuer: `${CLOSED}/${MARKER}`, client_id: 'console', name: 'Company login' },
    jwt: { issuer: 'https://issuer.example', audience: 'safety', jwks_url: `${CLOSED}/keys` },
  },
  alerts: { channels: [{ type: 'webhook', name: 'pager', url: `${CLOSED}/${MARKER}` }] },
  dashboard: {
    users: [
      { user_id: 'ann', role: 'auditor', tenants: ['*'] },
      { user_id: 'tim', role: 'auditor', tenants: ['acme'] },
      { user_id: 'vic', role: 'viewer', tenants: ['*'] },
    ],
  },
};

let service: TestService;
before(async () => {
  service = await startTestService({ config, workers: 2 });
  // A worker that does not answer within a second has no generation yet, as on a busy machine just after the start.
  const isAnswered = ({ generation }: { readonly generation: number | null }) => generation !== null;
  await until(async () => {
    const { json } = await ask('/v1/dashboard/service', 'ann');
    return json.processes.every(isAnswered);
  }, 'every process answers');
});
after(async () => service.stop());

async function ask(path: string, user: string) {
  const response = await fetch(`${service.url}${path}`, { headers: { 'x-service-user': user } });
  // biome-ignore lint/suspicious/noExplicitAny: the test looks into answers of every shape.
  return { status: response.status, json: (await response.json()) as any };
}

test('the status names every process with its generation, and every driver without its address', async () => {
  const { status, json } = await ask('/v1/dashboard/service', 'ann');
  assert.equal(status, 200, JSON.stringify(json));
  const processes: { name: string; pid: number; generation: number; started_at: string }[] = json.processes;
  assert.deepEqual(
    processes.map(({ name, generation }) => [name, generation]),
    [
      ['supervisor', 1],
      ['worker-1', 1],
      ['worker-2', 1],
    ],
  );
  assert.equal(new Set(processes.map(({ pid }) => pid)).size, 3);
  for (const { pid, started_at } of processes) {
    process.kill(pid, 0);
    assert.ok(Math.abs(Date.now() - Date.parse(started_at)) < 120_000, started_at);
  }
  assert.match(json.policy_hash, /^sha256:/);
  const drivers: { kind: string; name: string; driver: string | null; status: string }[] = json.drivers;
  assert.deepEqual(
    drivers.map(({ kind, name, driver, status: state }) => [kind, name, driver, state]),
    [
      ['store', 'sqlite', 'sqlite', 'ok'],
      ['alert_channel', 'pager', 'webhook', 'unchecked'],
      ['alert_channel', 'file', 'file', 'unchecked'],
      ['secrets', 'env', 'env', 'ok'],
      ['identity', 'local users', 'password', 'ok'],
      ['identity', 'signed tokens', 'jwt', 'unchecked'],
      ['identity', 'API keys', 'sha256', 'ok'],
      ['identity', 'Company login', 'oidc', 'failing'],
      ['telemetry', 'OpenTelemetry collector', null, 'off'],
      ['advisor', 'advisor model', null, 'off'],
    ],
  );
  const text = JSON.stringify(json);
  assert.ok(!text.includes(MARKER) && !text.includes('127.0.0.1'), 'an answer shows no address');
});

test('only roles with all tenants and the permission see the status', async () => {
  assert.equal((await ask('/v1/dashboard/service', 'vic')).status, 403);
  assert.equal((await ask('/v1/dashboard/service', 'tim')).status, 403);
  assert.equal((await ask('/v1/dashboard/observe/hooks', 'vic')).status, 200);
});

test('the settings are read again after a change of the file, of the same length too', async () => {
  const file = join(service.dir, 'service.yaml');
  const read = async () => {
    const { json } = await ask('/v1/dashboard/settings', 'ann');
    return json.settings.find(({ path }: { path: string }) => path === 'secrets.timeout_ms').value;
  };
  const write = (timeoutMs: number) =>
    writeFileSync(file, JSON.stringify({ ...config, secrets: { backend: 'env', timeout_ms: timeoutMs } }));
  // Each worker has its own memory, so each value is read several times.
  for (const timeoutMs of [1_000, 2_000, 3_000]) {
    write(timeoutMs);
    for (let time = 0; time < 6; time++) assert.equal(await read(), timeoutMs);
  }
  utimesSync(file, 0, 0);
  assert.equal(await read(), 3_000, 'a touched file is read again');
});
