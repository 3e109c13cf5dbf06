// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
/** Secrets in the configuration of the real service. None of their values is ever visible outside. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type Gate, openGate } from './support/secrets/gate.ts';
import { startVaultWire, type VaultWire } from './support/secrets/vault-wire.ts';
import { startTestService, type TestService } from './support/service.ts';

const TOKEN = ['hvs', 'e2etoken7a61'].join('.');
const VALUE = ['paging', 'value', '7a61c0'].join('-');
const ROTATED = ['paging', 'rotated', '4d9f11'].join('-');

let wire: VaultWire;
let gate: Gate;
let service: TestService;

const config = (port: number) => ({
  secrets: {
    backend: 'vault',
    timeout_ms: 2_000,
    vault: { address: `http://127.0.0.1:${port}`, token_env: 'VAULT_TOKEN', path: 'secret/service' },
  },
  alerts: { channels: [{ type: 'paging', routing_key: '${secret:paging_key}' }] },
});

before(async () => {
  wire = await startVaultWire(TOKEN);
  gate = await openGate(wire.port);
  wire.put('service', { paging_key: VALUE });
  service = await startTestService({ config: config(gate.port), env: { VAULT_TOKEN: TOKEN }, keep: true });
});
after(async () => {
  await service?.stop();
  await gate.close();
  await wire.close();
});

interface Event {
  readonly phase?: string;
  readonly decision: string;
  readonly caller_id: string;
  readonly data_tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

async function readings(): Promise<readonly (readonly unknown[])[]> {
  const answer = await fetch(`${service.url}/v1/audit/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operator()}` },
    body: JSON.stringify({ phase: 'secret_resolve', newest_first: false }),
  });
  const { events } = (await answer.json()) as { events: readonly Event[] };
  return events.map(({ decision, caller_id, data_tags, metadata }) => {
    assert.deepEqual(data_tags, ['secret.credential']);
    assert.deepEqual(metadata.secret_backend, 'vault');
    return [decision, caller_id, metadata.secret_key, metadata.result];
  });
}

function operator(): string {
  return readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
}

async function reload(): Promise<{ status: number; text: string }> {
  const answer = await fetch(`${service.url}/v1/policies/reload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operator()}` },
  });
  return { status: answer.status, text: await answer.text() };
}

test('secrets are read at the start and at each reload, and each time it is recorded', async () => {
  assert.deepEqual(await readings(), [['allow', 'service:start', 'paging_key', 'allow']]);
  wire.put('service', { paging_key: ROTATED });
  const rotated = await reload();
  assert.equal(rotated.status, 200, rotated.text);
  assert.match(rotated.text, /alerts\.channels.*takes effect at the next start/);
  wire.put('service', {});
  const missing = await reload();
  assert.equal(missing.status, 409);
  assert.match(missing.text, /routing_key.*`paging_key`, which the backend `vault` does not have/);
  gate.set('silent');
  const silent = await reload();
  assert.equal(silent.status, 409);
  assert.match(silent.text, /routing_key.*`paging_key`.*did not answer in time/);
  gate.set('open');
  wire.put('service', { paging_key: ROTATED });
  assert.equal((await reload()).status, 200);
  assert.deepEqual(await readings(), [
    ['allow', 'service:start', 'paging_key', 'allow'],
    ['allow', 'operator', 'paging_key', 'allow'],
    ['block', 'operator', 'paging_key', 'missing'],
    ['block', 'operator', 'paging_key', 'error'],
    ['allow', 'operator', 'paging_key', 'allow'],
  ]);
});

test('a start without its secret says which key needs it, and does not come about', async () => {
  wire.put('service', {});
  const start = startTestService({ config: config(gate.port), env: { VAULT_TOKEN: TOKEN } });
  await assert.rejects(start, /alerts\.channels\[0\]\.routing_key` needs the secret `paging_key`, which/);
  const unarmed = startTestService({ config: config(gate.port) });
  await assert.rejects(unarmed, /needs a token in the environment variable `VAULT_TOKEN`, which is not set/);
});

/** Returns every byte of every file below a folder. */
function everything(folder: string): string {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .map((path) => (statSync(path).isDirectory() ? everything(path) : readIfFile(path)))
    .join('\n');
}

function readIfFile(path: string): string {
  return statSync(path).isFile() ? readFileSync(path, 'latin1') : '';
}

test('no value and no token is in a file, a log, an event or a metric', async () => {
  const metrics = await (await fetch(`${service.url}/v1/metrics`)).text();
  await service.kill('SIGTERM');
  const seen = [everything(service.dir), service.logs(), metrics].join('\n');
  assert.ok(seen.includes('secret_resolve') && seen.includes('paging_key'), 'the search sees what is there');
  for (const text of [VALUE, ROTATED, TOKEN]) assert.ok(!seen.includes(text), text);
});
