// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the configuration's own `${NAME}` is meant.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { buildRequestHeaders, filterAnswerHeaders, findHeader, removeHeader } from './headers.ts';
import { listProviders } from './settings.ts';
import { parseProxySettings } from './testing/test-upstreams.ts';

const provider = (written: object) =>
  listProviders(parseProxySettings({ providers: [{ name: 'p', ...written }] }))[0]!;

test('a key goes where its family wants it, and every key of the client goes', () => {
  const given = [
    'Authorization',
    'Bearer c',
    'X-API-Key',
    'c',
    'x-goog-api-key',
    'c',
    'Api-Key',
    'c',
    'A',
    'b',
  ];
  const rows = [
    ['openai', {}, 'authorization', 'Bearer key-a'],
    ['anthropic', {}, 'x-api-key', 'key-a'],
    ['gemini', {}, 'x-goog-api-key', 'key-a'],
    ['openai', { auth_header: 'Api-Key' }, 'api-key', 'key-a'],
    ['openai', { auth_header: 'X-Own' }, 'x-own', 'key-a'],
  ] as const;
  for (const [family, more, name, value] of rows) {
    const one = provider({ family, api_key: '${A}', ...more });
    assert.deepEqual(buildRequestHeaders(given, one, one.keys[0]!), [
      'A',
      'b',
      'accept-encoding',
      'identity',
      name,
      value,
    ]);
  }
  const none = provider({ family: 'openai' });
  assert.deepEqual(
    buildRequestHeaders(given, none, null),
    [...given, 'accept-encoding', 'identity'],
    'the control',
  );
  assert.equal(rows.length, 5);
});

test('what is of one connection, of this network or for this service does not go out', () => {
  const names = [
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Accept-Encoding',
    'Content-Length',
    'Cookie',
    'Expect',
    'Forwarded',
    'Host',
    'Via',
    'X-Real-IP',
    'X-Forwarded-For',
    'X-Forwarded-Proto',
    'X-Service-Key',
    'X-Service-Agent',
  ];
  const one = provider({ family: 'openai' });
  for (const name of names)
    assert.deepEqual(
      buildRequestHeaders([name, 'v', 'Kept', 'v'], one, null),
      ['Kept', 'v', 'accept-encoding', 'identity'],
      name,
    );
  assert.equal(names.length, 20);
  const token = `svc_key_${'A'.repeat(43)}`;
  const ours = ['authorization', 'Bearer svc_agent_x', 'x-api-key', 'svc_key_x', 'x-note', `Basic ${token}`];
  assert.deepEqual(buildRequestHeaders(ours, one, null), ['accept-encoding', 'identity']);
  const listed = [
    'connection',
    'close, X-Listed',
    'x-listed',
    '1',
    'anthropic-beta',
    'a',
    'anthropic-beta',
    'b',
  ];
  assert.deepEqual(buildRequestHeaders(listed, one, null).slice(0, 4), [
    'anthropic-beta',
    'a',
    'anthropic-beta',
    'b',
  ]);
});

test('what of an answer is for another host or another connection does not come back', () => {
  const raw = [
    'Set-Cookie',
    'a',
    'Connection',
    'X-Hop',
    'X-Hop',
    'a',
    'Content-Length',
    '1',
    'Alt-Svc',
    'h3',
    'X-Ok',
    '1',
    'x-ok',
    '2',
  ];
  assert.deepEqual(filterAnswerHeaders(raw), ['X-Ok', '1', 'x-ok', '2']);
  assert.equal(findHeader(raw, 'x-ok'), '1');
  assert.equal(findHeader(raw, 'x-no'), null);
  assert.deepEqual(removeHeader(['A', '1', 'b', '2', 'a', '3'], 'a'), ['b', '2']);
});
