import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { isSecretKey, SecretFailure, VALUE_CHARACTERS_MAX } from './backend.ts';
import { env } from './env.ts';
import { vault } from './vault.ts';

const VALUE = ['value', '5d41'].join('-');
const TOKEN = ['hvs', 'token5d41'].join('.');

test('what names a secret, and what does not', () => {
  const names = ['a', 'DATABASE_URL', '_x', 'db/prod#password', 'a.b-c_d/e', '9', 'a#b.c'];
  const others = [
    '',
    '.',
    '..',
    '../a',
    'a/..',
    'a/../b',
    '/a',
    'a/',
    'a//b',
    'a#',
    '#a',
    'a#b#c',
    'a b',
    'a%2f',
    'ä',
  ];
  for (const name of names) assert.ok(isSecretKey(name), name);
  for (const name of [...others, 'a\n', 'a'.repeat(257)]) assert.ok(!isSecretKey(name), name);
  assert.ok(isSecretKey('a'.repeat(256)));
});

test('env: with a map its entries alone, without one variables in capitals, and none of the service itself', async () => {
  const environment = {
    A: VALUE,
    EMPTY: '',
    SERVICE_X: 'x',
    NODE_OPTIONS: 'x',
    lower: 'x',
    LONG: 'x'.repeat(VALUE_CHARACTERS_MAX + 1),
  };
  const signal = AbortSignal.timeout(60_000);
  const plain = env.open({}, { env: environment });
  assert.equal(await plain.get('A', signal), VALUE);
  for (const key of ['B', 'EMPTY', 'SERVICE_X', 'NODE_OPTIONS', 'lower', 'toString', '__proto__', 'a/b'])
    assert.equal(await plain.get(key, signal), null, key);
  await assert.rejects(plain.get('LONG', signal), SecretFailure);
  const mapped = env.open({ 'db/url': 'A', own: 'SERVICE_X', gone: 'B' }, { env: environment });
  assert.equal(await mapped.get('db/url', signal), VALUE);
  assert.equal(await mapped.get('own', signal), 'x');
  for (const key of ['A', 'gone', 'toString']) assert.equal(await mapped.get(key, signal), null, key);
});

async function withServer<Outcome>(
  listener: RequestListener,
  work: (address: string) => Promise<Outcome>,
): Promise<Outcome> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const BODY = (data: unknown) => JSON.stringify({ data: { data, metadata: { version: 3 } } });

test('vault: the address to which a key and a path lead', async () => {
  const cases: readonly (readonly [path: string, key: string, url: string])[] = [
    ['secret/service', 'a', '/v1/secret/data/service'],
    ['secret/data/service', 'a', '/v1/secret/data/service'],
    ['/kv/team/service/', 'a', '/v1/kv/data/team/service'],
    ['service', 'a', '/v1/secret/data/service'],
    ['secret/data', 'a', ''],
    ['secret/service', 'db/prod#a', '/v1/secret/data/service/db/prod'],
    ['secret/service', 'db#a', '/v1/secret/data/service/db'],
    ['secret/service', 'db/prod', '/v1/secret/data/service/db/prod'],
    ['secret/ü x', 'a', '/v1/secret/data/%C3%BC%20x'],
    ['secret/..', 'a', ''],
    ['../sys', 'a', ''],
  ];
  for (const [path, key, url] of cases) {
    const requested: string[] = [];
    await withServer(
      (request, response) => {
        requested.push(request.url ?? '');
        response.end(BODY({ a: VALUE, value: 'v' }));
      },
      async (address) => {
        const open = () =>
          vault.open({ address: `${address}/`, token_env: 'T', path, namespace: 'n' }, { env: { T: TOKEN } });
        if (url === '') return assert.throws(open, SecretFailure);
        const value = await open().get(key, AbortSignal.timeout(60_000));
        assert.equal(value, key === 'db/prod' ? 'v' : VALUE);
        assert.deepEqual(requested, [url]);
      },
    );
  }
  assert.equal(cases.length, 11);
});

test('vault: an answer that cannot be used says what to do, and repeats nothing', async () => {
  const cases: readonly (readonly [
    status: number,
    headers: Record<string, string>,
    body: string,
    code: string,
    says: RegExp,
  ])[] = [
    [307, { location: 'http://other.example/' }, '', 'secrets_answer', /redirect/],
    [200, {}, JSON.stringify({ data: { a: VALUE } }), 'secrets_answer', /version 1/],
    [200, {}, `not JSON ${VALUE}`, 'secrets_answer', /no JSON/],
    [200, {}, JSON.stringify([VALUE]), 'secrets_answer', /version 1/],
    [200, {}, BODY({ a: 'x'.repeat(VALUE_CHARACTERS_MAX + 1) }), 'secrets_answer', /more than/],
    [200, {}, BODY({ a: VALUE, b: 'x'.repeat(3_000_000) }), 'secrets_answer', /more than/],
    [400, {}, VALUE, 'secrets_answer', /HTTP 400/],
    [429, {}, VALUE, 'secrets_unavailable', /HTTP 429/],
    [500, {}, VALUE, 'secrets_unavailable', /HTTP 500/],
    [503, {}, VALUE, 'secrets_unavailable', /sealed/],
    [403, {}, VALUE, 'secrets_denied', /`T`/],
  ];
  for (const [status, headers, body, code, says] of cases) {
    await withServer(
      (_request, response) => response.writeHead(status, headers).end(body),
      async (address) => {
        const backend = vault.open(
          { address, token_env: 'T', path: 'secret/service' },
          { env: { T: TOKEN } },
        );
        await assert.rejects(backend.get('a', AbortSignal.timeout(60_000)), (error) => {
          assert.ok(error instanceof SecretFailure, String(error));
          assert.equal(error.code, code);
          assert.match(error.message, says);
          assert.ok(!error.message.includes(VALUE) && !error.message.includes(TOKEN));
          return true;
        });
      },
    );
  }
  assert.equal(cases.length, 11);
});

test('vault: values that are no texts, and what a field is not', async () => {
  const fields = { number: 7, list: [1], none: null, text: VALUE };
  await withServer(
    (_request, response) => response.end(BODY(fields)),
    async (address) => {
      const backend = vault.open({ address, token_env: 'T', path: 'secret/service' }, { env: { T: TOKEN } });
      const read = (key: string) => backend.get(key, AbortSignal.timeout(60_000));
      assert.deepEqual(
        [
          await read('number'),
          await read('list'),
          await read('none'),
          await read('text'),
          await read('toString'),
        ],
        ['7', '[1]', null, VALUE, null],
      );
    },
  );
});
