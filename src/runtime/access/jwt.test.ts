import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { exportJWK, SignJWT } from 'jose';
import { openAuthenticator } from './index.ts';
import type { JwtSettings } from './settings.ts';
import { CREDENTIAL_PERMISSIONS } from './testing/credential-permissions.ts';

const scratch = mkdtempSync(join(tmpdir(), 'jwt-'));
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
const others = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  p384: generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
  ed25519: generateKeyPairSync('ed25519').privateKey,
};
const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const files = { pem: join(scratch, 'key.pem'), jwks: join(scratch, 'jwks.json') };

let keyServer: Server;
let keyServerAnswers = true;

before(async () => {
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'k1' }] });
  writeFileSync(files.pem, pem);
  writeFileSync(files.jwks, jwks);
  keyServer = createServer((_request, response) => {
    response.statusCode = keyServerAnswers ? 200 : 500;
    response.end(jwks);
  });
  await new Promise<void>((done) => keyServer.listen(0, '127.0.0.1', done));
});

after(() => {
  keyServer.close();
  rmSync(scratch, { recursive: true, force: true });
});

const NOW_MS = Date.UTC(2026, 5, 1);
const NOW_S = NOW_MS / 1000;

const base: JwtSettings = { issuer: 'https://id.test', audience: 'agents', public_key_file: files.pem };

async function answer(token: string, jwt: JwtSettings = base) {
  const authenticate = openAuthenticator({
    auth: { required: false, trusted_proxies: [], api_keys: [], jwt },
    host: '127.0.0.1',
    cors_origins: [],
    state_dir: scratch,
    now_ms: () => NOW_MS,
  });
  return await authenticate({ address: '203.0.113.9', headers: { authorization: `Bearer ${token}` } });
}

const GOOD = { sub: 'worker-7', iss: 'https://id.test', aud: 'agents', exp: NOW_S + 600 };

async function sign(claims: object, alg = 'ES256', key = privateKey): Promise<string> {
  return await new SignJWT({ ...claims }).setProtectedHeader({ alg, kid: 'k1' }).sign(key);
}

test('a good token gives what its claims say, and the defaults where they are silent', async () => {
  assert.deepEqual(await answer(await sign(GOOD)), {
    id: 'jwt:worker-7',
    kind: 'agent',
    permissions: CREDENTIAL_PERMISSIONS,
    tenants: '*',
    agents: '*',
    user: { user_id: 'worker-7', user_email: null, groups: [], scopes: null },
    expires_ms: NOW_MS + 630_000,
  });
  const claims = {
    ...GOOD,
    org: { tenant: 'acme' },
    agent_id: ['a', 'b'],
    scope: 'check audit:read policy:reload approvals:decide',
  };
  const settings = { ...base, claims: { tenants: 'org.tenant', permissions: 'scope' } };
  assert.deepEqual(await answer(await sign(claims), settings), {
    id: 'jwt:worker-7',
    kind: 'agent',
    permissions: ['check', 'audit:read_own', 'audit:read'],
    tenants: ['acme'],
    agents: ['a', 'b'],
    user: { user_id: 'worker-7', user_email: null, groups: [], scopes: claims.scope.split(' ') },
    expires_ms: NOW_MS + 630_000,
  });
});

function buildUnsignedToken(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'none' })}.${part(claims)}.AA`;
}

test('every other token is refused', async () => {
  const good = await sign(GOOD);
  const hmac = new TextEncoder().encode(pem);
  const bad: Record<string, string> = {
    'another issuer': await sign({ ...GOOD, iss: 'https://evil.test' }),
    'another audience': await sign({ ...GOOD, aud: 'people' }),
    'no audience': await sign({ ...GOOD, aud: undefined }),
    expired: await sign({ ...GOOD, exp: NOW_S - 31 }),
    'without expiry': await sign({ ...GOOD, exp: undefined }),
    'not yet valid': await sign({ ...GOOD, nbf: NOW_S + 31 }),
    'without subject': await sign({ ...GOOD, sub: undefined }),
    'a subject with a line break': await sign({ ...GOOD, sub: 'a\nb' }),
    'a subject that is no text': await sign({ ...GOOD, sub: 7 }),
    'a scope that is no list': await sign({ ...GOOD, tenant_id: { any: true } }),
    'a scope with something else in it': await sign({ ...GOOD, agent_id: ['a', 7] }),
    'the key of a stranger': await sign(GOOD, 'ES256', stranger),
    'an RSA key, where the service has one on a curve': await sign(GOOD, 'RS256', others.rsa),
    'an RSA key with PSS': await sign(GOOD, 'PS256', others.rsa),
    'a key on another curve': await sign(GOOD, 'ES384', others.p384),
    'an Edwards key': await sign(GOOD, 'EdDSA', others.ed25519),
    'the public key used as a shared one': await new SignJWT(GOOD)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(hmac),
    unsigned: buildUnsignedToken(GOOD),
    'a changed signature': `${good.slice(0, -4)}AAAA`,
    'cut off': good.slice(0, -20),
    'longer than any': `${good}${'A'.repeat(20_000)}`,
  };
  let ran = 0;
  for (const [name, token] of Object.entries(bad)) {
    for (const keys of [base, { issuer: base.issuer, audience: 'agents', jwks_file: files.jwks }]) {
      const outcome = await answer(token, keys);
      assert.deepEqual('denied' in outcome && outcome.denied, 'unauthenticated', name);
      assert.ok(!JSON.stringify(outcome).includes('worker'), name);
    }
    ran++;
  }
  assert.equal(ran, 21);
});

async function findCaller(claims: object, jwt: JwtSettings = base) {
  const outcome = await answer(await sign({ ...GOOD, ...claims }), jwt);
  assert.ok('id' in outcome, JSON.stringify(outcome));
  return outcome;
}

test('a token proves the person, the chain and the tier', async () => {
  const act = { sub: 'mailer', act: { sub: 'planner', act: { sub: 'lead' } } };
  const { user, chain, agent_tier } = await findCaller({
    sub: 'alice',
    email: 'alice@corp.test',
    groups: ['finance', 'staff'],
    scope: 'email.read  email.send',
    act,
    agent_tier: 'subagent',
  });
  assert.deepEqual(user, {
    user_id: 'alice',
    user_email: 'alice@corp.test',
    groups: ['finance', 'staff'],
    scopes: ['email.read', 'email.send'],
  });
  assert.deepEqual(chain, ['lead', 'planner', 'mailer']);
  assert.equal(agent_tier, 'subagent');
});

test('claims of the person have configurable names', async () => {
  const claims = {
    user: 'person.name',
    user_email: 'mail',
    groups: 'roles',
    scopes: 'rights',
    chain: 'agents',
    agent_tier: 'mode',
  };
  const { user, chain, agent_tier } = await findCaller(
    {
      person: { name: 'alice' },
      mail: 'a@corp.test',
      roles: 'finance',
      rights: ['x'],
      scope: 'y',
      agents: ['lead', { sub: 'mailer' }],
      mode: 'api',
    },
    { ...base, claims },
  );
  assert.deepEqual(user, { user_id: 'alice', user_email: 'a@corp.test', groups: ['finance'], scopes: ['x'] });
  assert.deepEqual(chain, ['lead', 'mailer']);
  assert.equal(agent_tier, 'api');
  assert.deepEqual((await findCaller({ scp: ['a', 'b'] })).user?.scopes, ['a', 'b']);
  assert.equal((await findCaller({ email: 'a@corp.test', email_verified: false })).user?.user_email, null);
});

test('a service account is no person', async () => {
  const marked = { ...base, claims: { service_account: 'is_robot' } };
  const named = { ...base, claims: { user: 'preferred_username' } };
  assert.equal((await findCaller({ client_id: 'worker-7' })).user, undefined);
  assert.equal((await findCaller({ azp: 'worker-7' })).user, undefined);
  assert.equal((await findCaller({ sub: 'app@clients', azp: 'app' })).user, undefined);
  assert.equal((await findCaller({ azp: 'app', preferred_username: 'service-account-app' })).user, undefined);
  assert.equal((await findCaller({ gty: 'client-credentials' })).user, undefined);
  assert.equal((await findCaller({ idtyp: 'app' })).user, undefined);
  assert.equal((await findCaller({ sub: 'system:serviceaccount:ns:bot' })).user, undefined);
  assert.equal((await findCaller({ is_robot: true }, marked)).user, undefined);
  assert.equal((await findCaller({}, named)).user, undefined);
  // Negative controls: the client in a person's token, and a mark that is off.
  assert.equal((await findCaller({ azp: 'app', client_id: 'app' })).user?.user_id, 'worker-7');
  assert.equal((await findCaller({ is_robot: false }, marked)).user?.user_id, 'worker-7');
});

/** Nests actors: the last one acts now. */
function nestActors(names: readonly string[]): object | undefined {
  return names.reduce<object | undefined>((act, sub) => ({ sub, ...(act && { act }) }), undefined);
}

const numbered = (count: number) => Array.from({ length: count }, (_, at) => `agent-${at}`);

test('a token with an unreadable principal is refused', async () => {
  const bad: Record<string, object> = {
    'an address that is no text': { email: 7 },
    'a long address': { email: `${'a'.repeat(320)}@corp.test` },
    'groups that are no list': { groups: { finance: true } },
    'a group that is no text': { groups: ['finance', 7] },
    'too many groups': { groups: numbered(501) },
    'scopes that are no list': { scope: { read: true } },
    'an unknown tier': { agent_tier: 'root' },
    'a tier that is no text': { agent_tier: ['api'] },
    'a person of 257 characters': { name: 'a'.repeat(257) },
    'a person with a line break': { name: 'a\nb' },
    'a person who is no text': { name: ['alice'] },
    'a chain that is a number': { act: 7 },
    'an actor without a name': { act: { act: { sub: 'lead' } } },
    'an actor that is no text': { act: { sub: 7 } },
    'a link of 257 characters': { act: { sub: 'a'.repeat(257) } },
    'a chain with a loop': { act: nestActors(['lead', 'mailer', 'lead']) },
    'a chain of 17 links': { act: nestActors(numbered(17)) },
    'a chain of 100 links': { act: nestActors(numbered(100)) },
    'a list of 17 links': { act: numbered(17) },
  };
  const jwt = { ...base, claims: { user: 'name' } };
  for (const [name, claims] of Object.entries(bad)) {
    const outcome = await answer(await sign({ ...GOOD, ...claims }), jwt);
    assert.equal('denied' in outcome && outcome.denied, 'unauthenticated', name);
  }
  assert.equal((await findCaller({ act: nestActors(numbered(16)) })).chain?.length, 16);
});

test('clocks may differ by the tolerance', async () => {
  const late = await sign({ ...GOOD, exp: NOW_S - 29 });
  assert.ok('id' in (await answer(late)));
  assert.ok('denied' in (await answer(late, { ...base, clock_tolerance_seconds: 0 })));
});

test('only algorithms on the list are accepted', async () => {
  assert.ok('denied' in (await answer(await sign(GOOD), { ...base, algorithms: ['RS256'] })));
  assert.ok('id' in (await answer(await sign(GOOD), { ...base, algorithms: ['ES256'] })));
  // HMAC is refused even if the configuration lists it.
  assert.ok('denied' in (await answer(await sign(GOOD), { ...base, algorithms: ['HS256'] })));
});

test('keys come from a file or an address, and an outage is not reported as an invalid token', async () => {
  const token = await sign(GOOD);
  const where = { issuer: base.issuer, audience: ['people', 'agents'] };
  const url = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}/jwks`;
  assert.ok('id' in (await answer(token, { ...where, jwks_file: files.jwks })));
  assert.ok('id' in (await answer(token, { ...where, jwks_url: url })));
  keyServerAnswers = false;
  for (const outage of [
    { ...where, jwks_url: url },
    { ...where, jwks_url: 'http://127.0.0.1:1/jwks' },
    { ...where, public_key_file: join(scratch, 'missing.pem') },
  ]) {
    const outcome = await answer(token, outage);
    assert.deepEqual('denied' in outcome && outcome.denied, 'unavailable');
  }
  keyServerAnswers = true;
});
