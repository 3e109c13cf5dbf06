/** Messages of every form over HTTP and over standard input: both transports answer with the same error. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, test } from 'node:test';
import { openStdioInput, openStdioTransport } from '../mcp/stdio-input.ts';
import { serve, type TestServer } from './testing/serve.ts';

let service: TestServer;
let stateDir: string;
before(async () => {
  stateDir = mkdtempSync(join(tmpdir(), 'messages-'));
  service = await serve({ state_dir: stateDir, body_bytes_max: 16_777_216 });
});
after(async () => {
  await service?.close();
  rmSync(stateDir, { recursive: true, force: true });
});

interface ErrorReply {
  readonly id: unknown;
  readonly error: { readonly code: number; readonly message: string };
}

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const CALL = { jsonrpc: '2.0', method: 'tools/call' };
/** Each message with the ids of its errors, and their sentence. */
const INVALID: readonly (readonly [line: string, ids: readonly unknown[], sentence: RegExp])[] = [
  [JSON.stringify({ ...CALL, id: null }), [null], /id that is a text or an integer/],
  [JSON.stringify({ ...CALL, id: 1.5 }), [1.5], /id that is a text or an integer/],
  [JSON.stringify({ ...CALL, id: true }), [null], /id that is a text or an integer/],
  [JSON.stringify({ ...CALL, id: {} }), [null], /id that is a text or an integer/],
  [JSON.stringify({ ...CALL, id: 7, jsonrpc: '1.0' }), [7], /JSON-RPC 2.0/],
  [JSON.stringify({ id: 'a', method: 5, jsonrpc: '2.0' }), ['a'], /JSON-RPC 2.0/],
  [JSON.stringify([{ ...CALL, id: 1 }, CALL, { ...CALL, id: 'b' }, {}]), [1, 'b', null], /Batches/],
  [JSON.stringify({ ...CALL, jsonrpc: '1.0' }), [null], /JSON-RPC 2.0/],
  [JSON.stringify({ method: CALL.method }), [null], /JSON-RPC 2.0/],
  [JSON.stringify({ ...CALL, params: 'a' }), [null], /JSON-RPC 2.0/],
  [JSON.stringify({ ...CALL, id: 2, params: ['a'] }), [2], /JSON-RPC 2.0/],
  [JSON.stringify({ ...CALL, id: 3, params: null }), [3], /JSON-RPC 2.0/],
  [JSON.stringify({ jsonrpc: '2.0', id: 4 }), [4], /JSON-RPC 2.0/],
  [JSON.stringify({ ...CALL, id: 5, result: {} }), [5], /JSON-RPC 2.0/],
  [JSON.stringify([{ ...CALL, id: 1 }, 7]), [1, null], /Batches are not supported/],
  ['{}', [null], /JSON-RPC 2.0/],
  ['null', [null], /JSON-RPC 2.0/],
  ['[]', [null], /Batches are not supported/],
  ['7', [null], /JSON-RPC 2.0/],
  ['{"jsonrpc":', [null], /not (?:valid )?JSON/],
];

/** Writes lines to a transport that answers requests, and returns all that it answers. */
async function answerLines(lines: readonly string[]): Promise<readonly unknown[]> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const input = openStdioInput(stdin);
  const transport = openStdioTransport(input.stream, stdout);
  transport.onmessage = (message) => {
    if ('id' in message && 'method' in message)
      void transport.send({ jsonrpc: '2.0', id: message.id!, result: {} });
  };
  await transport.start();
  input.watch(transport);
  stdin.end([...lines, JSON.stringify({ ...CALL, id: 1 })].map((line) => `${line}\n`).join(''));
  await input.ended;
  stdout.end();
  return (await text(stdout))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Posts a message and returns the status and the JSON of the answer; the one event of a stream if it is one. */
async function post(body: string): Promise<{ readonly status: number; readonly json: unknown }> {
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const answer = await service.ask({ method: 'POST', path: '/mcp', body, headers });
  const event = /^data: (.*)$/m.exec(answer.text)?.[1];
  return { status: answer.status, json: event === undefined ? answer.json : JSON.parse(event) };
}

function assertErrors(answer: unknown, ids: readonly unknown[], sentence: RegExp, line: string): void {
  const errors = [answer].flat() as readonly ErrorReply[];
  assert.deepEqual(
    errors.map(({ id }) => id),
    ids,
    line.slice(0, 200),
  );
  for (const { error } of errors) assert.match(error.message, sentence, line.slice(0, 200));
}

test('both transports answer every invalid message alike', async () => {
  for (const [line, ids, sentence] of INVALID) {
    const [answer, last] = await answerLines([line]);
    assertErrors(answer, ids, sentence, line);
    assert.deepEqual(last, { jsonrpc: '2.0', id: 1, result: {} });
    const { status, json } = await post(line);
    assert.equal(status, 400, line.slice(0, 200));
    assertErrors(json, ids, sentence, line);
  }
  assert.equal(INVALID.length, 20);
});

test('both transports name the size and the limit', async () => {
  const long = JSON.stringify({ ...PING, id: 9, params: { a: 'x'.repeat(17_000_000) } });
  const named = new RegExp(`has ${long.length} bytes.*16777216 bytes`);
  const [answer, last] = await answerLines([long]);
  assertErrors(answer, [9], named, long);
  assert.deepEqual(last, { jsonrpc: '2.0', id: 1, result: {} });
  // The id is in the body, which is not read.
  const { status, json } = await post(long);
  assert.equal(status, 413);
  assertErrors(json, [null], named, long);
});

test('both transports answer valid requests, and no notification or answer', async () => {
  const requests = [PING, { ...PING, id: 'a' }, { ...PING, id: '' }, { ...PING, id: 0 }, { ...PING, id: -1 }];
  for (const { id, ...request } of requests) {
    const expected = { jsonrpc: '2.0', id, result: {} };
    const { status, json } = await post(JSON.stringify({ ...request, id }));
    assert.deepEqual([status, json], [200, expected]);
    assert.deepEqual((await answerLines([JSON.stringify({ ...request, id })]))[0], expected);
  }
  const unknown = await post(JSON.stringify({ ...PING, method: 'notifications/initialized' }));
  assertErrors(unknown.json, [1], /Method not found/, 'a notification with an id');
  // Only HTTP has a revision with batches.
  const batch = JSON.stringify([PING, { ...PING, id: 'b' }]);
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
  const { text: streamed } = await service.ask({ method: 'POST', path: '/mcp', body: batch, headers });
  assert.deepEqual(streamed.match(/"id":[^}]*/g), ['"id":1', '"id":"b"']);
  assertErrors((await answerLines([batch]))[0], [1, 'b'], /Batches are not supported/, batch);
  const silent = [
    JSON.stringify(CALL),
    '{"jsonrpc":"2.0","id":1,"result":{}}',
    '{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a"}}',
  ];
  for (const line of silent) assert.deepEqual(await post(line), { status: 202, json: null });
  const unread = ['{"jsonrpc":"2.0","result":{}}', '{"jsonrpc":"2.0","id":{},"error":{}}', ''];
  assert.deepEqual(await answerLines([...silent, ...unread]), [{ jsonrpc: '2.0', id: 1, result: {} }]);
});

test('a logged fault has its place and no content', async () => {
  const broken = await serve({
    state_dir: stateDir,
    instead: {
      telemetry: {
        within: () => {
          throw new TypeError('with content');
        },
        recordCheck: () => {},
        startCall: () => assert.fail('no model is called'),
        close: async () => {},
      },
    },
  });
  try {
    const { status } = await broken.ask({ path: '/mcp', body: PING });
    assert.equal(status, 500);
    const [line = ''] = broken.logged;
    assert.match(line, /an MCP request met a fault.*"fault":"TypeError".*"at":\["at /);
    assert.ok(!line.includes('with content'));
  } finally {
    await broken.close();
  }
});
