// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
/** A secret backend with the driver of a plug-in, in the real service with two workers. */
import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ownNodeEnvironment, root, runProgram } from './support/checkout.ts';
import { startTestService, type TestService } from './support/service.ts';

const VALUE = ['mail', 'value', '7a61c0'].join('-');
const ROTATED = ['mail', 'rotated', '4d9f11'].join('-');

const example = readFileSync(join(root, 'examples/plugin-secrets/index.js'), 'utf8');
/** The example driver, with keys that trigger forbidden behaviour. */
const ROGUE = example.replace(
  'async get(key, signal) {',
  `async get(key, signal) {
      if (key === 'loop') for (;;);
      if (key === 'wait') return new Promise(() => {});
      if (key === 'leave') process.exit(0);`,
);

const folder = mkdtempSync(join(tmpdir(), 'secret-files-'));
writeFileSync(join(folder, 'mail'), `${VALUE}\n`);

let service: TestService;
let token = '';
before(async () => {
  service = await startTestService({
    workers: 2,
    config: {
      plugins: { files: ['plugins/*.mjs'] },
      secrets: {
        backend: 'plugin',
        timeout_ms: 3_000,
        cache_ttl_seconds: 0,
        plugin: { from: 'plugins/secrets.mjs', driver: 'files', settings: { folder: '${MOUNT}' } },
      },
      alerts: { channels: [{ type: 'paging', routing_key: '${secret:mail}' }] },
    },
    env: { MOUNT: folder },
    files: { 'plugins/secrets.mjs': ROGUE },
    keep: true,
  });
  token = await issue();
});
after(async () => {
  await service.stop();
  rmSync(service.dir, { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
type Body = any;

async function ask(path: string, body: unknown): Promise<{ status: number; json: Body; text: string }> {
  const operator = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const answer = await fetch(`${service.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operator}`, connection: 'close' },
    body: JSON.stringify(body),
  });
  const text = await answer.text();
  return { status: answer.status, json: JSON.parse(text), text };
}

async function issue(): Promise<string> {
  const { json, text } = await ask('/v1/capabilities', {
    agent_id: 'mail-bot',
    scope: { tool_name: 'send_email', secret_keys: ['*'] },
  });
  assert.ok(json.token !== undefined, text);
  return json.token;
}

const resolve = (secretKey: string) =>
  ask('/v1/secrets/resolve', {
    secret_key: secretKey,
    capability_token_id: token,
    tool: 'send_email',
    agent_id: 'mail-bot',
  });

test('every worker resolves a secret through the driver, and what the driver does wrong is a no', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => resolve('mail')));
  for (const { json, text } of answers) assert.equal(json.value, VALUE, text);
  const checked = await ask('/v1/secrets/check', { secret_keys: ['mail', 'none'] });
  assert.deepEqual(checked.json, {
    backend: 'plugin',
    reachable: true,
    secrets: [
      { secret_key: 'mail', result: 'allow' },
      { secret_key: 'none', result: 'missing' },
    ],
  });
  for (const [key, words] of [
    ['wait', /did not answer in time/],
    ['loop', /did not answer in time/],
    ['leave', /cannot be reached, or its driver failed|did not answer in time/],
  ] as const) {
    const { status, json, text } = await resolve(key);
    assert.notEqual(status, 200, text);
    assert.equal(json.value, undefined, key);
    assert.match(text, words, key);
  }
  const health = await fetch(`${service.url}/v1/health`);
  assert.equal(health.status, 200, 'a driver that hangs holds nobody else up');
});

test('a new value is seen by a restarted thread', async () => {
  writeFileSync(join(folder, 'mail'), ROTATED);
  const { json } = await untilAnswered('mail');
  assert.equal(json.value, ROTATED);
});

/** Polls, because a thread that ended is not restarted at once. */
async function untilAnswered(key: string): Promise<{ json: Body }> {
  for (let tries = 0; tries < 200; tries += 1) {
    const answer = await resolve(key);
    if (answer.status === 200) return answer;
    await new Promise((next) => setTimeout(next, 300));
  }
  return assert.fail('it was never answered again');
}

test('a start whose driver cannot be had or opened says which key needs it', async () => {
  const config = (more: object) => ({
    secrets: {
      backend: 'plugin',
      plugin: { from: 'plugins/secrets.mjs', driver: 'files', settings: { folder }, ...more },
    },
    plugins: { files: ['plugins/*.mjs'] },
    alerts: { channels: [{ type: 'paging', routing_key: '${secret:mail}' }] },
  });
  const rows: readonly (readonly [config: object, text: string, words: RegExp])[] = [
    [
      config({ from: 'plugins/other.mjs' }),
      example,
      /routing_key` asks for a secret.*`plugins` does not list/,
    ],
    [config({ driver: 'other' }), example, /cannot be opened by its driver/],
    [config({ settings: { folder: '/nowhere' } }), example, /cannot be opened by its driver/],
    [config({}), 'throw new Error("no luck");', /cannot be opened by its driver/],
  ];
  for (const [written, text, words] of rows)
    await assert.rejects(
      startTestService({
        config: written as Record<string, unknown>,
        files: { 'plugins/secrets.mjs': text },
      }),
      words,
    );
  assert.equal(rows.length, 4);
});

test('no value is in a log', async () => {
  const seen = service.logs();
  for (const text of [VALUE, ROTATED]) assert.ok(!seen.includes(text));
});

test('the example passes its own test', async () => {
  const copy = join(service.dir, 'example');
  cpSync(join(root, 'examples/plugin-secrets'), copy, { recursive: true });
  const env = { ...ownNodeEnvironment(), SERVICE: join(root, 'service') };
  const { code, stdout } = await runProgram([process.execPath, '--test'], { cwd: copy, env });
  assert.equal(code, 0, stdout);
  assert.match(stdout, /pass 2/);
});
