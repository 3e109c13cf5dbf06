import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { expectRows } from '../../core/testing/expect-rows.ts';
import { getReadSources } from '../../gateways/mcp/exact-transports.ts';
import { openStdioInput } from './stdio-input.ts';

const request = (id: number, method = 'tools/call') => ({ jsonrpc: '2.0', id, method }) as const;
const cancel = (requestId: number) =>
  ({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } }) as const;

/** Sends messages and ends the input. Request 1 has an answer some time later. Returns the output. */
async function pipeMessages(messages: readonly object[], waits: boolean): Promise<string> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const input = waits ? openStdioInput(stdin) : null;
  const transport = new StdioServerTransport(input?.stream ?? stdin, stdout);
  const received = Promise.withResolvers<void>();
  transport.onmessage = (message) => {
    if (!('id' in message) || message.id !== 1) return;
    received.resolve(
      sleep(50).then(() => transport.send({ jsonrpc: '2.0', id: 1, result: {} }).catch(() => {})),
    );
  };
  await transport.start();
  input?.watch(transport);
  stdin.end(messages.map((each) => `${JSON.stringify(each)}\n`).join(''));
  await Promise.all([received.promise, input?.ended]);
  stdout.end();
  return text(stdout);
}

test('the last request of a pipe gets its answer, and no subscription or cancelled request delays the end', async () => {
  const rows: readonly (readonly object[])[] = [
    [request(1)],
    [request(1), request(2, 'subscriptions/listen')],
    [request(2), request(1), cancel(2)],
  ];
  for (const messages of expectRows(3, rows)) {
    const beganMs = performance.now();
    assert.equal(await pipeMessages(messages, true), '{"jsonrpc":"2.0","id":1,"result":{}}\n');
    assert.ok(performance.now() - beganMs < 10_000);
  }
  assert.equal(await pipeMessages([request(1)], false), '', 'the library closes with its input');
});

test('the input ends with a transport that closes', async () => {
  const stdin = new PassThrough();
  const input = openStdioInput(stdin);
  const transport = new StdioServerTransport(input.stream, new PassThrough());
  await transport.start();
  input.watch(transport);
  await transport.close();
  await input.ended;
  assert.ok(stdin.destroyed);
});

test('reads an error for an oversized server answer', async () => {
  const stdin = new PassThrough();
  const transport = getReadSources(new StdioServerTransport(stdin, new PassThrough()), { bytes_max: 1_000 });
  const closed = Promise.withResolvers<void>();
  transport.onclose = closed.resolve;
  const read: unknown[] = [];
  transport.onmessage = (message) => void read.push(message);
  await transport.start();
  const long = { content: [{ type: 'text', text: 'x'.repeat(2_000) }] };
  const lines = [
    JSON.stringify({ result: long, jsonrpc: '2.0', id: 4 }),
    JSON.stringify({ jsonrpc: '2.0', id: 'b', result: long }),
    JSON.stringify({ jsonrpc: '2.0', id: 5, result: {} }),
  ];
  for (const piece of `${lines.join('\n')}\n`.match(/[\s\S]{1,300}/g)!) stdin.write(piece);
  stdin.end();
  await closed.promise;
  const message = 'Its answer is longer than `response_bytes_max` (1000 bytes).';
  assert.deepEqual(read, [
    { jsonrpc: '2.0', id: 4, error: { code: -32600, message } },
    { jsonrpc: '2.0', id: 'b', error: { code: -32600, message } },
    { jsonrpc: '2.0', id: 5, result: {} },
  ]);
});
