import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { test } from 'node:test';
import { findHeader } from '../upstream/headers.ts';
import { startTestProvider } from '../upstream/testing/test-provider.ts';
import { expectUpstreamFailure, parseProxySettings } from '../upstream/testing/test-upstreams.ts';
import { openForwarder } from './forwarder.ts';

const call = (parts: object = {}) => ({
  method: 'POST',
  headers: [],
  body: Buffer.from('x'),
  timeout_ms: null,
  signal: new AbortController().signal,
  ...parts,
});

test('a named host is called at the address that was looked up, and nowhere else', async (t) => {
  const provider = await startTestProvider(t, (response) => void response.end('here'));
  const { port } = new URL(provider.url);
  const request: string[] = [];
  const lookup: LookupFunction = (hostname, options, done) => {
    request.push(hostname);
    if (options.all === true) return done(null, [{ address: '127.0.0.1', family: 4 }]);
    done(null, '127.0.0.1', 4);
  };
  const forwarder = openForwarder(parseProxySettings({}), lookup);
  t.after(forwarder.close);
  const place = forwarder.resolveDestination({
    upstream_url: `http://name.example:${port}/a?b#c`,
    path: '/not-this',
  });
  assert.equal(place.is_configured, false);
  const answer = await forwarder.send(place, call());
  assert.deepEqual([answer.status, answer.text], [200, 'here']);
  assert.deepEqual(request, ['name.example']);
  assert.equal(provider.requests[0]?.path, '/a?b');
  assert.equal(findHeader(provider.requests[0]!.headers, 'host'), `name.example:${port}`);
});

test('a name that resolves to an address that is not public is not called', async (t) => {
  const provider = await startTestProvider(t, (response) => void response.end());
  const forwarder = openForwarder(parseProxySettings({}));
  t.after(forwarder.close);
  // `localhost` would be refused by name; this test covers the system's own lookup.
  const url = new URL(provider.url.replace('127.0.0.1', 'localhost'));
  const failure = await expectUpstreamFailure(forwarder.send({ url, is_configured: false }, call()));
  assert.equal(failure.code, 'invalid_request');
  assert.match(failure.message, /not public/);
  assert.equal(provider.requests.length, 0);
});

test('a path cannot leave the base of the target', () => {
  const forwarder = openForwarder(parseProxySettings({ target: 'http://host.test/team/v1' }));
  const rows = [
    ['/v1/models', '/team/v1/models'],
    ['/models', '/team/v1/models'],
    ['/../../admin', '/team/v1/admin'],
    ['/v1/%2e%2e/%2e%2e/admin', '/team/v1/admin'],
    ['//evil.test/x', '/team/v1//evil.test/x'],
    ['/@evil.test', '/team/v1/@evil.test'],
    [null, '/team/v1/'],
  ] as const;
  for (const [path, wanted] of rows) {
    const { url, is_configured } = forwarder.resolveDestination({ upstream_url: null, path });
    assert.deepEqual(
      [url.origin, url.pathname, is_configured],
      ['http://host.test', wanted, true],
      `${path}`,
    );
  }
  assert.equal(rows.length, 7);
});

test('when the caller goes, the upstream sees it', async (t) => {
  const provider = await startTestProvider(t, (response) => void response.write('a'));
  const forwarder = openForwarder(parseProxySettings({ target: provider.url }));
  t.after(forwarder.close);
  const client = new AbortController();
  const place = forwarder.resolveDestination({ upstream_url: null, path: '/' });
  const sending = expectUpstreamFailure(forwarder.send(place, call({ signal: client.signal })));
  while (provider.requests.length === 0) await new Promise(setImmediate);
  client.abort();
  assert.equal((await sending).code, 'aborted');
  await provider.disconnected;
});
