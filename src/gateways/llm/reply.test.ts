import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHeader } from '../upstream/headers.ts';
import { buildProviderHeaders } from './reply.ts';

const PASSED = {
  'content-type': 'application/json; charset=utf-8',
  'retry-after': '7',
  'x-should-retry': 'false',
  'request-id': 'req_theirs',
  'OpenAI-Processing-Ms': '12',
  'anthropic-ratelimit-tokens-limit': '4',
  'x-ratelimit-limit-tokens': '5',
};

/** Headers on which a browser or a proxy acts. */
const DROPPED =
  `content-security-policy content-security-policy-report-only clear-site-data location refresh link
  www-authenticate x-frame-options access-control-allow-origin access-control-expose-headers set-cookie nel report-to
  sourcemap x-sourcemap x-accel-redirect x-sendfile service-worker-allowed content-disposition content-location
  cross-origin-opener-policy permissions-policy referrer-policy vary server x-service-decision digest origin-agent-cluster
  content-encoding content-length speculation-rules timing-allow-origin x-dns-prefetch-control`.split(/\s+/);

test('drops headers on which browsers or proxies act', () => {
  for (const name of DROPPED) {
    const headers = buildProviderHeaders([...Object.entries(PASSED).flat(), name, 'x'], 'req_1');
    assert.equal(findHeader(headers, name), null, name);
    for (const [passed, value] of Object.entries(PASSED))
      assert.equal(findHeader(headers, passed.toLowerCase()), value, passed);
  }
  assert.ok(DROPPED.length > 30);
});

test('names the request with the id of the service', () => {
  const headers = buildProviderHeaders(['X-Request-Id', 'theirs'], 'req_1');
  assert.equal(findHeader(headers, 'x-request-id'), 'req_1');
  assert.equal(findHeader(headers, 'x-upstream-request-id'), 'theirs');
});

test('turns types that a browser runs into plain text', () => {
  const rows: readonly (readonly [string, string])[] = [
    ['text/event-stream', 'text/event-stream'],
    ['text/event-stream; charset=utf-8', 'text/event-stream; charset=utf-8'],
    ['application/json;charset=UTF-8', 'application/json;charset=UTF-8'],
    ['application/problem+json', 'application/problem+json'],
    ['text/html', 'text/plain'],
    ['TEXT/HTML; charset=utf-8', 'text/plain'],
    ['image/svg+xml', 'text/plain'],
    ['application/json, text/html', 'text/plain'],
    ['application/json; charset=utf-7', 'text/plain'],
    ['application/xhtml+xml', 'text/plain'],
  ];
  for (const [given, expected] of rows) {
    const headers = buildProviderHeaders(['content-type', given], 'req_1');
    assert.equal(findHeader(headers, 'content-type'), expected);
    assert.equal(findHeader(headers, 'x-content-type-options'), 'nosniff');
  }
});
