import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DETECTION, POLICY_SETTINGS } from '../../../testing/policies.ts';
import type { Json } from '../../../types/index.ts';
import { detect } from '../../detect.ts';

function findRules(text: string, family: string): string[] {
  const { findings } = detect({ kind: 'text', text }, DETECTION, POLICY_SETTINGS.limits);
  return findings.filter(({ tags }) => tags[0].startsWith(family)).map(({ rule_id }) => rule_id);
}

/** Ordinary lines of files, settings and headers that contain a vendor's name or the word for a key. */
const NO_SECRETS = [
  'x-anthropic-billing-header: cc_version=2.1.330.891; cc_entrypoint=cli;',
  "agent = Agent('anthropic:claude-sonnet-4-6')",
  'OpenAI text-embedding-3-large',
  'model: "openai:gpt-4o-2024-08-06"',
  'groq/llama-3.1-8b-instant and deepseek-r1-distill-qwen-32b',
  'anthropic.claude-3-5-sonnet-20240620-v1:0',
  'needless_pass_by_value = "allow"',
  'OPENAI_API_KEY=\nMASTER_SETTING_1=abcdefghijklmnop12345',
  'OPENAI_API_KEY=<your_openai_api_key>\nMASTER_API_KEY=12345',
  'client = wrap("openai", http_client=httpx2.AsyncClient12345678())',
  'MONITORING_GRAFANA_PORT=tcp://10.96.24.105:80',
  'checksum/grafana-config: 9f86d081884c7d659a2feaa0c55ad015',
  'implementation "com.squareup.okhttp3:okhttp:4.12.0"',
  '"snowflake-connector-python": "3.12.4.post20241105"',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'let password: Option<String> = None;',
  'type Login = { password: string; token: string | undefined }',
  'cfg.Password = opts.Password2',
  'password: b64Password1,',
  'Password = getSecret2("db")',
  '"password-validator": "^5.3.0"',
  'password: !!str',
  'user.password_digest == BCrypt::Password.new(hash1)',
  'export TOKEN=$OTHER_TOKEN_1',
  'postgres://%DB_USER%:%DB_PASSWORD%@db.corp.io/app',
  'https://{{ user }}:{{ password }}@host.corp.io',
  'url: https://$TOKEN:x-oauth-basic@github.com/a/b.git',
  'the main manifest for your HLS group is film-name.m3u8. If you enter -no-premium',
  'scheme({ tableau10: "4c78a8f58518e4575672b7b254a24beeca3bb279a2ff9da69d755dbab0ac" })',
];

/** The same names followed by a secret. */
const KEY = ['k9Xq2LmZ', 'w7Rt5BvN', 'c3Yh8PdF', 'j6Gs1AeU'].join('');
const SECRETS = [
  `ANTHROPIC_API_KEY=${KEY}`,
  `anthropic: "${KEY}"`,
  `openai_key = '${KEY}'`,
  `"groqApiKey": "${KEY}"`,
  `deepseek token ${KEY}`,
  `tableau_token10: "${KEY}${KEY.slice(0, 12)}"`,
  `the manifest key is ${KEY}`,
  `api_key="${KEY}", http_client=x`,
  `password = "${'tr0ub'}4dor"`,
  `SMTP_PASS=${'hunt'}er22!`,
  `"db-password": "${'hunt'}er22"`,
  `postgres://app:${'hunt'}er22@db.corp.io/app`,
  `https://$USER:${'hunt'}er22@db.corp.io/app`,
];

test('ordinary names, types, references, versions and models are no secrets', () => {
  for (const text of NO_SECRETS) assert.deepEqual(findRules(text, 'secret'), [], text);
  assert.equal(NO_SECRETS.length, 29);
});

test('the same names with a value are', () => {
  for (const text of SECRETS) assert.ok(findRules(text, 'secret').length > 0, text);
  assert.equal(SECRETS.length, 13);
});

test('a version of four parts is no address, in a text and under the key of a member', () => {
  const versions = [
    '"version": "12.3.45.200"',
    'Chrome/126.0.0.0',
    'Edg/126.4.2.71',
    'FileVersion: 10.2.3.4',
    'chapter 5.2.3.4',
    'v1.2.3.4',
  ];
  for (const text of versions) assert.deepEqual(findRules(text, 'personal'), [], text);
  for (const text of ['"host": "12.3.45.200"', 'http://93.184.216.34/x', 'from 8.8.8.8'])
    assert.deepEqual(findRules(text, 'personal'), ['ip.v4'], text);
  const found = (value: Json) =>
    detect({ kind: 'json', value }, DETECTION, POLICY_SETTINGS.limits).findings.length;
  assert.deepEqual([found({ version: '12.3.45.200' }), found({ host: '12.3.45.200' })], [0, 1]);
  assert.equal(found({ body: '{"app_version":"12.3.45.200","note":"a\\nb"}' }), 0);
});
