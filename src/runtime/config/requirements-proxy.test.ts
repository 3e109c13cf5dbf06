// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { loadConfig } from '../../server/load-config.ts';

const openai = 'name: a, family: openai';

/** Contents of `proxy`, and the expected message; `null` if they are valid. */
const ROWS: readonly (readonly [written: string, message: string | null])[] = [
  ['{target: "http://10.0.0.1:11434/v1"}', null],
  ['{target: "https://h/v1?x=1"}', '`proxy.target` has a query or a fragment, and may have neither.'],
  ['{target: "https://u@h/v1"}', '`proxy.target` has a user or a password; a key goes into `api_key`.'],
  ['{target: "https://h:99999"}', '`proxy.target` is no address that can be called.'],
  [`{providers: [{${openai}, api_key: "\${KEY}"}]}`, null],
  [
    `{providers: [{${openai}, api_key: literal}]}`,
    '`proxy.providers[0].api_key` is a credential in plain text',
  ],
  [
    `{providers: [{${openai}, keys: [{api_key: literal}]}]}`,
    '`proxy.providers[0].keys[0].api_key` is a credential',
  ],
  [`{providers: [{${openai}, keys: [{api_key: "\${KEY}", weight: 2}]}]}`, null],
  [
    `{providers: [{${openai}, api_key: "\${KEY}", keys: [{api_key: "\${KEY}"}]}]}`,
    '`proxy.providers[0]` must have `api_key` or `keys`, not both.',
  ],
  [`{providers: [{${openai}}, {${openai}}]}`, '`proxy.providers[1].name` is the name of two providers.'],
  [
    '{providers: [{name: target, family: openai}]}',
    '`proxy.providers[0].name` is the name of what `proxy.target` makes; take another.',
  ],
  ['{providers: [{name: a/b, family: openai}]}', '`proxy.providers[0].name` must be a name of letters'],
  [
    '{providers: [{name: a, family: openia}]}',
    '`proxy.providers[0].family` must be one of `openai`, `anthropic`, `gemini`',
  ],
  [
    `{providers: [{${openai}, base_url: "https://h/#x"}]}`,
    '`proxy.providers[0].base_url` has a query or a fragment, and may have neither.',
  ],
  [`{providers: [{${openai}, headers: {X-Team: a}}]}`, null],
  [
    `{providers: [{${openai}, headers: {Authorization: a}}]}`,
    '`proxy.providers[0].headers.Authorization` may not be set here',
  ],
  [
    `{providers: [{${openai}, headers: {X-Key: a}, auth_header: x-key, api_key: "\${KEY}"}]}`,
    '`proxy.providers[0].headers.X-Key` may not be set here',
  ],
  [
    `{providers: [{${openai}, headers: {x: "a\\nb"}}]}`,
    '`proxy.providers[0].headers.x` must be of printable ASCII characters.',
  ],
  [
    `{providers: [{${openai}, auth_header: api-key}]}`,
    '`proxy.providers[0].auth_header` needs `api_key` or `keys`.',
  ],
  [
    `{providers: [{${openai}, auth_header: Host, api_key: "\${KEY}"}]}`,
    '`proxy.providers[0].auth_header` is no header for a key.',
  ],
  [`{providers: [{${openai}, client_key: drop}]}`, null],
  [
    `{providers: [{${openai}, client_key: drop, api_key: "\${KEY}"}]}`,
    '`proxy.providers[0].client_key` has no effect together with a key.',
  ],
  [`{providers: [{${openai}}], models: {fast: [{provider: a, model: m}]}}`, null],
  [
    `{providers: [{${openai}}], models: {fast: [{provider: b, model: m}]}}`,
    '`proxy.models.fast[0].provider` is the name of no provider in `proxy.providers`.',
  ],
  [`{providers: [{${openai}, models: [m]}], fallbacks: [{model: "*", to: [m, a/x]}]}`, null],
  [
    `{providers: [{${openai}, models: [m]}], fallbacks: [{model: "*", to: [n]}]}`,
    '`proxy.fallbacks[0].to[0]` is a model that no provider serves.',
  ],
  [
    '{timeout_seconds: 2, timeouts: {first_byte_ms: 2001}}',
    '`proxy.timeouts.first_byte_ms` is longer than `proxy.timeout_seconds`.',
  ],
  ['{timeout_seconds: 2, timeouts: {first_byte_ms: 2000}}', null],
  ['{strategy: best}', '`proxy.strategy` must be one of `priority`, `weighted`, `cost`, `latency`'],
  ['{retries: 3}', 'unknown key `proxy.retries`'],
];

test('requirements among the keys of `proxy` are reported in sentences', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'requirements-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  for (const [written, message] of ROWS) {
    writeFileSync(join(cwd, 'service.yaml'), `proxy: ${written}`);
    const read = await loadConfig({ path: null, env: { KEY: 'marker' }, cwd });
    const stated = read.ok ? [] : read.problems.map((problem) => problem.message);
    assert.equal(stated.length, message === null ? 0 : 1, `${written}: ${stated.join(' ')}`);
    if (message !== null) assert.ok(stated[0]?.startsWith(message), `${written}: ${stated[0]}`);
    assert.ok(!stated.join().includes('marker'), written);
  }
  assert.equal(ROWS.length, 30);
});

test('without a word of it everything has a default, and nothing is forwarded to', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'requirements-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  const read = await loadConfig({ path: null, env: {}, cwd });
  assert.ok(read.ok);
  assert.deepEqual(read.config.proxy, {
    timeout_seconds: 600,
    retry: { backoff_factor: 0.5 },
    timeouts: { connect_ms: 5_000, idle_ms: 120_000 },
    strategy: 'priority',
    providers: [],
    models: {},
    fallbacks: [],
    circuit_breaker: { failures: 5, failure_ratio: 0.5, window_seconds: 30, open_seconds: 30 },
    response_bytes_max: 67_108_864,
    stream_buffer_bytes_max: 8_388_608,
    cache_entries_max: 20_000,
    connections_max: 4_096,
  });
});

test('an address that is a secret waits until the secret is read', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'requirements-'));
  t.after(() => rmSync(cwd, { recursive: true, force: true }));
  writeFileSync(
    join(cwd, 'service.yaml'),
    'secrets: {backend: env}\nproxy: {target: "https://${secret:WHERE}/v1"}',
  );
  const left = await loadConfig({ path: null, env: {}, cwd, secrets: 'leave' });
  assert.equal(left.ok, true);
  const read = await loadConfig({ path: null, env: { WHERE: 'no where' }, cwd });
  assert.equal(read.ok, false);
});
