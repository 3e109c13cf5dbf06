import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expectRows } from '../src/core/testing/expect-rows.ts';
import { startOpenIdProvider } from './support/openid-provider.ts';
import { startTestService, type TestService } from './support/service.ts';

const CLIENT = { id: 'console', secret: ['a', 'secret', 'for', 'tests'].join('-') };

/** Returns a free port, because the provider must know the address of the service beforehand. */
async function findPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}

/** Keeps cookies per origin, as a browser does, and follows no redirect. */
function openBrowser() {
  const jar = new Map<string, Map<string, string>>();
  return {
    jar,
    get: async (url: string, more: Record<string, string> = {}) => {
      const { origin } = new URL(url);
      const own = jar.get(origin) ?? new Map<string, string>();
      jar.set(origin, own);
      const cookie = [...own].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, {
        redirect: 'manual',
        headers: { ...(cookie !== '' && { cookie }), ...more },
      });
      for (const line of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === '' || /max-age=0/i.test(line)) own.delete(name!);
        else own.set(name!, value!);
      }
      const location = response.headers.get('location');
      return {
        status: response.status,
        location: location === null ? null : new URL(location, url).href,
        cookies: response.headers.getSetCookie(),
        text: await response.text(),
      };
    },
  };
}

type Browser = ReturnType<typeof openBrowser>;

/** Follows redirects until one leads to a path of the service that `ends` accepts. */
async function follow(browser: Browser, url: string, ends: (url: URL) => boolean): Promise<string> {
  let at = url;
  for (let hops = 0; hops < 12; hops += 1) {
    const { location, status, text } = await browser.get(at);
    assert.ok(location !== null, `${status} ${text.slice(0, 300)} at ${at}`);
    at = location;
    if (ends(new URL(at))) return at;
  }
  throw new Error('too many redirects');
}

const isCallback = (url: URL): boolean => url.pathname === '/v1/auth/oidc/callback';

const serviceWith = (issuer: string, port: number, more: object = {}): Promise<TestService> =>
  startTestService({
    config: {
      server: { port, workers: 2 },
      auth: {
        oidc: {
          issuer,
          client_id: CLIENT.id,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration's own form.
          client_secret: '${OIDC_SECRET}',
          role_mapping: { 'safety-admins': 'admin', staff: 'viewer' },
          tenant_mapping: { everything: '*', acme: 'acme' },
          ...more,
        },
      },
    },
    env: { OIDC_SECRET: CLIENT.secret },
  });

test('a user signs in at a real OpenID provider, with roles and tenants from claims', async (t) => {
  const port = await findPort();
  const origin = `http://localhost:${port}`;
  const provider = await startOpenIdProvider(t, { ...CLIENT, origin });
  Object.assign(provider.claims, {
    ...{ email: 'Ann@Example.com', email_verified: true, name: 'Ann' },
    ...{ groups: ['staff', 'other'], tenants: 'acme' },
  });
  const service = await serviceWith(provider.issuer, port);
  t.after(() => service.stop());
  const browser = openBrowser();
  const start = `${origin}/v1/auth/oidc/start?return_to=${encodeURIComponent('/dashboard/incidents?last=7d')}`;
  const callback = await follow(browser, start, isCallback);
  const done = await browser.get(callback, { 'sec-fetch-site': 'cross-site' });
  assert.equal(done.status, 303);
  assert.equal(done.location, `${origin}/dashboard/incidents?last=7d`);
  assert.ok(done.cookies.some((one) => /^service-session=[\w-]{43}; .*SameSite=Strict/.test(one)));
  const who = JSON.parse((await browser.get(`${origin}/v1/session`)).text);
  assert.partialDeepStrictEqual(who, {
    ...{ user_id: 'ann@example.com', name: 'Ann', source: 'oidc' },
    ...{ roles: ['viewer'], tenants: ['acme'] },
  });

  const replayed = await browser.get(callback);
  assert.equal(replayed.location, `${origin}/dashboard/sign-in?error=refused`);
  assert.ok(!replayed.cookies.some((one) => /^service-session=\w/.test(one)));

  provider.claims.groups = ['safety-admins'];
  provider.claims.tenants = ['everything'];
  const again = await follow(browser, `${origin}/v1/auth/oidc/start`, isCallback);
  assert.equal((await browser.get(again)).location, `${origin}/dashboard`);
  const now = JSON.parse((await browser.get(`${origin}/v1/session`)).text);
  assert.deepEqual([now.roles, now.tenants], [['admin'], ['*']], 'the claims of the last sign-in hold');

  const out = await fetch(`${origin}/v1/session/sign-out`, {
    method: 'POST',
    headers: {
      'x-csrf-token': now.csrf_token,
      cookie: `service-session=${browser.jar.get(origin)!.get('service-session')}`,
    },
  });
  const { location } = (await out.json()) as { location: string };
  assert.ok(location.startsWith(`${provider.issuer}/session/end?`), location);

  provider.claims.groups = ['unknown'];
  const none = await follow(openBrowser(), `${origin}/v1/auth/oidc/start`, isCallback);
  const stranger = openBrowser();
  const stolen = await stranger.get(none);
  assert.equal(stolen.location, `${origin}/dashboard/sign-in?error=refused`, 'another browser began it');

  for (const path of [
    '//evil.test',
    'https://evil.test',
    '/dashboard/../../evil',
    '/\\evil.test',
    '/x',
    '/dashboard\\@evil.test',
  ]) {
    provider.claims.groups = ['staff'];
    const elsewhere = openBrowser();
    const back = await follow(
      elsewhere,
      `${origin}/v1/auth/oidc/start?return_to=${encodeURIComponent(path)}`,
      isCallback,
    );
    assert.equal((await elsewhere.get(back)).location, `${origin}/dashboard`, path);
  }
  // A text counts as what it says, not as true.
  for (const emailVerified of ['false', false, 0, null]) {
    const unverified = openBrowser();
    Object.assign(provider.claims, { email_verified: emailVerified });
    const sent = await follow(unverified, `${origin}/v1/auth/oidc/start`, isCallback);
    const { location } = await unverified.get(sent);
    assert.equal(location, `${origin}/dashboard/sign-in?error=no_access`, String(emailVerified));
  }
  provider.claims.email_verified = true;
  provider.claims.groups = ['unknown'];
  const denied = openBrowser();
  const refused = await follow(denied, `${origin}/v1/auth/oidc/start`, isCallback);
  assert.equal((await denied.get(refused)).location, `${origin}/dashboard/sign-in?error=no_access`);
});

/** The change that a false provider makes to a valid answer. */
interface Falsification {
  readonly name: string;
  readonly claims?: (claims: Record<string, unknown>) => Record<string, unknown>;
  readonly signed_by_other?: true;
  readonly unsigned?: true;
  readonly query?: (query: URLSearchParams) => void;
}

const now = (): number => Math.floor(Date.now() / 1_000);

const FALSIFICATIONS: readonly Falsification[] = [
  { name: 'another nonce', claims: (claims) => ({ ...claims, nonce: 'other' }) },
  { name: 'no nonce', claims: ({ nonce: _, ...rest }) => rest },
  { name: 'another issuer', claims: (claims) => ({ ...claims, iss: 'https://evil.test' }) },
  { name: 'another audience', claims: (claims) => ({ ...claims, aud: 'other' }) },
  { name: 'no audience', claims: ({ aud: _, ...rest }) => rest },
  { name: 'expired', claims: (claims) => ({ ...claims, exp: now() - 120, iat: now() - 400 }) },
  { name: 'not yet valid', claims: (claims) => ({ ...claims, nbf: now() + 600 }) },
  { name: 'without an end', claims: ({ exp: _, ...rest }) => rest },
  { name: 'a key of someone else', signed_by_other: true },
  { name: 'no signature', unsigned: true },
  { name: 'another state', query: (query) => query.set('state', 'A'.repeat(43)) },
  { name: 'no state', query: (query) => query.delete('state') },
  { name: 'no code', query: (query) => query.delete('code') },
  { name: 'an error of the provider', query: (query) => query.set('error', 'access_denied') },
  { name: 'the issuer of someone else', query: (query) => query.set('iss', 'https://evil.test') },
];

test('an answer of a false provider begins no session', async (t) => {
  const provider = await startFalseProvider(t);
  const port = await findPort();
  const service = await serviceWith(provider.issuer, port);
  t.after(() => service.stop());
  const origin = `http://localhost:${port}`;
  const attempt = async (change: Falsification | null) => {
    const browser = openBrowser();
    const { location } = await browser.get(`${origin}/v1/auth/oidc/start`);
    const asked = new URL(location!);
    assert.equal(asked.searchParams.get('code_challenge_method'), 'S256');
    provider.prepare(asked.searchParams.get('nonce')!, change);
    const query = new URLSearchParams({ code: 'c', state: asked.searchParams.get('state')! });
    change?.query?.(query);
    const done = await browser.get(`${origin}/v1/auth/oidc/callback?${query}`);
    return { ...done, has_session: browser.jar.get(origin)!.has('service-session') };
  };
  const valid = await attempt(null);
  assert.deepEqual([valid.location, valid.has_session], [`${origin}/dashboard`, true], 'the control');
  for (const change of expectRows(15, FALSIFICATIONS)) {
    const { status, location, has_session } = await attempt(change);
    assert.deepEqual(
      [status, location, has_session],
      [303, `${origin}/dashboard/sign-in?error=refused`, false],
      change.name,
    );
  }
});

/** A provider that signs what a test prepares. */
async function startFalseProvider(t: TestContext) {
  const [own, other] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'k', alg: 'RS256', use: 'sig' };
  let token = '';
  let pending: Promise<void> = Promise.resolve();
  const server = createServer(async (request, response) => {
    await pending;
    const answers: Record<string, object> = {
      '/.well-known/openid-configuration': {
        ...{ issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` },
        ...{ jwks_uri: `${issuer}/jwks`, response_types_supported: ['code'] },
        ...{ id_token_signing_alg_values_supported: ['RS256'], subject_types_supported: ['public'] },
        code_challenge_methods_supported: ['S256'],
      },
      '/jwks': { keys: [jwk] },
      '/token': { access_token: 'a', token_type: 'bearer', expires_in: 60, id_token: token },
    };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answers[request.url!.split('?')[0]!] ?? {}));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
  const prepare = (nonce: string, change: Falsification | null): void => {
    const valid = {
      ...{ iss: issuer, aud: CLIENT.id, sub: 's', nonce, iat: now(), exp: now() + 60 },
      ...{ email: 'eve@example.com', groups: ['staff'], tenants: ['acme'] },
    };
    const claims = change?.claims?.(valid) ?? valid;
    if (change?.unsigned) {
      const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      token = `${encode({ alg: 'none' })}.${encode(claims)}.`;
      return;
    }
    const key = change?.signed_by_other ? other.privateKey : own.privateKey;
    pending = new SignJWT(claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .sign(key)
      .then((signed) => {
        token = signed;
      });
  };
  return { issuer, prepare };
}
