import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { TOTP } from 'otpauth';
import { MAIN_FILE } from '../src/entry/cli/testing/main-file.ts';
import { hashToken } from '../src/runtime/access/tokens.ts';
import { startTestService, type TestService } from './support/service.ts';

/** The interval at which streams check credentials that the store does not keep. */
const HEARTBEAT_MS = 30_000;
const PASSWORD = ['correct', 'horse', 'battery'].join(' ');
/** An answer of a browser that belongs to no challenge. */
const NO_PASSKEY = {
  id: 'AQIDBA',
  rawId: 'AQIDBA',
  type: 'public-key',
  response: { clientDataJSON: 'e30' },
  clientExtensionResults: {},
};
let service: TestService;
/** The link that a start at a terminal prints. */
const link = `svc_link_${randomBytes(32).toString('base64url')}`;

before(async () => {
  service = await startTestService({ config: { auth: { sign_in: { attempt_delay: '30s' } } } });
  const store = new DatabaseSync(join(service.state_dir, 'store.db'), { timeout: 30_000 });
  const insert = 'INSERT INTO user_links (token_sha256, user_id, expires_ms) VALUES (?, NULL, ?)';
  store.prepare(insert).run(hashToken(link), Date.now() + 3_600_000);
  store.close();
});
after(() => service.stop());

interface Answer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape.
  readonly json: any;
  readonly cookies: readonly string[];
}

/** A browser: it keeps its cookies, and sends the CSRF token. */
function openBrowser() {
  const jar = { cookie: '', device: '', csrf: '' };
  const ask = (method: string, path: string, body?: object, more: Record<string, string> = {}) =>
    new Promise<Answer>((done, fail) => {
      const headers = {
        ...((jar.cookie || jar.device) !== '' && {
          cookie: [jar.cookie, jar.device].filter((one) => one !== '').join('; '),
        }),
        ...(method !== 'GET' && { origin: service.url, 'x-csrf-token': jar.csrf }),
        ...(body && { 'content-type': 'application/json' }),
        ...more,
      };
      const sent = request(`${service.url}${path}`, { method, headers, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const cookies = response.headers['set-cookie'] ?? [];
          for (const [place, name] of [
            ['cookie', 'service-session='],
            ['device', 'service-device='],
          ] as const)
            jar[place] = cookies.find((one) => one.startsWith(name))?.split(';')[0] ?? jar[place];
          const text = Buffer.concat(chunks).toString('utf8');
          done({ status: response.statusCode ?? 0, json: JSON.parse(text), cookies });
        });
      });
      sent.on('error', fail);
      sent.end(body && JSON.stringify(body));
    });
  const refresh = async (): Promise<Answer> => {
    const shown = await ask('GET', '/v1/session');
    jar.csrf = shown.json.csrf_token ?? '';
    return shown;
  };
  return { jar, ask, refresh };
}

const admin = openBrowser();

test('a log has the command for a link, and no link', () => {
  assert.doesNotMatch(service.logs(), /svc_link/);
  assert.match(
    service.logs(),
    /Console {2}create the first administrator, once: `\S+ users add NAME --role admin/,
  );
});

test('a start at a terminal prints a link that works once', async (t) => {
  const cwd = mkdtempSync(join(tmpdir(), 'terminal-'));
  const serve = `exec '${process.execPath}' '${MAIN_FILE}' serve --workers 1 --port 0`;
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env;
  const terminal = spawn('script', ['-qefc', serve, '/dev/null'], {
    cwd,
    env: { PATH, HOME, NODE_COMPILE_CACHE, SHELL: '/bin/sh' },
  });
  const closed = once(terminal, 'close');
  t.after(async () => {
    // The terminal turns Ctrl-C into a signal to the service.
    terminal.stdin.write('\x03');
    await closed;
    rmSync(cwd, { recursive: true, force: true });
  });
  let shown = '';
  for await (const chunk of terminal.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    shown += chunk;
    if (/Console .*\r\n/.test(shown)) break;
  }
  terminal.stdout.resume();
  const [, url, token] = /once: (http:\/\/\S+)\/dashboard\/set-up#(svc_link_[\w-]{43})\r\n/.exec(shown) ?? [];
  assert.ok(url !== undefined && token !== undefined, shown);
  const body = JSON.stringify({ token, password: PASSWORD, user_id: 'root' });
  const headers = { 'content-type': 'application/json', origin: url };
  const setUp = async () =>
    (await fetch(`${url}/v1/session/set-up`, { method: 'POST', headers, body })).status;
  assert.deepEqual([await setUp(), await setUp()], [200, 401]);
});

test('the link of the first start creates the administrator once', async () => {
  const anonymous = await admin.ask('GET', '/v1/session');
  assert.equal(anonymous.status, 401);
  const short = await admin.ask('POST', '/v1/session/set-up', { token: link, password: 'short' });
  assert.equal(short.status, 400);
  const made = await admin.ask('POST', '/v1/session/set-up', {
    token: link,
    password: PASSWORD,
    user_id: 'Root',
  });
  assert.equal(made.status, 200, JSON.stringify(made.json));
  assert.match(
    made.cookies.join('\n'),
    /^service-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict\nservice-device=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=7776000$/,
    'cookies for plain HTTP on this machine',
  );
  const who = await admin.refresh();
  assert.equal(who.status, 200);
  assert.partialDeepStrictEqual(who.json, { user_id: 'root', roles: ['admin'], tenants: ['*'] });
  const again = await openBrowser().ask('POST', '/v1/session/set-up', { token: link, password: PASSWORD });
  assert.equal(again.status, 401);
});

test('a change needs the CSRF token of the session and a page of this service', async () => {
  const add = { user_id: 'vera', role: ['viewer'] };
  const refused: readonly Record<string, string>[] = [
    { 'x-csrf-token': '' },
    { 'x-csrf-token': 'A'.repeat(43) },
    { origin: 'http://localhost:1' },
    { origin: 'https://evil.test' },
    { origin: 'null' },
    { 'sec-fetch-site': 'same-site' },
    { 'sec-fetch-site': 'cross-site' },
    { host: 'evil.test' },
  ];
  for (const headers of refused) {
    const answer = await admin.ask('POST', '/v1/users', add, headers);
    assert.equal(answer.status, 403, JSON.stringify(headers));
  }
  const added = await admin.ask('POST', '/v1/users', add);
  assert.equal(added.status, 200, JSON.stringify(added.json));
  assert.equal(refused.length, 8);
});

test('a forged, empty or doubled cookie is refused', async () => {
  const value = admin.jar.cookie;
  const forged = [
    `service-session=${'A'.repeat(43)}`,
    'service-session=',
    'service-session=%00',
    `${value}; ${value}`,
    `service-session=x; ${value}`,
  ];
  for (const cookie of forged) {
    const answer = await openBrowser().ask('GET', '/v1/session', undefined, { cookie });
    assert.equal(answer.status, 401, cookie);
  }
  const renamed = await openBrowser().ask('GET', '/v1/session', undefined, {
    cookie: value.replace('service-session', '__Host-service-session'),
  });
  assert.equal(renamed.status, 401);
});

test('a viewer signs in with the link, reads, and changes nothing', async () => {
  const reset = await admin.ask('POST', '/v1/users/vera/reset');
  const viewer = openBrowser();
  const token = reset.json.link.split('#')[1];
  assert.equal((await viewer.ask('POST', '/v1/session/set-up', { token, password: PASSWORD })).status, 200);
  const who = await viewer.refresh();
  assert.deepEqual([who.json.user_id, who.json.roles, who.json.tenants], ['vera', ['viewer'], ['default']]);
  assert.equal((await viewer.ask('GET', '/v1/approvals')).status, 200);
  assert.equal((await viewer.ask('GET', '/v1/users')).status, 403);
  assert.equal((await viewer.ask('POST', '/v1/policies/reload')).status, 403);
  assert.equal((await viewer.ask('POST', '/v1/users', { user_id: 'x', role: ['admin'] })).status, 403);
  const disabled = await admin.ask('POST', '/v1/users/vera/disable');
  assert.equal(disabled.json.disabled, true);
  assert.equal((await viewer.ask('GET', '/v1/session')).status, 401);
  const signIn = { user_id: 'vera', password: PASSWORD };
  assert.equal((await viewer.ask('POST', '/v1/session/sign-in', signIn)).status, 401);
});

test('an authenticator app is a second factor, and each code counts once', async () => {
  const made = await admin.ask('POST', '/v1/session/totp');
  const totp = new TOTP({ secret: made.json.secret });
  const code = totp.generate();
  const wrong = await admin.ask('POST', '/v1/session/totp/confirm', {
    code: code === '000000' ? '1'.repeat(6) : '0'.repeat(6),
  });
  assert.equal(wrong.status, 400);
  const before = admin.jar.cookie;
  const confirmed = await admin.ask('POST', '/v1/session/totp/confirm', { code });
  assert.equal(confirmed.status, 200, JSON.stringify(confirmed.json));
  assert.notEqual(admin.jar.cookie, before, 'the cookie changes with the rights');
  const replayed = await openBrowser().ask('GET', '/v1/session', undefined, { cookie: before });
  assert.equal(replayed.status, 401);
  await admin.refresh();
  const browser = openBrowser();
  const signIn = { user_id: 'root', password: PASSWORD };
  const first = await browser.ask('POST', '/v1/session/sign-in', signIn);
  assert.partialDeepStrictEqual(first.json, { status: 'second_factor', factors: ['totp'] });
  assert.deepEqual(first.cookies, []);
  const { ticket } = first.json;
  const used = await browser.ask('POST', '/v1/session/second-factor', { ticket, code });
  assert.equal(used.status, 401, 'the code was used for the set-up');
  const next = totp.generate({ timestamp: Date.now() + 30_000 });
  const done = await browser.ask('POST', '/v1/session/second-factor', { ticket, code: next });
  assert.equal(done.status, 200, JSON.stringify(done.json));
  const who = await browser.refresh();
  assert.equal(who.json.second_factor.totp, true);
  assert.notEqual(who.json.second_factor.verified_at, null);
});

/** Makes all proofs of a user's sessions an hour old. */
function ageProofs(userId: string): void {
  const store = new DatabaseSync(join(service.state_dir, 'store.db'), { timeout: 30_000 });
  const aged = store
    .prepare(
      'update user_sessions set created_ms = created_ms - 3600000, second_factor_ms = second_factor_ms - 3600000 where user_id = ?',
    )
    .run(userId);
  store.close();
  assert.notEqual(aged.changes, 0);
}

test('an open event stream ends with the rights of its session', async () => {
  const user = { user_id: 'stream', password: PASSWORD };
  const added = await admin.ask('POST', '/v1/users', { user_id: user.user_id, role: ['viewer'] });
  const setUp = { token: added.json.link.split('#')[1], password: PASSWORD };
  await openBrowser().ask('POST', '/v1/session/set-up', setUp);
  const open = async () => {
    const browser = openBrowser();
    await browser.ask('POST', '/v1/session/sign-in', user);
    await browser.refresh();
    // Without an earlier end, the next heartbeat would end it.
    const signal = AbortSignal.timeout(HEARTBEAT_MS / 2);
    const answer = await fetch(`${service.url}/v1/events`, {
      headers: { cookie: browser.jar.cookie },
      signal,
    });
    assert.equal(answer.status, 200);
    return { browser, ended: answer.text() };
  };
  const changes = [
    ['role', { role: ['viewer'], tenant: ['acme'] }],
    ['role', { role: ['viewer'], tenant: ['globex'] }],
    ['sign-out', {}],
    ['reset', {}],
  ] as const;
  for (const [verb, body] of changes) {
    const { ended } = await open();
    const changed = await admin.ask('POST', `/v1/users/stream/${verb}`, body);
    assert.equal(changed.status, 200, JSON.stringify(changed.json));
    assert.match(await ended, /^retry: 2000/);
    if (verb === 'reset')
      await openBrowser().ask('POST', '/v1/session/set-up', {
        token: changed.json.link.split('#')[1],
        password: PASSWORD,
      });
  }
  const { browser, ended } = await open();
  await browser.ask('POST', '/v1/session/sign-out');
  await ended;
  const last = await open();
  await admin.ask('POST', '/v1/users/stream/disable');
  await last.ended;
});

test('a session alone adds and removes no second factor', async () => {
  // Passkeys belong to a name and not to an IP address.
  const here = service.url.replace('127.0.0.1', 'localhost');
  const named = { host: new URL(here).host, origin: here };
  const changes = [
    ['/v1/session/passkeys/options', {}],
    ['/v1/session/passkeys', { name: 'x', response: NO_PASSKEY }],
    ['/v1/session/passkeys/AQIDBA/remove', {}],
    ['/v1/session/totp', {}],
    ['/v1/session/totp/confirm', { code: '000000' }],
  ] as const;
  const newcomer = openBrowser();
  const added = await admin.ask('POST', '/v1/users', { user_id: 'nina', role: ['viewer'] });
  const token = added.json.link.split('#')[1];
  await newcomer.ask('POST', '/v1/session/set-up', { token, password: PASSWORD });
  await newcomer.refresh();
  let refused = 0;
  for (const [browser, userId, hasFactor] of [
    [admin, 'root', true],
    [newcomer, 'nina', false],
  ] as const) {
    for (const [path, body] of changes)
      assert.notEqual((await browser.ask('POST', path, body, named)).status, 403, `${userId} ${path}`);
    ageProofs(userId);
    for (const [path, body] of changes) {
      const { status, json } = await browser.ask('POST', path, body, named);
      assert.deepEqual([status, json.second_factor_required], [403, hasFactor || undefined], path);
      refused += 1;
    }
  }
  const use = await admin.ask('POST', '/v1/session/passkeys/options', { verify: true }, named);
  assert.equal(use.status, 200, 'a proof is always possible');
  assert.equal(refused, 10);
});

test('sessions can be listed, ended, and signed out of', async () => {
  const { json } = await admin.ask('GET', '/v1/session/list');
  assert.equal(json.sessions.length, 2);
  const other = json.sessions.find((one: { is_current: boolean }) => !one.is_current);
  const { session_id } = other;
  assert.equal((await admin.ask('POST', '/v1/session/revoke', { session_id })).status, 200);
  assert.equal((await admin.ask('POST', '/v1/session/revoke', { session_id })).status, 404);
  const cookie = admin.jar.cookie;
  const out = await admin.ask('POST', '/v1/session/sign-out');
  assert.equal(out.json.signed_out, true);
  assert.equal((await openBrowser().ask('GET', '/v1/session', undefined, { cookie })).status, 401);
});

test('guesses delay unknown devices only, and each is in the audit log', async () => {
  const guess = { user_id: 'root', password: 'a wrong password' };
  const statuses: number[] = [];
  for (let at = 0; at < 12; at += 1)
    statuses.push((await openBrowser().ask('POST', '/v1/session/sign-in', guess)).status);
  assert.deepEqual(statuses, [...Array(10).fill(401), 429, 429]);
  const right = (browser: ReturnType<typeof openBrowser>, userId = 'root') =>
    browser.ask('POST', '/v1/session/sign-in', { user_id: userId, password: PASSWORD });
  const limited = await right(openBrowser());
  assert.equal(limited.status, 429);
  assert.match(limited.json.error, /^Too many attempts. Try again in (?:2\d|30) seconds\.$/);
  assert.equal((await right(admin)).json.status, 'second_factor', 'a known device');
  assert.equal((await right(openBrowser(), 'nina')).status, 200, 'another user of the address');
  const { readFileSync } = await import('node:fs');
  const token = readFileSync(join(service.state_dir, 'operator-token'), 'utf8').trim();
  const operator = { authorization: `Bearer ${token}` };
  const unlocked = await openBrowser().ask('POST', '/v1/users/root/unlock', undefined, operator);
  assert.equal(unlocked.json.user_id, 'root');
  assert.equal((await right(openBrowser())).json.status, 'second_factor');
  const asked = await openBrowser().ask('POST', '/v1/audit/query', { limit: 500 }, operator);
  const phases = asked.json.events.map((event: { metadata: { phase: string } }) => event.metadata.phase);
  const count = (phase: string) => phases.filter((one: string) => one === phase).length;
  assert.equal(count('sign_in_failed'), 11);
  assert.equal(count('sign_in_limited'), 1);
  for (const phase of [
    ...['sign_in', 'sign_out', 'user_add', 'user_reset', 'user_unlock', 'user_disable', 'totp_add'],
  ])
    assert.ok(count(phase) > 0, phase);
  const text = JSON.stringify(asked.json.events);
  for (const secret of [PASSWORD, guess.password, link, admin.jar.cookie, admin.jar.device])
    assert.ok(!text.includes(secret));
});
