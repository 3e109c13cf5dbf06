// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { costSection } from '../../features/costs/settings.ts';
import { configSchema, loadConfig } from '../../server/load-config.ts';
import type { ConfigRequest, ConfigResult } from '../policies/load-config.ts';
import { parseConfigValue } from './parse-config-value.ts';
import { PERMISSIONS } from './permissions.ts';
import { formatProblem } from './problem-text.ts';
import { proxySchema } from './schema-proxy.ts';

let dir = '';
before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'config-'));
});
after(() => rm(dir, { recursive: true, force: true }));

/** A sample credential, which must not appear in any message. */
const MARKER = 'hunter2marker';

async function load(text: string, request: Partial<ConfigRequest> = {}): Promise<ConfigResult> {
  await writeFile(join(dir, 'service.yaml'), text);
  return loadConfig({ path: null, cwd: dir, env: {}, ...request });
}

function formatLines(result: ConfigResult): string[] {
  return result.ok ? [] : result.problems.map((p) => formatProblem(p).replace(/^service\.yaml:?/, ''));
}

interface Bad {
  readonly name: string;
  readonly text: string;
  readonly env?: Record<string, string>;
  readonly problems: readonly string[];
}

const bad: readonly Bad[] = [
  { name: 'a list', text: '- a', problems: ['1: `service.yaml` must be a mapping; it is a list.'] },
  { name: 'a word', text: 'hi', problems: ['1: `service.yaml` must be a mapping; it is the string `hi`.'] },
  {
    name: 'two documents',
    text: 'log: {}\n---\nlog: {}',
    problems: [' `service.yaml` must hold one document; it has a `---` too many.'],
  },
  {
    name: 'unknown keys, with and without a near name',
    text: 'sever:\n  port: 1\nserver:\n  hots: x\n  zzzzzzzz: 1\n',
    problems: [
      '1: unknown key `sever`; did you mean `server`?',
      '4: unknown key `server.hots`; did you mean `host`?',
      '5: unknown key `server.zzzzzzzz`.',
    ],
  },
  {
    name: 'a section in the wrong place',
    text: 'policy:\n  secret_detection: {enabled: false}\n',
    problems: ['2: unknown key `policy.secret_detection`; it belongs at the top of the file.'],
  },
  {
    name: 'keys that every object has',
    text: 'constructor: 1\ntoString: 2\nserver: {hasOwnProperty: 1}',
    problems: [
      '1: unknown key `constructor`.',
      '2: unknown key `toString`.',
      '3: unknown key `server.hasOwnProperty`.',
    ],
  },
  {
    name: 'wrong types',
    text: 'server: {port: "80", workers: 1.5, cors_origins: a, host: 1}\naudit: {enabled: 1}\nmetrics: []\nproxy: {retry: 3}',
    problems: [
      '1: `server.port` must be a whole number; it is the string `80`.',
      '1: `server.workers` must be a whole number; it is `1.5`.',
      '1: `server.cors_origins` must be a list; it is the string `a`. Write `[a]`.',
      '1: `server.host` must be a text; it is `1`.',
      '2: `audit.enabled` must be `true` or `false`; it is `1`.',
      '3: `metrics` must be a mapping; it is a list.',
      '4: `proxy.retry` must be a mapping; it is `3`.',
    ],
  },
  {
    name: 'out of range',
    text: 'server: {port: 65536, workers: 0}\naudit: {max_size_mb: 0}\nproxy: {timeout_seconds: -1, retry: {backoff_factor: -0.5}}',
    problems: [
      '1: `server.port` must be from 0 to 65535; it is `65536`.',
      '1: `server.workers` must be from 1 to 256; it is `0`.',
      '2: `audit.max_size_mb` must be from 1 to 1048576; it is `0`.',
      '3: `proxy.timeout_seconds` must be from 1 to 3600; it is `-1`.',
      '3: `proxy.retry.backoff_factor` must be from 0 to 60; it is `-0.5`.',
    ],
  },
  {
    name: 'choices',
    text: 'version: v2\nserver: {mode: Gateway}\npolicy: {default_action: deny, unknown_agents: redact}\nlog: {level: warning}',
    problems: [
      '1: `version` must be `v1alpha1`.',
      '2: `server.mode` must be one of `sidecar`, `gateway`; it is the string `Gateway`; did you mean `gateway`?',
      '3: `policy.default_action` must be one of `allow`, `flag`, `redact`, `require_approval`, `block`; it is the string `deny`; did you mean `block`?',
      '3: `policy.unknown_agents` must be one of `allow`, `block`; it is the string `redact`.',
      '4: `log.level` must be one of `fatal`, `error`, `warn`, `info`, `debug`, `trace`, `silent`; it is the string `warning`; did you mean `warn`?',
    ],
  },
  {
    name: 'addresses and paths',
    text: 'server: {host: "http://a", cors_origins: ["https://a.example/x", null]}\nproxy: {target: ftp://x}\nmetrics: {endpoint: metrics}\nstorage: {url: mysql://x}',
    problems: [
      '1: `server.host` must be an IP address or the name of a host, without a port or brackets.',
      '1: `server.cors_origins[0]` must be `*` or an origin, `https://host` or `https://host:port`, without a path.',
      '1: `server.cors_origins[1]` must be a text; it is nothing.',
      '2: `proxy.target` must be an address that begins with `http://` or `https://`.',
      '3: `metrics.endpoint` must be a path that begins with `/`, of letters, digits, `_`, `.`, `-` and `/`.',
      '4: `storage.url` must begin with `sqlite:`, `postgres://` or `postgresql://`.',
    ],
  },
  {
    name: 'variables that are not set',
    text: 'server:\n  host: ${HOST}\n  port: ${P}\npolicies:\n  - name: a\n    reason: see ${WIKI}\n',
    problems: [
      '2: `server.host` needs the environment variable `HOST`, which is not set.',
      '3: `server.port` needs the environment variable `P`, which is not set.',
      '6: `policies[0].reason` needs the environment variable `WIKI`, which is not set.',
    ],
  },
  {
    name: 'variables that do not fit',
    text: 'server: {port: "${P}", workers: "${W}", mode: "${M}"}\naudit: {enabled: "${E}"}\nproxy: {retry: {backoff_factor: "${F}"}}',
    env: { P: MARKER, W: '1e1', M: MARKER, E: 'yes', F: '0x1' },
    problems: [
      '1: `server.port` must be a whole number.',
      '1: `server.workers` must be a whole number.',
      '1: `server.mode` must be one of `sidecar`, `gateway`.',
      '2: `audit.enabled` must be `true` or `false`.',
      '3: `proxy.retry.backoff_factor` must be a number.',
    ],
  },
  {
    name: 'a part of a text is never a number',
    text: 'server: {port: "8${P}"}',
    env: { P: '080' },
    problems: ['1: `server.port` must be a whole number.'],
  },
  {
    name: 'references that are none',
    text: 'server: {host: "${}"}\nstate_dir: ${secret:folder}\nlog: {level: "${X"}',
    problems: [
      '1: `server.host` has a `${...}` that names no environment variable; write `$${` for the characters.',
      '2: `state_dir` may take no secret: it is needed before any can be read.',
      '3: `log.level` has a `${` that is not closed; write `$${` for the characters.',
    ],
  },
  {
    name: 'credentials in plain text',
    text: [
      'alerts:',
      '  channels:',
      `    - {type: paging, routing_key: ${MARKER}}`,
      `    - {type: incident, api_key: "${MARKER}\${A}", region: eu}`,
      `    - {type: email, to: [a@b.example], smtp_host: h, smtp_port: 25, username: u, password: {is: ${MARKER}}}`,
      `    - {type: chat-webhook, url: "https://chat.example/${MARKER}"}`,
      `    - {type: webhook, url: "https://u:${MARKER}@h.example", secret: 12345}`,
      `storage: {url: "postgres://u:${MARKER}@db/x"}`,
      `secrets: {vault: {address: "https://u:${MARKER}@v", token_env: ${MARKER}, path: p}}`,
      `intelligence: {backend: {provider: local, model: m, base_url: "http://h", api_key_env: sk-${MARKER}}}`,
    ].join('\n'),
    env: { A: 'a' },
    problems: [
      '3: `alerts.channels[0].routing_key` is a credential in plain text; put it into an environment variable and write `${NAME}`, or into the secret backend and write `${secret:name}`.',
      '4: `alerts.channels[1].api_key` is a credential in plain text; put it into an environment variable and write `${NAME}`, or into the secret backend and write `${secret:name}`.',
      '5: `alerts.channels[2].password` is a credential in plain text; put it into an environment variable and write `${NAME}`, or into the secret backend and write `${secret:name}`.',
      '6: `alerts.channels[3].url` is a credential in plain text; put it into an environment variable and write `${NAME}`, or into the secret backend and write `${secret:name}`.',
      '7: `alerts.channels[4].url` has a password in plain text; put it into an environment variable and write `${NAME}` in its place, or into the secret backend and write `${secret:name}`.',
      '7: `alerts.channels[4].secret` is a credential in plain text; put it into an environment variable and write `${NAME}`, or into the secret backend and write `${secret:name}`.',
      '8: `storage.url` has a password in plain text; put it into an environment variable and write `${NAME}` in its place, or into the secret backend and write `${secret:name}`.',
      '9: `secrets.vault.address` has a password in plain text; put it into an environment variable and write `${NAME}` in its place, or into the secret backend and write `${secret:name}`.',
      '9: `secrets.vault.token_env` must be the name of an environment variable, in capitals; the credential itself stays there.',
      '10: `intelligence.backend.api_key_env` must be the name of an environment variable, in capitals; the credential itself stays there.',
    ],
  },
  {
    name: 'a credential that is empty, and one that is not set',
    text: 'alerts: {channels: [{type: paging, routing_key: "${EMPTY}"}, {type: paging, routing_key: "${NOT}"}]}',
    env: { EMPTY: '' },
    problems: [
      '1: `alerts.channels[0].routing_key` names a variable or a secret that is empty.',
      '1: `alerts.channels[1].routing_key` needs the environment variable `NOT`, which is not set.',
    ],
  },
  {
    name: 'alert channels',
    text: 'alerts:\n  channels:\n    - {type: emial}\n    - {to: []}\n    - mail\n    - {type: email, to: [], smtp_host: h}\n    - {type: paging}\n    - {type: incident, region: eu}\n    - {type: file, url: x}',
    problems: [
      '3: `alerts.channels[0].type` must be one of `chat-webhook`, `discord`, `email`, `file`, `incident`, `paging`, `teams`, `webhook`; it is the string `emial`; did you mean `email`?',
      '4: `alerts.channels[1].type` must be one of `chat-webhook`, `discord`, `email`, `file`, `incident`, `paging`, `teams`, `webhook`.',
      '5: `alerts.channels[2]` must be a mapping with a `type`.',
      '6: `alerts.channels[3].to` must have at least 1 entry.',
      '6: `alerts.channels[3].smtp_port` is missing.',
      '7: `alerts.channels[4].routing_key` is missing.',
      '8: `alerts.channels[5].api_key` is missing.',
      '9: unknown key `alerts.channels[6].url`.',
      '9: `alerts.channels[6].path` is missing.',
    ],
  },
  {
    name: 'a vault that is not described',
    text: 'secrets:\n  backend: vault\n',
    problems: ['1: `secrets.vault` is missing; `secrets.backend: vault` needs it.'],
  },
  {
    name: 'a vault that is half described',
    text: 'secrets:\n  backend: vault\n  vault: {address: https://v}',
    problems: ['3: `secrets.vault.token_env` is missing.', '3: `secrets.vault.path` is missing.'],
  },
  {
    name: 'a cloud that is not described',
    text: 'secrets: {backend: cloud, cloud: {region: eu}}',
    problems: ['1: `secrets.cloud.secret_name` is missing.'],
  },
  {
    name: 'advice without a model',
    text: 'intelligence: {enabled: true}',
    problems: ['1: `intelligence.backend` is missing; `intelligence.enabled: true` needs it.'],
  },
  {
    name: 'names of tenants and secrets',
    text: 'tenants:\n  "": {}\n  "a b": {policies: []}\n  ok: {polices: []}\nsecrets: {env_map: {"x y": A, b: lower}}',
    problems: [
      '2: `tenants[""]` is no name: letters, digits, `_`, `.` and `-` make one.',
      '3: `tenants["a b"]` is no name: letters, digits, `_`, `.` and `-` make one.',
      '4: unknown key `tenants.ok.polices`; did you mean `policies`?',
      '5: `secrets.env_map["x y"]` is no name: letters, digits, `_`, `.` and `-` make one.',
      '5: `secrets.env_map.b` must be the name of an environment variable, in capitals; the credential itself stays there.',
    ],
  },
  {
    name: 'approvals',
    text: `approvals:\n  ttl_max: 1.5h\n  pending_max: 0\n  webhook: {url: "ftp://h", secret: ${MARKER}, max_attempts: 21}`,
    problems: [
      '2: `approvals.ttl_max` must be a duration: a whole number and one of `s`, `m`, `h`, `d`, `w`, such as `24h`.',
      '3: `approvals.pending_max` must be from 1 to 1000000; it is `0`.',
      '4: `approvals.webhook.url` must be an address that begins with `http://` or `https://`.',
      '4: `approvals.webhook.secret` is a credential in plain text; put it into an environment variable and write `${NAME}`, or into the secret backend and write `${secret:name}`.',
      '4: `approvals.webhook.max_attempts` must be from 1 to 20; it is `21`.',
    ],
  },
  {
    name: 'keys of programs',
    text: `auth:\n  api_keys:\n    - {id: a, sha256: ${MARKER}}\n    - {id: "a b", sha256: "${'0'.repeat(64)}", permissions: [root], expires_at: tomorrow}`,
    problems: [
      '3: `auth.api_keys[0].sha256` must be the SHA-256 of the key, 64 lower-case hex digits, never the key itself.',
      '4: `auth.api_keys[1].id` must be 1 to 64 letters, digits, `.`, `_` or `-`.',
      `4: \`auth.api_keys[1].permissions[0]\` must be one of ${PERMISSIONS.map((one) => `\`${one}\``).join(', ')}; it is the string \`root\`.`,
      '4: `auth.api_keys[1].expires_at` must be a date and time with a time zone, `2027-01-31T12:00:00Z`.',
    ],
  },
  {
    name: 'what a schema cannot say',
    text: `auth:\n  trusted_proxies: [10.0.0.0/8, 10.0.0.0/33, host.example, "::1/128"]\n  api_keys: [{id: a, sha256: "${'0'.repeat(64)}", expires_at: "2027-02-31T25:00:00Z"}]\n  jwt: {issuer: i, audience: a, jwks_file: f, jwks_url: "https://j"}\nalerts: {channels: [{type: email, to: [a@b.example], smtp_host: h, smtp_port: 25, username: u}]}\napprovals:\n  webhook: {url: "http://0xa9fea9fe/latest", secret: "\${LONG}"}`,
    env: { LONG: 'k'.repeat(16) },
    problems: [
      '4: `auth.jwt` must have exactly one of `jwks_url`, `jwks_file` and `public_key_file`.',
      '2: `auth.trusted_proxies[1]` must be an address or a CIDR block.',
      '2: `auth.trusted_proxies[2]` must be an address or a CIDR block.',
      '3: `auth.api_keys[0].expires_at` is no date that exists.',
      '7: `approvals.webhook.url` is a link-local address, where clouds serve credentials of machines; if it is intended, set `allow_link_local` next to it.',
      '5: `alerts.channels[0]` must have `username` and `password` together, or neither.',
    ],
  },
  {
    name: 'values that may be there',
    text: `detection:\n  fingerprint_key: ${MARKER}\n  allowlist:\n    - {fingerprint: ${MARKER}, reason: r, owner: o, expires_at: tomorrow}\n    - {fingerprint: "hmac-sha256:${'0'.repeat(64)}", owner: o, expires_at: 2027-01-31}`,
    problems: [
      '2: `detection.fingerprint_key` is a credential in plain text; put it into an environment variable and write `${NAME}`, or into the secret backend and write `${secret:name}`.',
      '4: `detection.allowlist[0].fingerprint` must be `hmac-sha256:` and 64 hex digits, as `customshouse fingerprint add` prints it.',
      '4: `detection.allowlist[0].expires_at` must be a date, `2027-01-31`, or a time with a zone, `2027-01-31T18:00:00Z`.',
      '5: `detection.allowlist[1].reason` is missing.',
    ],
  },
  {
    name: 'a day that does not exist, and a short key',
    text: `detection:\n  allowlist:\n    - {fingerprint: "hmac-sha256:${'0'.repeat(64)}", reason: r, owner: o, expires_at: 2027-02-31}`,
    problems: ['3: `detection.allowlist[0].expires_at` is no date that exists.'],
  },
  {
    name: 'a short key of fingerprints',
    text: 'detection: {fingerprint_key: "${KEY}"}',
    env: { KEY: MARKER.slice(0, 8) },
    problems: ['1: `detection.fingerprint_key` is shorter than 32 characters.'],
  },
  {
    name: 'secrets where none may stand, that are not there, or without a backend',
    text: [
      'alerts: {channels: [{type: paging, routing_key: "${secret:nope}"}, {type: paging, routing_key: "${secret:../x}"}]}',
      'policies: [{name: r, boundary: input, data_tags: [a], action: block, reason: "${secret:there}"}]',
      'secrets: {backend: env, env_map: {there: THERE}, vault: {address: "http://${secret:there}", token_env: T, path: p}}',
    ].join('\n'),
    env: { THERE: MARKER },
    problems: [
      '1: `alerts.channels[0].routing_key` asks for a secret, and the section `secrets` is not right.',
      '1: `alerts.channels[1].routing_key` asks for a secret, and the section `secrets` is not right.',
      '2: `policies[0].reason` asks for a secret, and a rule may hold none: rules are saved and shown.',
      '3: `secrets.vault.address` may take no secret: it is needed before any can be read.',
    ],
  },
  {
    name: 'secrets that a backend does not have',
    text: [
      'alerts: {channels: [{type: paging, routing_key: "${secret:nope}"}, {type: paging, routing_key: "${secret:../x}"}]}',
      'secrets: {backend: env, env_map: {there: THERE}}',
    ].join('\n'),
    env: { THERE: MARKER },
    problems: [
      '1: `alerts.channels[0].routing_key` needs the secret `nope`, which the backend `env` does not have.',
      '1: `alerts.channels[1].routing_key` is not a valid secret name; use letters, digits and `_ . - /`, optionally followed by `#field`.',
    ],
  },
  {
    name: 'a token that would live longer than any may',
    text: 'capability_tokens: {default_ttl: 2h, max_ttl: 1h}',
    problems: ['1: `capability_tokens.default_ttl` is longer than `max_ttl`.'],
  },
  {
    name: 'a backend that is not set, or not set up',
    text: 'alerts: {channels: [{type: paging, routing_key: "${secret:k}"}]}',
    problems: [
      '1: `alerts.channels[0].routing_key` asks for a secret, and no backend is set; set `secrets.backend`, or use `${NAME}` of the environment.',
    ],
  },
  {
    name: 'a vault without its token',
    text: 'alerts: {channels: [{type: paging, routing_key: "${secret:k}"}]}\nsecrets: {backend: vault, vault: {address: "http://127.0.0.1:1", token_env: T, path: p}}',
    problems: [
      '1: `alerts.channels[0].routing_key` asks for a secret. Secrets cannot be read: the backend `vault` needs a token in the environment variable `T`, which is not set.',
    ],
  },
  {
    name: 'patterns of one’s own',
    text: 'detection:\n  patterns:\n    - {id: Acme, pattern: "", anchor: ab, tags: [], severity: hihg, description: d, examples: {hits: []}}',
    problems: [
      '3: `detection.patterns[0].id` must be a name of two to four parts with dots between, of lower-case letters, digits and `_`: `acme.employee_number`.',
      '3: `detection.patterns[0].pattern` must not be empty.',
      '3: `detection.patterns[0].anchor` is shorter than 3 characters.',
      '3: `detection.patterns[0].tags` must have at least 1 entry.',
      '3: `detection.patterns[0].severity` must be one of `low`, `medium`, `high`, `critical`; it is the string `hihg`; did you mean `high`?',
      '3: `detection.patterns[0].examples.hits` must have at least 1 entry.',
    ],
  },
  {
    name: 'a key of a control character',
    text: '\u0000: 1\n',
    problems: ['1: unknown key `["\\u0000"]`.'],
  },
];

test('a bad configuration is refused with every problem that it has, and with no credential', async () => {
  for (const { name, text, env = {}, problems } of bad) {
    const result = await load(text, { env });
    assert.deepEqual(formatLines(result), problems, name);
    assert.ok(!JSON.stringify(result).includes(MARKER), name);
  }
  assert.equal(bad.length, 35);
});

test('without a file the defaults hold', async () => {
  const cwd = await mkdtemp(join(dir, 'empty-'));
  const result = await loadConfig({ path: null, cwd, env: {} });
  assert.ok(result.ok);
  assert.deepEqual(result.warnings, []);
  assert.deepEqual(result.config, {
    version: 'v1alpha1',
    server: {
      host: '127.0.0.1',
      port: 8000,
      mode: 'sidecar',
      workers: 1,
      cors_origins: [],
      public_url: null,
      body_bytes_max: 10_485_760,
    },
    policy: { default_action: 'block', builtin_rules: true, undeclared_tools: 'allow' },
    policies: [],
    paths: {
      policy_files: ['policies/*.yaml'],
      contract_files: ['contracts/*.yaml'],
      identity_files: [],
      memory_schema_files: ['schemas/*.yaml'],
    },
    mcp: { servers: [], sessions_max: 100 },
    tenants: {},
    secret_detection: { enabled: true },
    pii_protection: { enabled: true, action: 'redact' },
    injection_detection: { enabled: true, flag_threshold: 4, block_threshold: 8 },
    command_detection: { enabled: true, wrappers: [] },
    detection: { detectors: {}, patterns: [], allowlist: [], example_values: 'flag' },
    classifiers: [],
    plugins: { files: [], packages: [], timeout_ms: 5_000 },
    scan: {
      ...{ text_bytes_max: 8_388_608, depth_max: 64, nodes_max: 200_000 },
      ...{ findings_max: 10_000, file_roots: [] },
    },
    redaction: { typed: false, mode: 'mask' },
    auth: parseConfigValue({}, configSchema.properties.auth!, { env: {}, secrets: new Map() }).value,
    metrics: { enabled: true, endpoint: '/v1/metrics', public: false },
    audit: {
      enabled: true,
      log_actions: 'blocked',
      index: 'sqlite',
      export_actions: false,
      log_inputs: false,
      log_argument_shapes: [],
      log_outputs: false,
      max_size_mb: 100,
      max_age_days: 90,
      compress_rotated: true,
    },
    state_dir: join(cwd, '.service'),
    sessions: { idle_timeout: '12h', age_max: '7d' },
    storage: {},
    cluster: { enabled: false, notify: true, on_partition: 'block' },
    approvals: {
      ttl_max: '24h',
      pending_max: 10_000,
      pending_per_agent_max: 100,
      arguments_bytes_max: 16_384,
      ...{ retention: '90d', second_factor_ttl: '10m' },
      ...{ grant_ttl_max: '24h', grant_uses_max: 100, grants_per_agent_max: 50 },
    },
    flow: { llm_user_role: 'ignore', operator_prompts: [] },
    capability_tokens: { default_ttl: '10m', max_ttl: '1h', active_max: 100_000 },
    memory: { previous_keys: [], agent_entries_max: 10_000, agent_bytes_max: 67_108_864 },
    secrets: { timeout_ms: 5_000, cache_ttl_seconds: 300, cache_entries_max: 1_000, env_map: {} },
    alerts: { channels: [], rules: [] },
    proxy: parseConfigValue({}, proxySchema, { env: {}, secrets: new Map() }).value,
    cost: parseConfigValue({}, costSection.schema, { env: {}, secrets: new Map() }).value,
    intelligence: {
      enabled: false,
      budget: { calls_per_day: 200, tokens_per_day: 2_000_000, answer_tokens_max: 8_192 },
    },
    dashboard: { proxy_identity: false, users: [] },
    telemetry: {
      ...{ enabled: false, headers: {}, traces: true, metrics: true, queue_spans_max: 2_048 },
      ...{ timeout_ms: 10_000, interval_ms: 60_000, flush_ms: 2_000 },
    },
    log_export: { headers: {}, decisions: [], tenants: [], timeout_ms: 10_000 },
    log: { level: 'info', format: 'auto' },
    origin: { file: null, label: 'service.yaml', base_dir: cwd },
  });
});

test('sections that say nothing, comments and free keys change nothing', async () => {
  const empty = await load('');
  const silent = await load(
    '# all\nserver:\npolicies:\ntenants:\nx-notes: {"a b": ["${NOT_SET}", 1], server: 2}\naudit:\n  # x\n  x-y: 1\n',
  );
  assert.ok(empty.ok && silent.ok);
  assert.deepEqual(silent.config, empty.config);
});

test('every key is read, and names of files are relative to the file', async () => {
  const env = { PORT: '9001', ON: 'false', FACTOR: '1.5', KEY: 'k'.repeat(20), DB: 'pw', ROOT: 'data' };
  const result = await load(
    `
version: v1alpha1
server: {host: 0.0.0.0, port: "\${PORT}", mode: gateway, workers: 2, cors_origins: ["*", "https://a.example:8443"], body_bytes_max: 2048}
policy: {default_action: flag, builtin_rules: "\${ON}", unknown_agents: block}
policies:
  - {name: "one $\${X}", boundary: input, data_tags: [personal.pii], action: redact, reason: "port \${PORT}", priority: 5}
paths: {policy_files: [a.yaml], contract_files: [], identity_files: ["agents/*.yaml"], memory_schema_files: []}
tenants: {acme: {policies: [{name: t, boundary: output, data_tags: [secret], action: allow}]}, "t.2": {}}
secret_detection: {enabled: "\${ON}"}
pii_protection: {enabled: true, action: flag}
scan: {text_bytes_max: 10, depth_max: 5, nodes_max: 6, findings_max: 7, file_roots: ["\${ROOT}/in", /srv]}
redaction: {typed: true}
auth:
  required: true
  trusted_proxies: [10.0.0.1, "fd00::/8"]
  api_keys: [{id: a, sha256: "${'ab'.repeat(32)}", tenants: [t], agents: [x], permissions: [check], expires_at: "2027-01-31T12:00:00Z"}]
  jwt: {issuer: "https://i.example", audience: [a, b], jwks_file: keys.json, claims: {tenants: org.id}, algorithms: [ES256]}
metrics: {enabled: false, endpoint: /m, public: true}
audit: {enabled: false, log_inputs: true, log_outputs: true, max_size_mb: 1, max_age_days: 2, compress_rotated: false, object_storage: {bucket: acme-audit, prefix: prod, region: eu-central-1, endpoint: 'https://s3.example', path_style: true, seal_after: 1m, object_lock: {mode: compliance, days: 7}}}
state_dir: state
storage: {url: "postgres://u:\${DB}@db/x"}
approvals: {ttl_max: 2h, pending_max: 5, pending_per_agent_max: 2, arguments_bytes_max: 512, retention: 7d, webhook: {url: "https://w.example/a", secret: "\${KEY}", timeout_ms: 200, max_attempts: 2, allow_link_local: true}}
secrets: {backend: vault, env_map: {a: B_C}, vault: {address: "https://v", token_env: VAULT_TOKEN, path: p}, cloud: {region: eu, secret_name: s}}
alerts:
  channels:
    - {type: email, to: [a@b.example], smtp_host: h, smtp_port: 25}
    - {type: paging, routing_key: "\${KEY}"}
    - {type: incident, api_key: "\${KEY}", region: eu}
    - {type: file, path: alerts.log}
    - {type: webhook, url: "https://w.example/x", secret: "\${KEY}"}
    - {type: chat-webhook, url: "\${KEY}"}
proxy: {target: "https://api.example/v1", timeout_seconds: 5, retry: {max_attempts: 1, backoff_factor: "\${FACTOR}"}}
intelligence: {enabled: true, backend: {provider: compatible-api, model: m, base_url: "http://localhost:1", api_key_env: MODEL_KEY}}
dashboard: {users: [{user_id: u}, {user_id: v, role: billing, tenants: ["*"]}]}
log: {level: debug}
`,
    { env },
  );
  assert.ok(result.ok, formatLines(result).join('\n'));
  const { config } = result;
  assert.equal(config.server.port, 9001);
  assert.deepEqual(config.policy, {
    default_action: 'flag',
    builtin_rules: false,
    unknown_agents: 'block',
    undeclared_tools: 'block',
  });
  assert.deepEqual(config.policies, [
    {
      name: 'one ${X}',
      boundary: 'input',
      data_tags: ['personal.pii'],
      action: 'redact',
      reason: 'port 9001',
      priority: 5,
    },
  ]);
  assert.deepEqual(config.tenants['t.2'], { policies: [] });
  assert.deepEqual(config.scan.file_roots, [join(dir, 'data/in'), '/srv']);
  assert.equal(config.state_dir, join(dir, 'state'));
  assert.equal(config.auth.jwt?.jwks_file, join(dir, 'keys.json'));
  assert.equal(config.auth.jwt?.clock_tolerance_seconds, 30);
  assert.equal(config.storage.url, 'postgres://u:pw@db/x');
  assert.equal(config.proxy.retry.backoff_factor, 1.5);
  assert.deepEqual(config.dashboard.users[0], { user_id: 'u', role: 'viewer', tenants: ['default'] });
  assert.partialDeepStrictEqual(config.alerts.channels[1], { type: 'paging', routing_key: env.KEY });
  assert.deepEqual(config.origin, { file: join(dir, 'service.yaml'), label: 'service.yaml', base_dir: dir });
  assert.deepEqual(result.warnings, []);
});

test('options override the file and are checked like it', async () => {
  const good = await load('server: {port: 1, mode: sidecar}\nproxy: {timeout_seconds: 7}', {
    overrides: {
      port: 2,
      mode: 'gateway',
      host: '::1',
      workers: 3,
      upstream_base_url: 'http://up.example',
      state_dir: 's',
    },
  });
  assert.ok(good.ok, formatLines(good).join());
  assert.deepEqual(
    [good.config.server.port, good.config.server.mode, good.config.server.host, good.config.server.workers],
    [2, 'gateway', '::1', 3],
  );
  assert.equal(good.config.policy.undeclared_tools, 'block');
  assert.deepEqual([good.config.proxy.target, good.config.proxy.timeout_seconds], ['http://up.example', 7]);
  const wrong = await load('log: {level: loud}', {
    overrides: { port: 70_000, mode: 'x', upstream_base_url: `http://u:${MARKER}@h` },
  });
  assert.deepEqual(formatLines(wrong).slice(0, 2), [
    'command line: `--port` must be from 0 to 65535; it is `70000`.',
    'command line: `--mode` must be one of `sidecar`, `gateway`; it is the string `x`.',
  ]);
  assert.equal(formatLines(wrong).length, 4);
  assert.ok(!JSON.stringify(wrong).includes(MARKER));
});

test('the file is the given one, otherwise that of the environment, otherwise that of the folder', async () => {
  const cwd = await mkdtemp(join(dir, 'which-'));
  await mkdir(join(cwd, 'deep'));
  await writeFile(join(cwd, 'service.yml'), 'server: {port: 1}');
  await writeFile(join(cwd, 'deep/env.yaml'), 'server: {port: 2}');
  await writeFile(join(cwd, 'asked.json'), '{"server": {"port": 3}}');
  await symlink('asked.json', join(cwd, 'link.yaml'));
  const port = async (request: Partial<ConfigRequest>): Promise<unknown> => {
    const result = await loadConfig({ path: null, cwd, env: {}, ...request });
    return result.ok ? [result.config.server.port, result.config.origin.base_dir] : formatLines(result);
  };
  assert.deepEqual(await port({}), [1, cwd]);
  assert.deepEqual(await port({ env: { SERVICE_CONFIG: 'deep/env.yaml' } }), [2, join(cwd, 'deep')]);
  assert.deepEqual(await port({ env: { SERVICE_CONFIG: 'deep/env.yaml' }, path: 'asked.json' }), [3, cwd]);
  assert.deepEqual(await port({ path: join(cwd, 'link.yaml') }), [3, cwd]);
  await writeFile(join(cwd, 'service.yaml'), 'server: {port: 4}');
  assert.deepEqual(await port({}), [4, cwd]);
});

test('an unreadable file is reported as such', async () => {
  const cwd = await mkdtemp(join(dir, 'unreadable-'));
  await writeFile(join(cwd, 'latin1.yaml'), Buffer.from([0x61, 0x3a, 0x20, 0xe9]));
  await writeFile(join(cwd, 'large.yaml'), Buffer.alloc(5_000_000, '#'));
  await symlink('nowhere.yaml', join(cwd, 'broken.yaml'));
  await mkdir(join(cwd, 'folder.yaml'));
  const cases: readonly (readonly [string, string])[] = [
    ['latin1.yaml', '`latin1.yaml` is not UTF-8 text.'],
    ['large.yaml', '`large.yaml` is larger than 1048576 bytes.'],
    ['broken.yaml', '`broken.yaml` does not exist.'],
    ['missing.yaml', '`missing.yaml` does not exist.'],
    ['folder.yaml', '`folder.yaml` is not a regular file.'],
    ['/dev/zero', '`/dev/zero` is not a regular file.'],
  ];
  for (const [path, message] of cases) {
    const result = await loadConfig({ path, cwd, env: {} });
    assert.deepEqual(result.ok ? [] : result.problems.map((p) => p.message), [message]);
  }
  assert.equal(cases.length, 6);
  await symlink('nowhere.yaml', join(cwd, 'service.yaml'));
  const result = await loadConfig({ path: null, cwd, env: {} });
  assert.ok(!result.ok, 'a broken link under the usual name is not passed over');
});
