// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { findHeader } from './headers.ts';
import { startTestProvider } from './testing/test-provider.ts';
import {
  buildUpstreamRequest,
  expectUpstreamFailure,
  openTestUpstreams,
  openUpstreamTestPorts,
  readBodyText,
} from './testing/test-upstreams.ts';

test('a call reaches the configured provider with its path, headers and body, and its answer comes back', async (t) => {
  const provider = await startTestProvider(t, (response) => {
    response.writeHead(200, ['X-Request-Id', 'r1', 'Set-Cookie', 'a=b', 'Content-Type', 'application/json']);
    response.end('{"ok":1}');
  });
  const upstreams = openTestUpstreams(t, { target: `${provider.url}/v1` });
  const answer = await upstreams.send(
    buildUpstreamRequest({
      path: '/v1/chat/completions?a=1',
      headers: [
        'Authorization',
        'Bearer of-the-client',
        'X-Mine',
        'é',
        'Connection',
        'X-Hop',
        'X-Hop',
        '1',
        'x-service-agent',
        'a',
        'Cookie',
        'c=d',
      ],
    }),
  );
  assert.equal(await readBodyText(answer), '{"ok":1}');
  assert.equal(answer.status, 200);
  assert.deepEqual([answer.provider, answer.model, answer.attempts], ['target', 'gpt-x', 1]);
  assert.equal(findHeader(answer.headers, 'x-request-id'), 'r1');
  for (const name of ['set-cookie', 'connection', 'content-length', 'transfer-encoding'])
    assert.equal(findHeader(answer.headers, name), null, name);
  const [got] = provider.requests;
  assert.equal(got?.path, '/v1/chat/completions?a=1');
  assert.equal(got?.body, '{"model":"gpt-x"}');
  assert.equal(findHeader(got!.headers, 'authorization'), 'Bearer of-the-client');
  assert.equal(findHeader(got!.headers, 'accept-encoding'), 'identity');
  assert.equal(findHeader(got!.headers, 'host'), new URL(provider.url).host);
  for (const name of ['x-hop', 'x-service-agent', 'cookie'])
    assert.equal(findHeader(got!.headers, name), null, name);
});

test('bytes of a stream come as they are sent', async (t) => {
  let go = () => {};
  const provider = await startTestProvider(t, (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: 1\n\n');
    go = () => response.end('data: 2\n\n');
  });
  const world = openUpstreamTestPorts();
  const upstreams = openTestUpstreams(t, { target: provider.url, timeout_seconds: 5 }, world.ports);
  const { body } = await upstreams.send(buildUpstreamRequest());
  const reading = body[Symbol.asyncIterator]();
  assert.equal(Buffer.from((await reading.next()).value!).toString(), 'data: 1\n\n');
  // The time limit of the whole call has passed, but a stream has no such limit.
  world.pass(60_000);
  const second = reading.next();
  assert.deepEqual(
    world.alarms.map(({ ms }) => ms),
    [120_000],
    'only silence ends it',
  );
  go();
  assert.equal(Buffer.from((await second).value!).toString(), 'data: 2\n\n');
  assert.equal((await reading.next()).done, true);
  assert.equal(world.alarms.length, 0);
});

test('when the client disconnects, the provider sees it: before the answer, within it, and when the client stops reading', async (t) => {
  const silent = await startTestProvider(t, () => {});
  const gone = new AbortController();
  const waiting = expectUpstreamFailure(
    openTestUpstreams(t, { target: silent.url }).send(buildUpstreamRequest({ signal: gone.signal })),
  );
  while (silent.requests.length === 0) await new Promise(setImmediate);
  gone.abort();
  assert.equal((await waiting).code, 'aborted');
  await silent.disconnected;

  const ways = ['abort', 'return'] as const;
  for (const way of ways) {
    const slow = await startTestProvider(t, (response) => void response.write('a'));
    const client = new AbortController();
    const { body } = await openTestUpstreams(t, { target: slow.url }).send(
      buildUpstreamRequest({ signal: client.signal }),
    );
    const reading = body[Symbol.asyncIterator]();
    assert.equal((await reading.next()).done, false);
    if (way === 'return') await reading.return?.();
    else {
      const next = expectUpstreamFailure(reading.next());
      client.abort();
      assert.equal((await next).code, 'aborted');
    }
    await slow.disconnected;
  }
  assert.equal(ways.length, 2);
});

test('a client that is gone already sends nothing', async (t) => {
  const provider = await startTestProvider(t, (response) => void response.end());
  const failure = await expectUpstreamFailure(
    openTestUpstreams(t, { target: provider.url }).send(
      buildUpstreamRequest({ signal: AbortSignal.abort() }),
    ),
  );
  assert.equal(failure.code, 'aborted');
  assert.equal(provider.requests.length, 0);
});

const ALARMS = [
  { ring: 'first byte', proxy: { timeouts: { first_byte_ms: 700 } }, ms: 700, begins: false },
  { ring: 'all tries', proxy: { timeout_seconds: 3 }, ms: 3_000, begins: false },
  { ring: 'whole answer', proxy: { timeout_seconds: 3 }, ms: 3_000, begins: true },
  { ring: 'silence', proxy: { timeouts: { idle_ms: 900 } }, ms: 900, begins: true },
];

test('a provider that is silent is given up, and sees it', async (t) => {
  for (const { ring, proxy, ms, begins } of expectRows(4, ALARMS)) {
    const provider = await startTestProvider(t, (response) => void (begins && response.write('a')));
    const world = openUpstreamTestPorts();
    const once = { target: provider.url, retry: { max_attempts: 1 }, ...proxy };
    const sending = openTestUpstreams(t, once, world.ports).send(buildUpstreamRequest());
    const outcome = expectUpstreamFailure(begins ? sending.then(readBodyText) : sending);
    const set = () => world.alarms.find((alarm) => alarm.ms === ms);
    while (provider.requests.length === 0 || set() === undefined || (begins && world.alarms.length < 2))
      await new Promise(setImmediate);
    set()!.ring();
    const failure = await outcome;
    assert.deepEqual(
      [failure.code, failure.provider, failure.attempts],
      ['upstream_timeout', 'target', 1],
      ring,
    );
    await provider.disconnected;
  }
});
