import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SignJWT } from 'jose';
import { createApiKey, ensureToken } from '../../../runtime/access/tokens.ts';
import { sampleEvent, waitUntil } from '../../../runtime/audit/testing/audit-log.ts';
import type { AuditEvent } from '../../../runtime/audit/types.ts';
import { serve } from '../testing/serve.ts';
import { open, openTestSocket, readLines, runOnStage, scratch, type TestSocket } from '../testing/stage.ts';

const agentsIn = ({ events }: TestSocket): string[] => events.map(({ agent_id }) => agent_id);

test('a reader sees what its credential may see, and no more', async () => {
  const scoped = createApiKey('scoped');
  const auditor = createApiKey('auditor');
  const checker = createApiKey('checker');
  const apiKeys = [
    { ...scoped.entry, tenants: ['acme'], permissions: ['audit:read'] as const },
    { ...auditor.entry, permissions: ['audit:read'] as const, agents: ['a'] },
    { ...checker.entry, permissions: ['check'] as const },
  ];
  const users = [{ user_id: 'ann', role: 'auditor', tenants: ['globex'] } as const];
  await runOnStage({ auth: { api_keys: apiKeys }, users }, async ({ service, tell }) => {
    const { token } = ensureToken(scratch, 'operator');
    const bearer = (credential: string) => ({ headers: { authorization: `Bearer ${credential}` } });
    const all = await openTestSocket(service, '', bearer(token));
    const acme = await openTestSocket(service, '', bearer(scoped.key));
    const agent = await openTestSocket(service, '', { headers: { 'x-service-key': auditor.key } });
    const own = await openTestSocket(service);
    const user = await openTestSocket(service, '', { headers: { 'x-service-user': 'ann' } });
    const page = await openTestSocket(service, '', { protocols: ['service.events.v1', `bearer.${token}`] });
    assert.equal(page.socket.protocol, 'service.events.v1');
    await tell(
      sampleEvent(1, { agent_id: 'a', tenant_id: 'acme', caller_id: 'key:x' }),
      sampleEvent(2, { agent_id: 'b', tenant_id: 'globex', caller_id: 'loopback' }),
      sampleEvent(3, { agent_id: 'c', tenant_id: 'initech', caller_id: 'key:x' }),
      sampleEvent(4, { agent_id: 'a', tenant_id: 'globex', caller_id: 'key:x' }),
    );
    await waitUntil(() => all.events.length === 4 && page.events.length === 4);
    await waitUntil(() => user.events.length === 2);
    assert.deepEqual(agentsIn(acme), ['a']);
    assert.deepEqual(agentsIn(agent), ['a', 'a']);
    assert.deepEqual(agentsIn(own), ['b'], 'its own calls');
    assert.deepEqual(agentsIn(user), ['b', 'a']);
    for (const { socket } of [all, acme, agent, own, user, page]) socket.terminate();
    const refused: readonly (readonly [number, Parameters<typeof open>[1], Parameters<typeof open>[2]])[] = [
      [401, '', bearer('svc_agent_wrong')],
      [401, '', { headers: { 'x-forwarded-for': '203.0.113.9' } }],
      [401, '', { protocols: ['service.events.v1', 'bearer.wrong'] }],
      [400, '', { protocols: [`bearer.${token}`] }],
      [400, '', { ...bearer(token), protocols: ['service.events.v1', `bearer.${token}`] }],
      [400, `?token=${token}`, {}],
      [403, '', bearer(checker.key)],
      [403, '?tenant_id=globex', bearer(scoped.key)],
      [403, '?agent_id=b', { headers: { 'x-service-key': auditor.key } }],
      [403, '', { headers: { 'x-service-user': 'nobody' } }],
      [400, '?boundary=everywhere', {}],
      [400, '?decision=maybe', {}],
      [400, '?policy_name=x', {}],
      [400, '?heartbeat=loud', {}],
      [400, '?after=yesterday', {}],
      [404, '?after=evt_ffffffffffffffffffffffff', bearer(token)],
      [404, `?after=${sampleEvent(3).event_id}`, bearer(scoped.key)],
    ];
    for (const [status, query, options] of refused)
      assert.equal(await open(service, query, options), status, `${query} ${JSON.stringify(options)}`);
    assert.equal(refused.length, 17);
  });
});

test('a page of another origin opens nothing, whatever credential it has', async () => {
  await runOnStage({ cors_origins: ['https://console.test'] }, async ({ service }) => {
    const { token } = ensureToken(scratch, 'operator');
    const authorization = `Bearer ${token}`;
    const rows: readonly (readonly [string, boolean])[] = [
      ['https://evil.test', false],
      ['null', false],
      ['http://127.0.0.1.evil.test', false],
      ['https://console.test', true],
      [`http://127.0.0.1:${service.port}`, true],
      ['http://localhost:3000', true],
    ];
    for (const [origin, may] of rows) {
      const outcome = await open(service, '', { headers: { origin, authorization } });
      assert.equal(typeof outcome === 'object', may, origin);
      if (typeof outcome === 'object') outcome.socket.terminate();
      else assert.equal(outcome, 403);
    }
  });
});

test('messages narrow, resume, and are refused where they are not understood', async () => {
  await runOnStage({}, async ({ service, tell, readers }) => {
    const event = (index: number, fields: Partial<AuditEvent> = {}) =>
      sampleEvent(index, { agent_id: `a${index}`, ...fields });
    const keeper = await openTestSocket(service);
    await tell(event(1), event(2), event(3, { boundary: 'output' }));
    const reader = await openTestSocket(service);
    await tell(event(4));
    await waitUntil(() => reader.events.length === 1);
    reader.socket.send(JSON.stringify({ boundary: 'input', tenant_id: null, after: event(1).event_id }));
    await waitUntil(() => reader.events.length === 2);
    await tell(event(5, { boundary: 'output' }), event(6));
    await waitUntil(() => reader.events.length === 3);
    assert.deepEqual(agentsIn(reader), ['a4', 'a2', 'a6'], 'what it missed before it came, nothing twice');
    reader.socket.send('{}');
    reader.socket.send(JSON.stringify({ rule: 'default.allow' }));
    // No event reports that the server has processed a message.
    for (let index = 7; reader.events.length === 3; index++) {
      await tell(event(index, { boundary: 'output' }));
      await sleep(5);
    }
    const bad: readonly unknown[] = [
      '{',
      '[]',
      '"x"',
      '{"boundary":"nowhere"}',
      '{"policy_name":"x"}',
      '{"after":1}',
    ];
    for (const message of bad) {
      const wrong = await openTestSocket(service);
      wrong.socket.send(String(message));
      const { code, reason } = await wrong.closed;
      assert.equal(code, 1008, String(message));
      assert.equal(reason, 'invalid_request');
      assert.equal((wrong.events[0] as { code?: string }).code, 'invalid_request');
    }
    const wide = await openTestSocket(service, '?decision=block');
    wide.socket.send('{"decision":"allow"}');
    assert.equal((await wide.closed).code, 1008);
    reader.socket.send(JSON.stringify({ after: event(1).event_id }));
    assert.equal((await reader.closed).code, 1008, 'only the first message resumes');
    keeper.socket.close();
    await keeper.closed;
    await waitUntil(() => readers() === 0);
  });
});

test('a reader that answers no pings is closed after three; one that does is not', async () => {
  await runOnStage({ heartbeat_ms: 40 }, async ({ service }) => {
    const dead = await openTestSocket(service, '', { autoPong: false });
    const alive = await openTestSocket(service, '?heartbeat=text');
    let pings = 0;
    dead.socket.on('ping', () => {
      pings += 1;
    });
    const { code, reason } = await dead.closed;
    assert.equal(code, 1001);
    assert.match(reason, /heartbeats/);
    assert.equal(pings, 3);
    await waitUntil(() => alive.events.length >= 8);
    assert.equal((alive.events[0] as { type?: string }).type, 'heartbeat');
    assert.equal(alive.socket.readyState, alive.socket.OPEN);
    alive.socket.terminate();
  });
});

test('a stream ends when its credential does, over either transport', async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  const { key, entry } = createApiKey('short');
  const apiKeys = [{ ...entry, expires_at: '2026-01-01T01:00:00Z', permissions: ['audit:read'] as const }];
  const instead = { now_ms: () => nowMs };
  await runOnStage({ heartbeat_ms: 20, auth: { api_keys: apiKeys }, instead }, async ({ service }) => {
    const reader = await openTestSocket(service, '', { headers: { 'x-service-key': key } });
    const lines = await readLines(service, '/v1/events', { 'x-service-key': key });
    await waitUntil(() => lines.text().includes('\n:\n'));
    assert.equal(reader.socket.readyState, reader.socket.OPEN);
    nowMs += 3_600_000;
    assert.equal((await reader.closed).code, 1008);
    await lines.ended;
  });
});

test('a stream ends within a second after its credential', async () => {
  let nowMs = Date.UTC(2026, 0, 1);
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKeyFile = join(scratch, 'events.pem');
  writeFileSync(publicKeyFile, publicKey.export({ type: 'spki', format: 'pem' }));
  const exp = nowMs / 1_000 + 3_600;
  const claims = { sub: 'reader', iss: 'https://id.test', aud: 'agents', exp, permissions: ['audit:read'] };
  const signed = await new SignJWT(claims).setProtectedHeader({ alg: 'ES256' }).sign(privateKey);
  const jwt = {
    issuer: claims.iss,
    audience: claims.aud,
    public_key_file: publicKeyFile,
    clock_tolerance_seconds: 0,
  };
  const { key, entry } = createApiKey('short');
  const apiKeys = [
    { ...entry, expires_at: new Date(exp * 1_000).toISOString(), permissions: ['audit:read'] as const },
  ];
  const users = [{ user_id: 'ann', role: 'auditor', tenants: ['globex'] } as const];
  const auth = { api_keys: apiKeys, jwt };
  await runOnStage(
    { heartbeat_ms: 3_600_000, auth, users, instead: { now_ms: () => nowMs } },
    async ({ service, tell }) => {
      const rows: readonly Parameters<typeof openTestSocket>[2][] = [
        { headers: { authorization: `Bearer ${signed}` } },
        { headers: { authorization: `Bearer ${signed}`, 'x-service-user': 'ann' } },
        { protocols: ['service.events.v1', `bearer.${signed}`] },
        { headers: { 'x-service-key': key } },
        { protocols: ['service.events.v1', `bearer.${key}`] },
      ];
      const sockets = await Promise.all(rows.map((row) => openTestSocket(service, '', row)));
      const lines = await readLines(service, '/v1/events', { authorization: `Bearer ${signed}` });
      const unlimited = await openTestSocket(service);
      nowMs = exp * 1_000 - 1;
      await tell(sampleEvent(1, { tenant_id: 'globex', caller_id: 'loopback' }));
      await waitUntil(() => [...sockets, unlimited].every(({ events }) => events.length === 1));
      nowMs += 1;
      for (const [row, { closed }] of sockets.entries()) assert.equal((await closed).code, 1008, `${row}`);
      await lines.ended;
      assert.equal(unlimited.socket.readyState, unlimited.socket.OPEN);
      unlimited.socket.terminate();
    },
  );
});

test('server-sent events: filters, resumption by the header, HEAD, and what is refused', async () => {
  await runOnStage({}, async ({ service, tell }) => {
    const first = await readLines(service, '/v1/events?decision=allow');
    await tell(sampleEvent(1, { agent_id: 'a' }), sampleEvent(2, { decision: 'block' }), sampleEvent(3));
    await waitUntil(() => first.text().includes(sampleEvent(3).event_id));
    assert.match(first.text(), /^retry: 2000\n\nid: evt_0{23}1\ndata: \{"timestamp".*\}\n\nid: evt_0{23}3\n/);
    first.end();
    const again = await readLines(service, '/v1/events?after=ignored', {
      'last-event-id': sampleEvent(1).event_id,
    });
    await waitUntil(() => again.text().includes(sampleEvent(3).event_id));
    assert.ok(again.text().includes(sampleEvent(2).event_id));
    assert.ok(!again.text().includes(sampleEvent(1).event_id), 'what was seen comes no second time');
    again.end();
    assert.equal((await service.ask({ path: '/v1/ws/events' })).status, 426);
    assert.equal((await service.ask({ path: '/v1/events?who=me' })).status, 400);
    const huge = [
      'evt_'.repeat(100),
      `evt_${'f'.repeat(65)}`,
      `evt_${'0'.repeat(4_000)}`,
      '../../etc/passwd',
      '%00',
    ];
    for (const seen of huge) {
      const request = { path: '/v1/events', headers: { 'last-event-id': seen } };
      assert.equal((await service.ask(request)).status, 400, seen.slice(0, 40));
    }
    const flood = { path: '/v1/events', headers: { 'last-event-id': 'f'.repeat(1_000_000) } };
    assert.equal((await service.ask(flood).catch(() => ({ status: 431 }))).status, 431);
    assert.equal((await service.ask({ path: '/v1/events', method: 'POST' })).status, 405);
    const hopeful = await service.ask({
      path: '/v1/scan/input',
      body: { text: 'hello' },
      headers: { connection: 'close, Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABk' },
    });
    assert.equal(hopeful.status, 200, 'who offers another protocol is answered all the same');
  });
});

test('without an audit log there is no stream', async () => {
  const service = await serve({ state_dir: scratch });
  const answer = await service.ask({ path: '/v1/events' });
  assert.equal(answer.status, 503);
  assert.equal(answer.json.code, 'not_configured');
  assert.equal(await open(service), 503);
  await service.close();
});
