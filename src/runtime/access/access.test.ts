import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { OPERATOR_PERMISSIONS } from '../config/permissions.ts';
import { type AuthenticatorSettings, needsAgentToken, openAuthenticator } from './index.ts';
import type { ApiKey, AuthSettings } from './settings.ts';
import { CREDENTIAL_PERMISSIONS } from './testing/credential-permissions.ts';
import { createApiKey, ensureToken, getTokenPath, hashToken, readToken, rotateToken } from './tokens.ts';

const scratch = mkdtempSync(join(tmpdir(), 'access-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const NO_AUTH: AuthSettings = { required: false, trusted_proxies: [], api_keys: [], jwt: null };

type AccessOptions = Partial<Omit<AuthenticatorSettings, 'auth'>> & { readonly auth?: Partial<AuthSettings> };

function buildSettings({ auth, ...others }: AccessOptions = {}): AuthenticatorSettings {
  return {
    auth: { ...NO_AUTH, ...auth },
    host: '127.0.0.1',
    cors_origins: [],
    state_dir: mkdtempSync(join(scratch, 'state-')),
    now_ms: () => Date.UTC(2026, 0, 1),
    ...others,
  };
}

async function getId(access: AuthenticatorSettings, headers: Record<string, string>, address = '127.0.0.1') {
  const outcome = await openAuthenticator(access)({
    address,
    headers: { host: 'localhost:8000', ...headers },
  });
  return 'denied' in outcome ? outcome.denied : outcome.id;
}

interface LoopbackCase {
  readonly name: string;
  readonly trusted: boolean;
  readonly address?: string;
  readonly headers?: Record<string, string>;
  readonly settings?: AccessOptions;
}

const proxied: AccessOptions = { auth: { trusted_proxies: ['127.0.0.1', '10.0.0.0/8'] } };

const loopbackCases: readonly LoopbackCase[] = [
  { name: 'a program on this machine', trusted: true },
  { name: 'over IPv6', trusted: true, address: '::1', headers: { host: '[::1]:8000' } },
  { name: 'over IPv4 written as IPv6', trusted: true, address: '::ffff:127.0.0.1' },
  { name: 'another loopback address', trusted: true, address: '127.8.9.1', headers: { host: '127.8.9.1' } },
  { name: 'from another machine', trusted: false, address: '192.168.1.7' },
  { name: 'an address that only begins like loopback', trusted: false, address: '127.0.0.1.evil.test' },
  { name: 'where loopback needs a credential too', trusted: false, settings: { auth: { required: true } } },
  ...[
    'forwarded',
    'x-forwarded-for',
    'x-forwarded-host',
    'x-forwarded-proto',
    'x-original-forwarded-for',
    'x-real-ip',
    'via',
    'cf-connecting-ip',
    'true-client-ip',
  ].map(
    (name): LoopbackCase => ({
      name: `behind an unknown proxy: ${name}`,
      trusted: false,
      headers: { [name]: '127.0.0.1' },
    }),
  ),
  { name: 'a rebound name', trusted: false, headers: { host: 'evil.test:8000' } },
  {
    name: 'a rebound name that begins like loopback',
    trusted: false,
    headers: { host: '127.0.0.1.evil.test' },
  },
  { name: 'a rebound name that ends like localhost', trusted: false, headers: { host: 'evillocalhost' } },
  { name: 'an authority with a user part', trusted: false, headers: { host: 'localhost:8000@evil.test' } },
  { name: 'no host at all', trusted: false, headers: { host: '' } },
  {
    name: 'the configured host name',
    trusted: true,
    headers: { host: 'box.corp.test:80' },
    settings: { host: 'Box.corp.test' },
  },
  { name: 'a page from elsewhere', trusted: false, headers: { origin: 'https://evil.test' } },
  ...['http://evil.test/.localhost', 'http://evil.test#.localhost', 'http://evil.test?.localhost'].map(
    (origin) => ({ name: `a page from ${origin}`, trusted: false, headers: { origin } }),
  ),
  ...['evil.test/.localhost', 'evil.test#.localhost', 'a@b.localhost', 'evil.test\\.localhost'].map(
    (host) => ({
      name: `the host ${host}`,
      trusted: false,
      headers: { host },
    }),
  ),
  { name: 'a page without an origin', trusted: false, headers: { origin: 'null' } },
  { name: 'a page of this machine', trusted: true, headers: { origin: 'http://localhost:3000' } },
  {
    name: 'a page whose name begins like loopback',
    trusted: false,
    headers: { origin: 'http://localhost.evil.test' },
  },
  {
    name: 'a page that the configuration names',
    trusted: true,
    headers: { origin: 'https://App.test' },
    settings: { cors_origins: ['https://app.test'] },
  },
  {
    name: 'any page where every origin may read',
    trusted: false,
    headers: { origin: 'https://evil.test' },
    settings: { cors_origins: ['*'] },
  },
  {
    name: 'a local client of a trusted proxy',
    trusted: true,
    headers: { 'x-forwarded-for': '127.0.0.1' },
    settings: proxied,
  },
  {
    name: 'a remote client of a trusted proxy',
    trusted: false,
    headers: { 'x-forwarded-for': '203.0.113.9' },
    settings: proxied,
  },
  {
    name: 'a remote client that claims to be local',
    trusted: false,
    headers: { 'x-forwarded-for': '127.0.0.1, 203.0.113.9' },
    settings: proxied,
  },
  {
    name: 'through two trusted proxies',
    trusted: true,
    headers: { 'x-forwarded-for': '127.0.0.1, 10.1.2.3' },
    settings: proxied,
  },
  {
    name: 'a trusted proxy that lets another header pass',
    trusted: false,
    headers: { 'x-forwarded-for': '203.0.113.9', forwarded: 'for=127.0.0.1' },
    settings: proxied,
  },
  {
    name: 'the standard header',
    trusted: true,
    headers: { forwarded: 'for="[::1]:4711";proto=http' },
    settings: proxied,
  },
  {
    name: 'the standard header, obfuscated',
    trusted: false,
    headers: { forwarded: 'for=_hidden' },
    settings: proxied,
  },
  {
    name: 'the standard header without a client',
    trusted: false,
    headers: { forwarded: 'proto=http' },
    settings: proxied,
  },
  { name: 'only Via', trusted: false, headers: { via: '1.1 proxy' }, settings: proxied },
  {
    name: 'an untrusted peer that forwards',
    trusted: false,
    address: '192.168.1.7',
    headers: { 'x-forwarded-for': '127.0.0.1' },
    settings: proxied,
  },
  {
    name: 'an empty forwarding header',
    trusted: false,
    headers: { 'x-forwarded-for': '' },
    settings: proxied,
  },
];

test('loopback is trusted only where the request comes from this machine and was meant for it', async () => {
  let ran = 0;
  for (const { name, trusted, address, headers, settings: requested } of loopbackCases) {
    const id = await getId(buildSettings(requested), headers ?? {}, address);
    assert.equal(id, trusted ? 'loopback' : 'unauthenticated', name);
    ran++;
  }
  assert.equal(ran, loopbackCases.length);
  assert.ok(ran >= 38, String(ran));
});

test('who is refused on loopback learns what made it so', async () => {
  const reasonFor = async (
    requested: AccessOptions,
    headers: Record<string, string>,
    address = '127.0.0.1',
  ) => {
    const outcome = await openAuthenticator(buildSettings(requested))({
      address,
      headers: { host: 'localhost', ...headers },
    });
    return 'denied' in outcome ? outcome.reason : '';
  };
  assert.match(await reasonFor({}, { host: 'evil.test' }), /`Host`, `Origin` or a forwarding header/);
  assert.match(await reasonFor({}, {}, '203.0.113.9'), /^A credential is needed/);
  assert.match(await reasonFor({ auth: { required: true } }, {}), /^A credential is needed/);
});

function createTestKey(entry: Partial<ApiKey> = {}): { key: string; entry: ApiKey } {
  const made = createApiKey('ci');
  return { key: made.key, entry: { ...made.entry, ...entry } };
}

test('a wrong credential is refused, also on loopback', async () => {
  const access = buildSettings();
  ensureToken(access.state_dir, 'operator');
  const wrong = [
    { authorization: 'Bearer nonsense' },
    { authorization: 'Basic dXNlcjpwYXNz' },
    { authorization: 'Bearer' },
    { authorization: '' },
    { 'x-service-key': '' },
    { 'x-service-key': 'svc_operator_' },
    { authorization: `Bearer svc_operator_${'A'.repeat(43)}` },
    { authorization: `Bearer svc_agent_${'A'.repeat(43)}` },
    { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.x' },
  ];
  for (const headers of wrong) {
    assert.equal(
      await getId(access, headers as Record<string, string>),
      'unauthenticated',
      JSON.stringify(headers),
    );
  }
});

test('the operator token makes a person, from anywhere', async () => {
  const access = buildSettings();
  const { token, created } = ensureToken(access.state_dir, 'operator');
  assert.ok(created);
  assert.match(token, /^svc_operator_[A-Za-z0-9_-]{43}$/);
  assert.equal(statSync(getTokenPath(access.state_dir, 'operator')).mode & 0o777, 0o600);
  assert.deepEqual(ensureToken(access.state_dir, 'operator'), { token, created: false });
  const authenticate = openAuthenticator(access);
  for (const headers of [{ authorization: `Bearer ${token}` }, { 'x-service-key': token }]) {
    const caller = await authenticate({ address: '203.0.113.9', headers });
    assert.ok('kind' in caller);
    assert.equal(caller.kind, 'person');
    assert.ok(caller.permissions.includes('policy:reload'));
  }
});

test('a rotated token is followed within a second, and the old one refused', async () => {
  let nowMs = 0;
  const access = buildSettings({ now_ms: () => nowMs });
  const old = ensureToken(access.state_dir, 'operator').token;
  const authenticate = openAuthenticator(access);
  const idFor = async (token: string) => {
    const outcome = await authenticate({ address: '203.0.113.9', headers: { 'x-service-key': token } });
    return 'denied' in outcome ? outcome.denied : outcome.id;
  };
  assert.equal(await idFor(old), 'operator');
  const fresh = rotateToken(access.state_dir, 'operator');
  nowMs += 1_000;
  assert.equal(await idFor(old), 'unauthenticated');
  assert.equal(await idFor(fresh), 'operator');
  rmSync(getTokenPath(access.state_dir, 'operator'));
  nowMs += 1_000;
  assert.equal(await idFor(fresh), 'unauthenticated');
});

test('a token file is private, and one that holds something else is replaced', () => {
  const stateDir = mkdtempSync(join(scratch, 'state-'));
  const { token } = ensureToken(stateDir, 'operator');
  chmodSync(getTokenPath(stateDir, 'operator'), 0o644);
  ensureToken(stateDir, 'operator');
  assert.equal(statSync(getTokenPath(stateDir, 'operator')).mode & 0o777, 0o600);
  for (const broken of ['', 'svc_operator_short', token.replace('operator', 'agent'), 'x'.repeat(1000)]) {
    writeFileSync(getTokenPath(stateDir, 'operator'), broken);
    assert.equal(readToken(stateDir, 'operator'), null);
    const made = ensureToken(stateDir, 'operator');
    assert.ok(made.created);
    assert.equal(readToken(stateDir, 'operator'), made.token);
  }
});

test('an agent token is needed where others call and no authentication is configured', () => {
  const withKey = { ...NO_AUTH, api_keys: [createTestKey().entry] };
  const cases: readonly [AuthSettings, string, boolean][] = [
    [NO_AUTH, '127.0.0.1', false],
    [NO_AUTH, 'localhost', false],
    [NO_AUTH, '::1', false],
    [NO_AUTH, '0.0.0.0', true],
    [NO_AUTH, '::', true],
    [NO_AUTH, '192.168.1.5', true],
    [{ ...NO_AUTH, required: true }, '127.0.0.1', true],
    [withKey, '0.0.0.0', false],
    [{ ...withKey, required: true }, '127.0.0.1', false],
  ];
  for (const [auth, host, needed] of cases) assert.equal(needsAgentToken({ auth, host }), needed, host);
});

test('the agent token checks and decides nothing, and ends when keys are configured', async () => {
  const stateDir = mkdtempSync(join(scratch, 'state-'));
  const { token } = ensureToken(stateDir, 'agent');
  const headers = { 'x-service-key': token };
  const caller = await openAuthenticator(buildSettings({ state_dir: stateDir, host: '0.0.0.0' }))({
    address: '203.0.113.9',
    headers,
  });
  assert.ok('kind' in caller);
  assert.equal(caller.kind, 'agent');
  assert.ok(caller.permissions.includes('check'));
  for (const decides of OPERATOR_PERMISSIONS) assert.ok(!caller.permissions.includes(decides));
  const keyed = buildSettings({ state_dir: stateDir, auth: { api_keys: [createTestKey().entry] } });
  assert.equal(await getId(keyed, headers, '203.0.113.9'), 'unauthenticated');
});

test('API keys: scope, permissions, expiry, overlap', async () => {
  const plain = createTestKey();
  const scoped = createTestKey({
    id: 'scoped',
    tenants: ['acme'],
    agents: ['a', 'b'],
    permissions: ['check', 'policy:reload', 'memory:purge'],
  });
  const expired = createTestKey({ id: 'expired', expires_at: '2025-12-31T23:59:59Z' });
  const lasting = createTestKey({ id: 'expired', expires_at: '2026-06-01T00:00:00Z' });
  const unreadable = createTestKey({ id: 'unreadable', expires_at: 'tomorrow' });
  const reading = createTestKey({
    id: 'reading',
    permissions: ['audit:read', 'approvals:read', 'approvals:decide'],
  });
  const all = [plain, scoped, reading, expired, lasting, unreadable];
  const access = buildSettings({ auth: { api_keys: all.map(({ entry }) => entry) } });
  const authenticate = openAuthenticator(access);
  const callerOf = (credential: string) =>
    authenticate({ address: '203.0.113.9', headers: { authorization: `bearer ${credential}` } });
  assert.deepEqual(await callerOf(plain.key), {
    id: 'key:ci',
    kind: 'agent',
    permissions: CREDENTIAL_PERMISSIONS,
    tenants: '*',
    agents: '*',
  });
  // The permissions that need an operator are removed, whatever the configuration grants.
  assert.deepEqual(await callerOf(scoped.key), {
    id: 'key:scoped',
    kind: 'agent',
    permissions: ['check'],
    tenants: ['acme'],
    agents: ['a', 'b'],
  });
  // A permission for the whole audit log, or all requests, includes the caller's own part.
  const auditor = await callerOf(reading.key);
  assert.deepEqual('permissions' in auditor && auditor.permissions, [
    'audit:read_own',
    'audit:read',
    'approvals:own',
    'approvals:read',
  ]);
  assert.equal(await getId(access, { 'x-service-key': expired.key }), 'unauthenticated');
  assert.equal(await getId(access, { 'x-service-key': lasting.key }), 'key:expired');
  assert.equal(await getId(access, { 'x-service-key': unreadable.key }), 'unauthenticated');
  assert.equal(await getId(access, { 'x-service-key': plain.key.slice(0, -1) }), 'unauthenticated');
  // The hash in the configuration is not a credential.
  assert.equal(await getId(access, { 'x-service-key': hashToken(plain.key) }), 'unauthenticated');
  assert.equal(await getId(access, {}), 'loopback');
});

test('a proxy says for whom it asks only where it is configured to, and may do nothing itself', async () => {
  const forwarded = { 'x-forwarded-for': '203.0.113.9', 'x-service-user': 'ann' };
  const vouching: AccessOptions = { ...proxied, proxy_identity: true };
  const rows: readonly (readonly [string, AccessOptions, Record<string, string>, string, string])[] = [
    ['it is configured', vouching, forwarded, '10.1.2.3', 'proxy'],
    [
      'loopback needs a credential',
      { ...vouching, auth: { ...vouching.auth, required: true } },
      forwarded,
      '10.1.2.3',
      'proxy',
    ],
    ['it is not configured', proxied, forwarded, '10.1.2.3', 'unauthenticated'],
    ['it names nobody', vouching, { 'x-forwarded-for': '203.0.113.9' }, '10.1.2.3', 'unauthenticated'],
    ['another machine', vouching, forwarded, '192.0.2.7', 'unauthenticated'],
    [
      'a wrong credential beside it',
      vouching,
      { ...forwarded, 'x-service-key': 'x' },
      '10.1.2.3',
      'unauthenticated',
    ],
    ['a program on this machine', vouching, { 'x-service-user': 'ann' }, '127.0.0.1', 'loopback'],
  ];
  for (const [name, requested, headers, address, expected] of rows)
    assert.equal(await getId(buildSettings(requested), headers, address), expected, name);
  assert.equal(rows.length, 7);
  const outcome = await openAuthenticator(buildSettings(vouching))({
    address: '10.1.2.3',
    headers: forwarded,
  });
  assert.ok('permissions' in outcome && outcome.permissions.length === 0);
});
