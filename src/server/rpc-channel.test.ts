import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type MessagePipe,
  openRpcChannel,
  type RpcChannel,
  RpcFault,
  type RpcHandlers,
} from './rpc-channel.ts';

type Listener = (message: unknown) => void;

/** Two ends of a pipe in this process. Messages are copied, as they are between processes. */
function createPipes(): [MessagePipe, MessagePipe] {
  const listeners: Listener[][] = [[], []];
  const end = (own: number): MessagePipe => ({
    send: (message) => {
      const copy = structuredClone(message);
      setImmediate(() => {
        for (const listener of listeners[1 - own]!) listener(copy);
      });
      return true;
    },
    onMessage: (listener) => void listeners[own]!.push(listener),
  });
  return [end(0), end(1)];
}

function connect<Theirs extends RpcHandlers>(theirs: Theirs): RpcChannel<Theirs> {
  const [here, there] = createPipes();
  openRpcChannel(there, theirs);
  return openRpcChannel<Theirs>(here, {});
}

test('a question gets its own answer, in whatever order they come', async () => {
  const settle: ((value: string) => void)[] = [];
  const channel = connect({
    slow: (_nothing: null) => new Promise<string>((resolve) => settle.push(resolve)),
    double: (input: number) => input * 2,
  });
  const slow = channel.call('slow', null, 5_000);
  assert.equal(await channel.call('double', 21, 5_000), 42);
  settle[0]!('late');
  assert.equal(await slow, 'late');
});

test('a fault crosses as its code and sentence, without a stack', async () => {
  const channel = connect({
    refuse: (_nothing: null): never => {
      throw Object.assign(new Error('No room.'), { code: 'full' });
    },
  });
  const rows = [
    ['refuse', 'full', /No room\./],
    ['unknown', 'failed', /is not known here/],
  ] as const;
  for (const [question, code, message] of rows) {
    await assert.rejects(channel.call(question as 'refuse', null, 5_000), (fault) => {
      assert.ok(fault instanceof RpcFault);
      assert.equal(fault.code, code);
      assert.match(fault.message, message);
      return true;
    });
  }
});

test('no answer in time, or the end of the other side, settles the question', async () => {
  const silent = connect({ never: (_nothing: null) => new Promise<void>(() => {}) });
  await assert.rejects(silent.call('never', null, 10), { code: 'timeout' });
  const request = silent.call('never', null, 60_000);
  silent.close();
  await assert.rejects(request, { code: 'gone' });
  await assert.rejects(silent.call('never', null, 60_000), { code: 'gone' });
});
