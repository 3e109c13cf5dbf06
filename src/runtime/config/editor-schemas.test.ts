// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { type Schema as AnySchema, Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import { configSchema } from '../../server/load-config.ts';
import { buildEditorSchemas } from '../policies/editor-schemas.ts';
import { parseConfigValue } from './parse-config-value.ts';
import type { ConfigSchema } from './schema-types.ts';

const folder = new URL('../../../schemas/', import.meta.url);

test('the schema files are those that the code makes (else run `npm run generate`)', async () => {
  const made = buildEditorSchemas(configSchema);
  for (const { name, text } of made) assert.equal(await readFile(new URL(name, folder), 'utf8'), text, name);
  const there = (await readdir(folder)).filter((name) => name.endsWith('.json'));
  assert.deepEqual(there.sort(), made.map(({ name }) => name).sort());
  assert.equal(made.length, 7);
});

const service = JSON.parse(buildEditorSchemas(configSchema)[0]?.text ?? '{}') as AnySchema;
const validator = new Validator(service, '2020-12', true);

/** A configuration with a distinct value for every key. */
const full = {
  version: 'v1alpha1',
  server: {
    public_url: 'https://p',
    host: 'h',
    port: 1,
    mode: 'gateway',
    workers: 2,
    cors_origins: ['https://a.example'],
    body_bytes_max: 2048,
  },
  policy: { default_action: 'flag', builtin_rules: true, undeclared_tools: 'block', unknown_agents: 'allow' },
  policies: [{ name: 'r', boundary: 'input', data_tags: ['secret'], action: 'block' }],
  paths: { policy_files: ['a'], contract_files: [], identity_files: ['b/*'], memory_schema_files: ['c'] },
  tenants: { acme: { policies: [] } },
  secret_detection: { enabled: true },
  pii_protection: { enabled: true, action: 'redact' },
  injection_detection: { enabled: true, flag_threshold: 4, block_threshold: 8 },
  command_detection: { enabled: true, wrappers: ['rtk'] },
  classifiers: [
    {
      name: 'scorer',
      url: 'http://127.0.0.1:8085/classify',
      api_key_env: 'SCORER_KEY',
      boundaries: ['input', 'action'],
      phases: ['response'],
      timeout_ms: 250,
      text_bytes_max: 65_536,
      labels: { toxic: { score_min: 0.8, tag: 'content.toxic', severity: 'high' } },
      on_failure: 'block',
    },
  ],
  detection: {
    detectors: { secret: { enabled: true, severity: 'low', entropy_min: 3.5 } },
    example_values: 'ignore',
    patterns: [
      {
        id: 'acme.id',
        pattern: 'acme-${2}',
        anchor: 'acme',
        detector: 'acme_id',
        tags: ['internal'],
        severity: 'low',
        description: 'd',
        examples: { hits: ['https://user:password@host'], misses: ['${NOT_SET}'] },
      },
    ],
    allowlist: [
      { fingerprint: `hmac-sha256:${'0'.repeat(64)}`, reason: 'r', owner: 'o', expires_at: '2027-01-31' },
    ],
    fingerprint_key: '${P}',
  },
  scan: { text_bytes_max: 1, depth_max: 1, nodes_max: 1, findings_max: 1, file_roots: ['x'] },
  redaction: { typed: true, mode: 'tokenize' },
  auth: {
    required: true,
    trusted_proxies: ['::1'],
    api_keys: [
      {
        id: 'a',
        sha256: '0'.repeat(64),
        tenants: ['t'],
        agents: ['a'],
        permissions: ['check'],
        expires_at: '2027-01-01T00:00:00Z',
      },
    ],
    jwt: {
      issuer: 'i',
      audience: ['a'],
      algorithms: ['ES256'],
      jwks_file: 'f',
      claims: {
        agents: 'a',
        user: 'u',
        user_email: 'e',
        groups: 'g',
        scopes: 's',
        chain: 'c',
        agent_tier: 't',
        service_account: 'x',
      },
      clock_tolerance_seconds: 1,
    },
    session: { idle_timeout: '1h', absolute_timeout: '2h' },
    sign_in: {
      attempts_per_account_max: 1,
      attempts_per_address_max: 1,
      attempts_window: '1m',
      attempt_delay: '1s',
      link_ttl: '1h',
      totp_key: '${P}',
    },
    oidc: {
      issuer: 'https://i',
      client_id: 'c',
      client_secret: '${P}',
      name: 'n',
      scopes: ['openid'],
      claims: { user: 'u', name: 'n', roles: 'r', tenants: 't' },
      role_mapping: { r: 'viewer' },
      tenant_mapping: { t: 'acme' },
      default_roles: ['viewer'],
      default_tenants: ['acme'],
      clock_tolerance_seconds: 1,
    },
  },
  metrics: { enabled: true, endpoint: '/m', public: true },
  audit: {
    enabled: true,
    index: 'off',
    log_actions: 'all',
    export_actions: true,
    log_inputs: true,
    log_argument_shapes: ['a*'],
    log_outputs: true,
    max_size_mb: 1,
    max_age_days: 1,
    compress_rotated: true,
    object_storage: {
      bucket: 'acme-audit',
      prefix: 'production',
      region: 'eu-central-1',
      endpoint: 'https://storage.example.com',
      path_style: true,
      seal_after: '5m',
      object_lock: { mode: 'governance', days: 365 },
    },
  },
  state_dir: 's',
  sessions: { idle_timeout: '1h', age_max: '2d' },
  flow: { operator_prompts: ['a'.repeat(64)], llm_user_role: 'trust' },
  storage: { url: 'sqlite:x' },
  cluster: {
    ...{ enabled: true, node_id: 'a', notify: false, on_partition: 'stateless', address: 'http://a:1' },
    secret: '${P}',
  },
  approvals: {
    ttl_max: '1h',
    second_factor_ttl: '1m',
    pending_max: 1,
    pending_per_agent_max: 1,
    arguments_bytes_max: 256,
    retention: '1d',
    ...{ grant_ttl_max: '1h', grant_uses_max: 1, grants_per_agent_max: 1 },
    webhook: { url: 'https://w', secret: '${P}', timeout_ms: 100, max_attempts: 1, allow_link_local: true },
  },
  capability_tokens: { default_ttl: '1m', max_ttl: '1m', active_max: 1 },
  memory: {
    master_key: '${P}',
    previous_keys: ['${P}'],
    agent_entries_max: 1,
    agent_bytes_max: 1,
  },
  secrets: {
    backend: 'vault',
    timeout_ms: 100,
    cache_ttl_seconds: 1,
    cache_entries_max: 1,
    env_map: { a: 'B' },
    vault: { address: 'http://v', token_env: 'T', path: 'p', namespace: 'n' },
    cloud: { region: 'r', secret_name: 's' },
    plugin: { from: 'a.mjs', driver: 'd', settings: { a: 'b' } },
  },
  alerts: {
    rules: [
      {
        rule_id: 'r',
        name: 'n',
        source: 'approvals_waiting',
        filters: {
          boundaries: ['input'],
          actions: ['block'],
          policies: ['p'],
          agents: ['a'],
          tags: ['secret'],
          tools: ['t'],
          tenants: ['x'],
          severities: ['high'],
        },
        threshold: 5,
        window: '15m',
        after: '5m',
        group_by: ['agent'],
        severity: 'high',
        cooldown: '1m',
        schedule: { time_zone: 'UTC', quiet_hours: [{ days: ['mon'], from: '22:00', to: '07:00' }] },
        channels: ['file'],
        tenant_id: 'acme',
        enabled: true,
      },
    ],
    channels: [
      {
        type: 'email',
        name: 'n',
        to: ['a@b'],
        from: 'c@d',
        smtp_host: 'h',
        smtp_port: 25,
        tls: 'starttls',
        username: 'u',
        password: '${P}',
        subject_prefix: '[x]',
        timeout_ms: 100,
      },
      { type: 'paging', name: 'p', routing_key: '${P}', base_url: 'https://p', timeout_ms: 100 },
      { type: 'incident', name: 'i', api_key: '${P}', region: 'eu', base_url: 'https://i', timeout_ms: 100 },
      { type: 'file', name: 'f', path: 'p', max_size_mb: 1, max_files: 1 },
      {
        type: 'webhook',
        name: 'w',
        url: 'https://w',
        secret: '${P}',
        timeout_ms: 100,
        allow_link_local: true,
      },
      { type: 'chat-webhook', name: 'c', url: '${P}', timeout_ms: 100 },
      { type: 'discord', name: 'd', url: '${P}', timeout_ms: 100 },
      { type: 'teams', name: 't', url: '${P}', timeout_ms: 100 },
    ],
  },
  proxy: {
    target: 'http://t',
    timeout_seconds: 1,
    retry: { max_attempts: 1, backoff_factor: 0.5 },
    timeouts: { connect_ms: 100, first_byte_ms: 100, idle_ms: 100 },
    strategy: 'latency',
    providers: [
      {
        name: 'p',
        family: 'openai',
        base_url: 'http://p/v1',
        api_key: '${P}',
        auth_header: 'api-key',
        client_key: 'drop',
        headers: { 'x-team': 't' },
        models: ['m*'],
        weight: 2,
        priority: 1,
        price: { input: 1.5, output: 2 },
      },
      { name: 'q', family: 'gemini', keys: [{ api_key: '${P}', weight: 2 }] },
    ],
    models: { a: [{ provider: 'p', model: 'm', weight: 1, priority: 0 }] },
    fallbacks: [{ model: 'm*', to: ['a'] }],
    circuit_breaker: { failures: 1, failure_ratio: 0.5, window_seconds: 1, open_seconds: 1 },
    response_bytes_max: 1024,
    stream_buffer_bytes_max: 65_536,
    cache_entries_max: 0,
    connections_max: 1,
  },
  mcp: {
    servers: [
      {
        name: 'a',
        url: 'https://m/mcp',
        bearer_token: '${P}',
        headers: { 'x-key': '${P}' },
        allow: ['a*'],
        deny: ['b'],
        agents: ['c'],
        tenants: ['d'],
        timeout_ms: 100,
        response_bytes_max: 1_024,
      },
      { name: 'b', command: ['c', 'd'], env: ['E'] },
    ],
    sessions_max: 1,
  },
  cost: {
    enabled: true,
    price_file: 'p',
    prices: [
      {
        model: 'm',
        provider: 'p',
        usd_per_mtok: { input: 1, output: 1, cache_read: 1, cache_write: 1, cache_write_1h: 1 },
        above: { input_tokens: 1, usd_per_mtok: { input: 1, output: 1 } },
        max_output_tokens: 1,
        source: 's',
        as_of: '2026-01-31',
      },
    ],
    unknown_models: 'refuse',
    assumed_usd_per_mtok: { input: 1, output: 1, cache_read: 1, cache_write: 1, cache_write_1h: 1 },
    assumed_output_tokens: 1,
    reserve_unlimited_calls: 'model_limit',
    typical_output_tokens: 1,
    reserve_output_tokens_max: 1,
    reservation_ttl: '1h',
    retention_days: 1,
    budgets: [
      {
        name: 'b',
        scope: { tenant_id: 'each', agent_id: 'a*', session_id: 's', user_id: 'u', model: 'm' },
        limit_usd: 1,
        limit_tokens: 1,
        period: '24h',
        warn_at: 0.5,
        enforcement: 'monitor',
      },
    ],
  },
  intelligence: {
    enabled: true,
    backend: {
      ...{ provider: 'local', model: 'm', base_url: 'http://m', api_key_env: 'K' },
      ...{ timeout_seconds: 1, retries: 0 },
    },
    budget: { calls_per_day: 1, tokens_per_day: 1_000, answer_tokens_max: 256 },
  },
  dashboard: { proxy_identity: true, users: [{ user_id: 'u', role: 'admin', tenants: ['*'] }] },
  log_export: {
    endpoint: 'https://collector.example.com',
    headers: { authorization: '${P}' },
    decisions: ['block'],
    tenants: ['acme'],
    timeout_ms: 100,
  },
  telemetry: {
    enabled: true,
    endpoint: 'https://t',
    headers: { authorization: '${P}' },
    service_name: 's',
    traces: false,
    metrics: false,
    content_hash_key: '${P}',
    timeout_ms: 100,
    queue_spans_max: 1,
    interval_ms: 100,
    flush_ms: 0,
  },
  plugins: { files: ['plugins/*.mjs'], packages: ['@acme/detectors'], timeout_ms: 1_000 },
  log: { level: 'info', format: 'auto' },
  'x-free': { any: 'thing' },
};

test('the configuration of every key has every key', () => {
  const missing: string[] = [];
  const visit = (schema: ConfigSchema, value: unknown, path: string): void => {
    if (value === undefined) missing.push(path);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    for (const [key, property] of Object.entries(schema.properties ?? {})) {
      visit(property, (value as Record<string, unknown>)[key], `${path}.${key}`);
    }
  };
  visit(configSchema, full, '');
  // The three key sources exclude each other, and each claim has a default of its own.
  assert.deepEqual(missing, [
    '.auth.jwt.jwks_url',
    '.auth.jwt.public_key_file',
    '.auth.jwt.claims.tenants',
    '.auth.jwt.claims.permissions',
  ]);
});

/** Returns the path of every part of a value. */
function listPlaces(
  value: unknown,
  steps: readonly (string | number)[] = [],
): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [steps];
  const inside = Object.entries(value).flatMap(([key, part]) =>
    listPlaces(part, [...steps, Array.isArray(value) ? Number(key) : key]),
  );
  return [steps, ...inside];
}

/** Returns a copy with one part replaced; `undefined` removes the part. */
function replaceAt(value: unknown, [step, ...rest]: readonly (string | number)[], other: unknown): unknown {
  if (step === undefined) return other;
  if (Array.isArray(value))
    return value.map((part, i) => (i === step ? (replaceAt(part, rest, other) ?? null) : part));
  const entries = Object.entries(value as object).map(
    ([key, part]) => [key, key === step ? replaceAt(part, rest, other) : part] as const,
  );
  return Object.fromEntries(entries.filter(([, part]) => part !== undefined));
}

// The policy compiler validates rules, so this test excludes them.
const others = listPlaces(full).filter((steps) => !steps.includes('policies') && steps.length > 0);
const value = fc.constantFrom<unknown>(
  undefined,
  null,
  '',
  'x',
  'allow',
  'http://x',
  '/x',
  'A_B',
  '${P}',
  'a${P}',
  '${secret:s}',
  'a${secret:s}',
  0,
  1,
  -1,
  1.5,
  1e12,
  true,
  false,
  [],
  ['x'],
  [1],
  {},
  { x: 1 },
  { 'x-y': 1 },
  { type: 'file', name: 'f', path: 'p', max_size_mb: 1, max_files: 1 },
  { enabled: true },
);

const LONG = 'x'.repeat(32);
const SOURCES = { env: { P: LONG }, secrets: new Map([['s', { ok: true, value: LONG }] as const]) };

test('an editor and the loader agree on what is valid, for any value in any place', () => {
  let valid = 0;
  let runs = 0;
  fc.assert(
    fc.property(fc.constantFrom(...others), value, (steps, other) => {
      const written = replaceAt(full, steps, other);
      // The variable's value fits wherever a string is allowed. An editor accepts a reference everywhere.
      const uses = typeof other === 'string' && other.includes('${');
      const loads = parseConfigValue(written, configSchema, SOURCES).problems.length === 0;
      const edits = validator.validate(written).valid;
      runs += 1;
      if (loads) valid += 1;
      if (uses) assert.ok(edits || !loads, `${steps.join('.')} ${other}`);
      else assert.equal(edits, loads, `${steps.join('.')} = ${JSON.stringify(other)}`);
    }),
    { numRuns: 400 },
  );
  assert.ok(runs === 400 && valid > 20 && valid < 380, `${valid} of ${runs} were valid`);
});

test('unknown keys are refused by both, but for free ones', () => {
  const objects = others.filter((steps) => {
    const part = steps.reduce<unknown>((at, step) => (at as Record<string | number, unknown>)[step], full);
    return (
      typeof part === 'object' &&
      !Array.isArray(part) &&
      !steps.includes('x-free') &&
      !steps.includes('env_map') &&
      ![
        'tenants',
        'detectors',
        'headers',
        'labels',
        'models',
        'settings',
        'role_mapping',
        'tenant_mapping',
      ].includes(String(steps.at(-1)))
    );
  });
  for (const steps of objects) {
    const part = steps.reduce<unknown>(
      (at, step) => (at as Record<string | number, unknown>)[step],
      full,
    ) as object;
    for (const [key, expected] of [
      ['x-mine', true],
      ['mine', false],
    ] as const) {
      const written = replaceAt(full, steps, { ...part, [key]: 1 });
      assert.equal(validator.validate(written).valid, expected, `${steps.join('.')} ${key}, editor`);
      const { problems } = parseConfigValue(written, configSchema, SOURCES);
      assert.equal(problems.length === 0, expected, `${steps.join('.')} ${key}`);
    }
  }
  assert.ok(objects.length > 25, String(objects.length));
});
