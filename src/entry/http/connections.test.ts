import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runWithoutSilenceLimit } from '../web/connections.ts';
import { serve, type TestServer } from './testing/serve.ts';

const scratch = mkdtempSync(join(tmpdir(), 'connections-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

const HEAD = 'POST /v1/scan/input HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

/** Ways in which a client keeps a request incomplete. Each sends its next byte over and over, and reads nothing. */
const drips: readonly { name: string; first: string; next: string }[] = [
  { name: 'nothing at all', first: '', next: '' },
  { name: 'part of the request line', first: 'GET /v1', next: 'a' },
  { name: 'headers', first: `${HEAD}x-slow: `, next: 'a' },
  { name: 'a body of a known length', first: `${HEAD}Content-Length: 5000\r\n\r\n{"text":"`, next: 'a' },
  { name: 'a body in chunks', first: `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, next: '1\r\na\r\n' },
  {
    name: 'a body behind a refusal',
    first: `${HEAD}Content-Encoding: gzip\r\nContent-Length: 5000\r\n\r\n`,
    next: 'a',
  },
  { name: 'no HTTP', first: 'zq\r\n\r\n', next: 'a' },
];

interface SlowRequest {
  readonly end: () => void;
}

/** Opens `count` connections that send slowly, and never reads from them. */
async function openDrippingRequests(
  { port }: TestServer,
  { first, next }: (typeof drips)[number],
  count: number,
): Promise<SlowRequest> {
  const sockets = await Promise.all(
    Array.from({ length: count }, () => {
      // The client keeps its own side open when the server closes.
      const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).pause();
      socket.on('error', () => {});
      if (first !== '') socket.write(first);
      return new Promise<Socket>((done) => socket.once('connect', () => done(socket)));
    }),
  );
  const timer = setInterval(() => {
    if (next !== '') for (const socket of sockets) if (socket.writable) socket.write(next);
  }, 20);
  return {
    end: () => {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Waits until `holds` returns `true`; fails after about a minute. */
async function waitUntil(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let looks = 0; !(await holds()); looks++) {
    assert.ok(looks < 1_200, what);
    await sleep(50);
  }
}

test('no half-open request holds a file descriptor, whatever it drips and whether or not it reads', async () => {
  const patience = { headers_ms: 300, request_ms: 600, idle_ms: 300, silent_ms: 60_000, look_ms: 50 };
  const ended = await Promise.all(
    drips.map(async (dripOf) => {
      const service = await serve({ state_dir: scratch, patience });
      const dripping = await openDrippingRequests(service, dripOf, 30);
      await waitUntil(dripOf.name, async () => (await service.connections()) === 0);
      dripping.end();
      await service.close();
      return dripOf.name;
    }),
  );
  assert.equal(ended.length, 7);
});

test('complete requests get through while more clients drip than there may be connections', async () => {
  const service = await serve({ state_dir: scratch, connections_max: 128 });
  let answered = 0;
  for (const dripOf of drips) {
    const dripping = await openDrippingRequests(service, dripOf, 300);
    for (let requested = 0; requested < 5; requested++) {
      const { status } = await service.ask({ path: '/v1/scan/input', body: { text: 'hello' } });
      assert.equal(status, 200, dripOf.name);
      answered++;
    }
    assert.ok((await service.connections()) <= 128, dripOf.name);
    dripping.end();
  }
  assert.equal(answered, 35);
  await service.close();
});

test('a model call suspends the limit for silent connections', async () => {
  const socket = new Socket();
  socket.setTimeout(60_000);
  assert.equal(await runWithoutSilenceLimit(socket, () => socket.timeout), 0);
  assert.equal(socket.timeout, 60_000);
  const failing = runWithoutSilenceLimit(socket, () => Promise.reject(new Error('late')));
  await assert.rejects(failing, /late/);
  assert.equal(socket.timeout, 60_000);
  socket.destroy();
});

test('a connection with a pending request is never closed for a new one', async () => {
  const service = await serve({ state_dir: scratch, connections_max: 32 });
  const answers = Array.from({ length: 20 }, () =>
    service.ask({ path: '/v1/scan/input', body: { text: 'jane.doe@corp-mail.io '.repeat(2_000) } }),
  );
  const dripping = await openDrippingRequests(service, drips[2]!, 200);
  const statuses = (await Promise.all(answers)).map(({ status }) => status);
  assert.deepEqual(new Set(statuses), new Set([200]));
  dripping.end();
  await service.close();
});
