/** The destinations of the MCP proxy's requests, and the limit of an answer. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { openGuardedFetch } from './guarded-fetch.ts';
import { classifyFailure } from './server-failure.ts';

const LIMITS = { connect_ms: 1_000, response_bytes_max: 1_000 };

async function withServer<T>(answer: RequestListener, use: (origin: string) => Promise<T>): Promise<T> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** Returns the text of an answer or the failure's code, and whether the limit was reported. */
async function read(origin: string, path = '/', address = origin): Promise<readonly [string, boolean]> {
  let exceeded = false;
  const tell = () => {
    exceeded = true;
  };
  const guarded = openGuardedFetch(`${address}/mcp`, { ...LIMITS, exceeded: tell });
  try {
    const response = await guarded.fetch(`${origin}${path}`);
    return [await response.text(), exceeded];
  } catch (error) {
    return [classifyFailure(error).code, exceeded];
  } finally {
    await guarded.close();
  }
}

test('only the configured origin is called, and no redirection is followed', () => {
  const requested: string[] = [];
  return withServer(
    (request, response) => {
      requested.push(request.url ?? '');
      if (request.url === '/moved') response.writeHead(302, { location: '/' }).end();
      else response.end('here');
    },
    async (origin) => {
      assert.deepEqual(await read(origin), ['here', false]);
      assert.deepEqual(await read(origin, '/moved'), ['redirected', false]);
      assert.deepEqual(await read(origin, '/', 'http://127.0.0.1:1'), ['other_address', false]);
      assert.deepEqual(requested, ['/', '/moved']);
    },
  );
});

test('addresses where clouds keep credentials are not called, in whatever way they are written', async () => {
  const addresses = [
    'http://169.254.169.254',
    'http://[fd00:ec2::254]',
    'http://[::ffff:169.254.169.254]',
    'http://100.100.100.200',
  ];
  for (const address of addresses) assert.deepEqual(await read(address), ['metadata', false], address);
  assert.equal(addresses.length, 4);
});

const EVENT = (length: number, end: string) => `data: ${'a'.repeat(length)}${end}${end}`;
const STREAMS: readonly (readonly [name: string, body: string, fits: boolean])[] = [
  ['many short events', EVENT(500, '\n').repeat(20), true],
  ['many short events, CRLF', EVENT(500, '\r\n').repeat(20), true],
  ['many short events, CR', EVENT(500, '\r').repeat(20), true],
  ['one long line', EVENT(1_500, '\n'), false],
  ['one long event of many lines', `${'data: a\n'.repeat(200)}\n`, false],
  ['one long event of many lines, CRLF', `${'data: a\r\n'.repeat(200)}\r\n`, false],
  ['a long one after short ones', `${EVENT(10, '\n').repeat(5)}${EVENT(1_500, '\n')}`, false],
];

test('a message is read as far as the limit, events each by itself', async () => {
  for (const [name, body, fits] of STREAMS)
    await withServer(
      (_request, response) => response.writeHead(200, { 'content-type': 'text/event-stream' }).end(body),
      async (origin) => {
        const [text, exceeded] = await read(origin);
        assert.deepEqual([text === body, exceeded], [fits, !fits], name);
      },
    );
  assert.equal(STREAMS.length, 7);
});

test('what is not a stream is counted whole, and decoded', () =>
  withServer(
    (request, response) => {
      const body = 'a'.repeat(request.url === '/long' ? 100_000 : 900);
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
      response.end(gzipSync(body));
    },
    async (origin) => {
      assert.deepEqual(await read(origin), ['a'.repeat(900), false]);
      assert.equal((await read(origin, '/long'))[1], true);
    },
  ));
