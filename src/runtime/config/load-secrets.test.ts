// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { configSchema, loadConfig } from '../../server/load-config.ts';
import type { ConfigRequest, ConfigResult } from '../policies/load-config.ts';
import type { ConfigSchema } from './schema-types.ts';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'config-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** A sample credential, which must not appear in any message. */
const MARKER = 'hunter2marker-5d41';

async function load(text: string, request: Partial<ConfigRequest> = {}): Promise<ConfigResult> {
  await writeFile(join(dir, 'service.yaml'), text);
  return loadConfig({ path: null, cwd: dir, env: {}, ...request });
}

const ASKING = [
  'alerts: {channels: [{type: paging, routing_key: "${secret:paging}"}, {type: webhook, url: "https://h.example/${secret:path}", secret: "${secret:paging}"}]}',
  'secrets: {backend: env, env_map: {paging: A, path: B}}',
].join('\n');

test('each secret is read from the backend once, and readings are reported without values', async () => {
  const env = { A: MARKER, B: '${C}' };
  const result = await load(ASKING, { env });
  assert.ok(result.ok, JSON.stringify(result));
  assert.deepEqual(result.config.alerts.channels, [
    { type: 'paging', routing_key: MARKER, base_url: 'https://events.pagerduty.com', timeout_ms: 10_000 },
    {
      ...{ type: 'webhook', url: 'https://h.example/${C}', secret: MARKER },
      ...{ timeout_ms: 10_000, allow_link_local: false },
    },
  ]);
  assert.deepEqual(result.secret_readings, [
    { secret_key: 'paging', secret_backend: 'env', result: 'allow' },
    { secret_key: 'path', secret_backend: 'env', result: 'allow' },
  ]);
  const missing = await load(ASKING, { env: { A: MARKER } });
  assert.ok(!missing.ok && !JSON.stringify(missing).includes(MARKER));
  assert.deepEqual(
    missing.secret_readings.map(({ result: came }) => came),
    ['allow', 'missing'],
  );
});

test('a header may be a secret, whatever its name begins with', async () => {
  const text =
    'secrets: {backend: env, env_map: {team: T}}\ntelemetry: {headers: {x-team: "${secret:team}"}, x-note: "${secret:none}"}';
  const result = await load(text, { env: { T: MARKER } });
  assert.ok(result.ok, JSON.stringify(result));
  assert.deepEqual(result.config.telemetry.headers, { 'x-team': MARKER });
  assert.equal(result.secret_readings.length, 1);
});

test('a collector that gets a credential in the clear is a warning', async () => {
  const headers = 'headers: {authorization: "${TOKEN}"}';
  const cases: readonly (readonly [string, number])[] = [
    [`enabled: true, endpoint: "http://collector.example:4318", ${headers}`, 1],
    ['enabled: true, endpoint: "http://collector.example:4318"', 0],
    [`enabled: true, endpoint: "https://collector.example", ${headers}`, 0],
    [`enabled: true, endpoint: "http://localhost:4318", ${headers}`, 0],
    [`enabled: false, endpoint: "http://collector.example:4318", ${headers}`, 0],
  ];
  for (const [section, count] of cases) {
    const result = await load(`telemetry: {${section}}`, { env: { TOKEN: MARKER } });
    assert.ok(result.ok, JSON.stringify(result));
    const about = result.warnings.filter(({ path }) => path === 'telemetry.endpoint');
    assert.equal(about.length, count, section);
  }
});

test('a vault over plain HTTP is a warning, except on this machine', async () => {
  const warned: string[] = [];
  for (const address of [
    'http://vault.example:8200',
    'https://vault.example',
    'http://127.0.0.1:8200',
    'http://[::1]:8200',
  ]) {
    const result = await load(
      `secrets: {backend: vault, vault: {address: "${address}", token_env: T, path: p}}`,
    );
    assert.ok(result.ok, JSON.stringify(result));
    for (const { message } of result.warnings) warned.push(`${address} ${message}`);
  }
  assert.equal(warned.length, 1);
  assert.match(warned[0]!, /^http:\/\/vault\.example:8200 `secrets\.vault\.address` is not `https`/);
});

test('who needs no credential asks no backend', async () => {
  const result = await load(`${ASKING}\nstate_dir: s`, { secrets: 'leave' });
  assert.ok(result.ok, JSON.stringify(result));
  assert.match(JSON.stringify(result.config.alerts.channels[0]), /"routing_key":"\$\{secret:paging\}"/);
  assert.deepEqual([result.config.state_dir, result.secret_readings], [join(dir, 's'), []]);
});

test('who needs no credential needs no variable that holds one', async () => {
  const text = 'proxy: {providers: [{name: p, family: openai, api_key: "${NOT_SET}"}]}';
  const left = await load(text, { secrets: 'leave' });
  assert.ok(left.ok, JSON.stringify(left));
  assert.equal(left.config.proxy.providers[0]?.api_key, '${NOT_SET}');
  const long = await load('memory: {master_key: "${NOT_SET}", previous_keys: ["${secret:k}"]}', {
    secrets: 'leave',
  });
  assert.ok(long.ok, JSON.stringify(long));
  const set = await load(text, { secrets: 'leave', env: { NOT_SET: 'now it is' } });
  assert.equal(set.ok && set.config.proxy.providers[0]?.api_key, 'now it is');

  for (const [written, secrets] of [
    [text, 'read'],
    ['state_dir: "${NOT_SET}"', 'leave'],
    ['proxy: {providers: [{name: p, family: openai, api_key: "x${NOT_SET}"}]}', 'leave'],
  ] as const) {
    const refused = await load(written, { secrets });
    assert.ok(!refused.ok, written);
    assert.match(refused.problems[0]!.message, /needs the environment variable `NOT_SET`/);
  }
});

test('who only decides needs no credential of a provider, and every other one', async () => {
  const provider =
    'proxy: {providers: [{name: p, family: openai, api_key: "${NOT_SET}"}, {name: q, family: openai, api_key: "${secret:not-there}"}]}';
  const result = await load(provider, { secrets: 'decide' });
  assert.ok(result.ok, JSON.stringify(result));
  assert.deepEqual(result.secret_readings, []);
  const also = await load(`${provider}\ndetection: {fingerprint_key: "\${NOT_SET}"}`, { secrets: 'decide' });
  assert.deepEqual(also.ok ? [] : also.problems.map(({ path }) => path), ['detection.fingerprint_key']);
});

test('every key that sounds like a credential takes a reference only', () => {
  const suspects: string[] = [];
  const visit = (schema: ConfigSchema, path: string): void => {
    const name = path.split('.').at(-1) ?? '';
    const sounds =
      /secret|password|token|credential|_key|api_?key|routing/.test(name) &&
      !/_env$|_file$|_name$/.test(name);
    const holdsText = [schema.type].flat().includes('string') && schema.enum === undefined;
    if (sounds && holdsText && schema['x-credential'] !== true) suspects.push(path);
    for (const [key, property] of Object.entries(schema.properties ?? {})) visit(property, `${path}.${key}`);
    for (const choice of schema.oneOf ?? []) visit(choice, path);
    if (schema.items !== undefined) visit(schema.items, `${path}[]`);
  };
  visit(configSchema, '');
  assert.deepEqual(suspects, []);
});
