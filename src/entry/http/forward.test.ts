import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { findHeader } from '../../gateways/upstream/headers.ts';
import {
  type ProviderHandler,
  startTestProvider,
  type TestProvider,
} from '../../gateways/upstream/testing/test-provider.ts';
import { parseProxySettings } from '../../gateways/upstream/testing/test-upstreams.ts';
import { type ServeOptions, serve, type TestServer } from './testing/serve.ts';

const KEY = ['sk', 'ABCDEF1234567890ABCDEF1234567890'].join('-');
const EMAIL = ['jane.doe', 'acme-corp.io'].join('@');

const says =
  (text: string, headers: Record<string, string> = {}): ProviderHandler =>
  (response) => {
    response.writeHead(200, { 'content-type': 'text/plain', ...headers }).end(text);
  };

interface World {
  readonly service: TestServer;
  readonly upstream: TestProvider;
  readonly forward: (envelope: object) => ReturnType<TestServer['ask']>;
}

/** Runs a service in front of an upstream with these answers. */
async function startWorld(
  t: TestContext,
  answers: ProviderHandler = says('hello'),
  options: Partial<ServeOptions> & { readonly more?: object } = {},
): Promise<World> {
  const upstream = await startTestProvider(t, answers);
  const stateDir = mkdtempSync(join(tmpdir(), 'forward-'));
  const proxy = parseProxySettings({ target: upstream.url, ...options.more });
  const service = await serve({ proxy, ...options, state_dir: stateDir });
  t.after(async () => {
    await service.close();
    rmSync(stateDir, { recursive: true, force: true });
  });
  return {
    service,
    upstream,
    forward: (envelope) => service.ask({ path: '/v1/proxy/forward', body: envelope }),
  };
}

test('a request is sent as it is recorded, and the answer comes back guarded and recorded', async (t) => {
  const cookie = { 'set-cookie': 'a=b', server: 'x', 'x-request-id': 'r1', date: 'now' };
  const { service, upstream, forward } = await startWorld(t, says('hello', cookie));
  const answer = await forward({
    method: 'put',
    path: 'v1/things/ä?b=%2F&c',
    headers: {
      Authorization: `Bearer ${KEY}`,
      'X-Team': 'blue',
      Connection: 'close',
      'x-service-agent': 'a',
    },
    json_body: [1, { ä: null }],
    agent_id: 'bot',
    session_id: 's1',
  });
  assert.equal(answer.status, 200, answer.text);
  assert.partialDeepStrictEqual(answer.json, { decision: 'allow', upstream_status: 200, body: 'hello' });
  const shown = { 'content-type': 'text/plain', date: 'now', 'x-request-id': 'r1' };
  assert.deepEqual(answer.json.upstream_headers, shown);
  const [got] = upstream.requests;
  assert.deepEqual(
    [got?.method, got?.path, got?.body],
    ['PUT', '/v1/things/%C3%A4?b=%2F&c', '[1,{"ä":null}]'],
  );
  assert.equal(findHeader(got!.headers, 'authorization'), `Bearer ${KEY}`);
  assert.equal(findHeader(got!.headers, 'x-team'), 'blue');
  assert.equal(findHeader(got!.headers, 'content-type'), 'application/json');
  assert.equal(findHeader(got!.headers, 'x-service-agent'), null);
  assert.deepEqual(
    service.events.map((event) => [event.event_id, event.boundary, event.agent_id, event.session_id]),
    [
      [answer.json.input_event_id, 'input', 'bot', 's1'],
      [answer.json.event_id, 'output', 'bot', 's1'],
    ],
  );
  assert.equal(service.events[0]?.destination_agent_id, '127.0.0.1');
});

test('what an upstream answers with an error is an answer, and text goes out as it is', async (t) => {
  const { upstream, forward } = await startWorld(t, (response) => void response.writeHead(418).end('no'));
  const answer = await forward({ path: '/', text_body: '{"a": 1e400}' });
  assert.partialDeepStrictEqual(answer.json, { decision: 'allow', upstream_status: 418, body: 'no' });
  assert.equal(upstream.requests[0]?.body, '{"a": 1e400}');
  const get = await forward({ method: 'GET', path: '/x', json_body: null });
  assert.equal(get.json.upstream_status, 418);
  assert.deepEqual([upstream.requests[1]?.method, upstream.requests[1]?.body], ['GET', '']);
});

/** Places where a secret may be; each is tested alone. */
const PLACES = {
  'JSON body': { json_body: { messages: [{ content: `use ${KEY}` }] } },
  'key in a JSON body': { json_body: { [KEY]: 1 } },
  'text body': { text_body: KEY },
  query: { path: `/v1/x?q=${KEY}` },
  'encoded query': { path: `/v1/x?q=${KEY.replaceAll('A', '%41')}` },
  path: { path: `/v1/${KEY}/x` },
  header: { headers: { 'x-note': KEY } },
};

test('a secret anywhere in a request blocks it: 403 with the decision, and nothing is sent', async (t) => {
  const { service, upstream, forward } = await startWorld(t);
  for (const [where, envelope] of Object.entries(PLACES)) {
    const answer = await forward({ path: '/v1/x', ...envelope });
    assert.equal(answer.status, 403, `${where}: ${answer.text}`);
    assert.partialDeepStrictEqual(answer.json, {
      code: 'policy_violation',
      decision: 'block',
      action: 'block',
    });
    assert.equal(answer.json.violations[0]?.type, 'secret_detected', where);
    assert.equal(answer.json.event_id, service.events.at(-1)?.event_id, where);
    assert.equal(typeof answer.json.request_id, 'string');
    assert.ok(!answer.text.includes(KEY), where);
  }
  assert.equal(upstream.requests.length, 0);
  assert.equal(service.events.length, 7);
  assert.ok(!JSON.stringify([service.events, service.logged]).includes(KEY));
});

test('a credential goes to the target, and to no address that the caller names', async (t) => {
  const { service, upstream, forward } = await startWorld(t);
  const headers = { authorization: `Bearer ${KEY}` };
  assert.equal((await forward({ path: '/', headers })).status, 200);
  assert.equal(upstream.requests.length, 1);
  const answer = await forward({ upstream_url: 'http://192.0.2.1.example/', headers });
  assert.deepEqual([answer.status, answer.json.code], [403, 'policy_violation'], answer.text);
  assert.equal(service.events.at(-1)?.decision, 'block');
  assert.equal(service.events.at(-1)?.destination_agent_id, '192.0.2.1.example');
});

test('personal data anywhere is removed from the forwarded request', async (t) => {
  const { upstream, forward } = await startWorld(t);
  const answer = await forward({
    path: `/u/${EMAIL}/x%2Fy?to=${encodeURIComponent(EMAIL)}&b=%2F`,
    headers: { 'x-for': EMAIL, authorization: 'Bearer t' },
    json_body: { to: EMAIL, keep: 'é' },
  });
  assert.equal(answer.status, 200, answer.text);
  const [got] = upstream.requests;
  const marker = encodeURIComponent('[REDACTED]');
  assert.equal(got?.path, `/u/${marker}/x%2Fy?to=${marker}&b=%2F`);
  assert.equal(got?.body, '{"to":"[REDACTED]","keep":"é"}');
  assert.equal(findHeader(got!.headers, 'x-for'), '[REDACTED]');
  assert.equal(findHeader(got!.headers, 'authorization'), 'Bearer t');
});

test('a request that needs approval is not sent', async (t) => {
  const rules = [
    {
      name: 'ask',
      boundary: 'input',
      data_tags: ['personal'],
      action: 'require_approval',
      reason: 'Ask first.',
    },
  ];
  const { upstream, forward } = await startWorld(t, undefined, { rules });
  const answer = await forward({ path: '/', text_body: EMAIL });
  assert.partialDeepStrictEqual(answer.json, {
    code: 'policy_violation',
    action: 'require_approval',
    rule: 'ask',
  });
  assert.equal(answer.status, 403);
  assert.equal(upstream.requests.length, 0);
});

test('an answer is changed or kept back by the rules for output, also when it came encoded', async (t) => {
  const block = {
    name: 'no-mail',
    boundary: 'output',
    data_tags: ['personal'],
    action: 'block',
    reason: 'No mail.',
  };
  const encoded: ProviderHandler = (response) =>
    void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(`to ${EMAIL}`));
  const rows = [
    { rules: [], body: 'to [REDACTED]', decision: 'modify' },
    { rules: [block], body: '', decision: 'block' },
    { rules: [{ ...block, fallback_template: 'Ask the desk.' }], body: 'Ask the desk.', decision: 'block' },
  ];
  for (const { rules, body, decision } of rows) {
    for (const answers of [says(`to ${EMAIL}`), encoded]) {
      const { forward } = await startWorld(t, answers, { rules });
      const answer = await forward({ path: '/' });
      assert.equal(answer.status, 200, answer.text);
      assert.deepEqual(
        [answer.json.body, answer.json.decision, answer.json.upstream_status],
        [body, decision, 200],
      );
      assert.ok(!answer.text.includes(EMAIL));
    }
  }
  assert.equal(rows.length, 3);
});

test('in gateway mode the agent must be known', async (t) => {
  const { upstream, forward } = await startWorld(t, undefined, { mode: 'gateway' });
  const unknown = await forward({ path: '/' });
  assert.deepEqual([unknown.status, unknown.json.code], [400, 'agent_context_required']);
  assert.equal((await forward({ path: '/', agent_id: 'a' })).status, 200);
  assert.equal((await forward({ path: '/', source_agent_id: 'a', destination_agent_id: 'b' })).status, 200);
  assert.equal(upstream.requests.length, 2);
});

test('an address that the caller names must be public', async (t) => {
  const { service, upstream, forward } = await startWorld(t);
  const { port } = new URL(upstream.url);
  const refused = [
    upstream.url,
    `http://localhost:${port}/`,
    `http://[::1]:${port}/`,
    `http://[::ffff:127.0.0.1]:${port}/`,
    `http://127.1:${port}/`,
    `http://0:${port}/`,
    'http://169.254.169.254/latest/meta-data/',
    'http://[fd00:ec2::254]/',
    'http://metadata.google.internal/computeMetadata/v1/',
    'http://10.0.0.1/',
    'ftp://example.com/',
    'file:///etc/passwd',
    'http://user:pass@example.com/',
    'nowhere',
  ];
  for (const upstreamUrl of refused) {
    const answer = await forward({ upstream_url: upstreamUrl, text_body: 'x' });
    assert.deepEqual([answer.status, answer.json.code], [400, 'invalid_request'], upstreamUrl);
  }
  assert.equal(refused.length, 14);
  assert.equal(upstream.requests.length, 0);
  assert.equal(service.events.length, 0, 'nothing was judged, for nothing crosses');
});

test('without anywhere to forward to it says what to set', async (t) => {
  const { forward } = await startWorld(t, undefined, { proxy: parseProxySettings({}) });
  const answer = await forward({ path: '/' });
  assert.deepEqual([answer.status, answer.json.code], [503, 'not_configured']);
  assert.match(answer.json.error, /`proxy\.target`/);
});

/** Faults of an upstream, and the expected answers. */
const FAULTS: readonly (readonly [string, ProviderHandler, object, number, string])[] = [
  ['silence', () => {}, { timeout_seconds: 0.05 }, 504, 'upstream_timeout'],
  ['half an answer', (r) => void r.write('a'), { timeout_seconds: 0.05 }, 504, 'upstream_timeout'],
  ['a reset', (r) => void r.destroy(), {}, 502, 'upstream_failed'],
  ['a break', (r) => void r.write('a', () => r.destroy()), {}, 502, 'upstream_failed'],
  ['too much', says('x'.repeat(2_000)), {}, 502, 'upstream_failed'],
  [
    'a redirection',
    (r) => void r.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
    {},
    502,
    'upstream_failed',
  ],
  ['an unknown encoding', says('x', { 'content-encoding': 'lzma' }), {}, 502, 'upstream_failed'],
  ['a wrong encoding', says('x', { 'content-encoding': 'gzip' }), {}, 502, 'upstream_failed'],
  ['huge headers', says('x', { 'x-big': 'x'.repeat(70_000) }), {}, 502, 'upstream_failed'],
];

test('an upstream that fails is a 502, one that is late a 504, with a sentence of ours', async (t) => {
  for (const [what, answers, envelope, status, code] of FAULTS) {
    const { forward } = await startWorld(t, answers, { more: { response_bytes_max: 1_024 } });
    const answer = await forward({ path: '/', text_body: 'x', ...envelope });
    assert.deepEqual([answer.status, answer.json.code], [status, code], `${what}: ${answer.text}`);
    assert.match(answer.json.error, /^The /, what);
  }
  const closed = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closed.once('listening', resolve));
  const { port } = closed.address() as { port: number };
  await new Promise((resolve) => closed.close(resolve));
  const proxy = parseProxySettings({ target: `http://127.0.0.1:${port}` });
  const answer = await (await startWorld(t, undefined, { proxy })).forward({ path: '/' });
  assert.deepEqual([answer.status, answer.json.code], [502, 'upstream_failed']);
  assert.equal(answer.json.error, 'The provider could not be reached (ECONNREFUSED).');
  assert.equal(FAULTS.length, 9);
});

const WRONG: readonly (readonly [object, string])[] = [
  [{ method: 'CONNECT' }, 'method'],
  [{ method: 'GET', text_body: 'x' }, 'method'],
  [{ headers: { 'a b': 'c' } }, 'headers'],
  [{ headers: { a: 'b\r\nc: d' } }, 'headers'],
  [{ headers: { a: 1 } }, 'headers'],
  [{ headers: Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`h${at}`, ''])) }, 'headers'],
  [{ timeout_seconds: 0 }, 'timeout_seconds'],
  [{ timeout_seconds: 3_601 }, 'timeout_seconds'],
  [{ headers: [] }, 'headers'],
];

test('what cannot be sent is refused before it is judged', async (t) => {
  const { service, upstream, forward } = await startWorld(t);
  for (const [envelope, path] of WRONG) {
    const answer = await forward({ path: '/', ...envelope });
    assert.deepEqual([answer.status, answer.json.details?.[0]?.path], [400, path], answer.text);
  }
  assert.equal(WRONG.length, 9);
  assert.deepEqual([upstream.requests.length, service.events.length], [0, 0]);
});
