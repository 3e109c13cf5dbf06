import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, serve, type TestServer } from './testing/serve.ts';

const LIMIT = 400_000;
/** Memory for two of the large bodies, but not for three. */
const ROOM = 900_000;
const LARGE = JSON.stringify({ text: 'a'.repeat(350_000) });

const HEAD = 'POST /v1/scan/input HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const announced = `${HEAD}Content-Length: ${LARGE.length}\r\n\r\n${LARGE.slice(0, -1)}`;
const chunk = `${LARGE.length.toString(16)}\r\n${LARGE}\r\n`;
const chunked = `${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunk}`;

async function open(t: TestContext): Promise<TestServer> {
  const scratch = mkdtempSync(join(tmpdir(), 'room-'));
  const service = await serve({ state_dir: scratch, body_bytes_max: LIMIT, bodies_bytes_max: ROOM });
  t.after(async () => {
    await service.close();
    rmSync(scratch, { recursive: true, force: true });
  });
  return service;
}

/** Sends all but the end of a body, and leaves the connection open. */
async function stall({ port }: TestServer, sent: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  await new Promise((done) => socket.write(sent, done));
  return socket;
}

const scan = (service: TestServer, body: string, headers: Record<string, string> = {}): Promise<Answer> =>
  service.ask({ path: '/v1/scan/input', body, headers: { 'content-type': 'application/json', ...headers } });

/** Retries until the service answers with this status: bytes and the end of a connection arrive with a delay. */
async function waitForStatus(
  service: TestServer,
  status: number,
  headers: Record<string, string>,
): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    const answer = await scan(service, LARGE, headers);
    if (answer.status === status || tries === 200) return answer;
    await sleep(10);
  }
}

const kinds = [
  { name: 'announced', sent: announced, headers: {} },
  { name: 'in chunks', sent: chunked, headers: { 'transfer-encoding': 'chunked' } },
];

test('stalled large bodies leave memory for small ones, and release their own', async (t) => {
  const service = await open(t);
  let ran = 0;
  for (const { name, sent, headers } of kinds) {
    assert.equal((await scan(service, LARGE, headers)).status, 200, name);
    const stalled = await Promise.all([stall(service, sent), stall(service, sent)]);
    const refused = await waitForStatus(service, 503, headers);
    assert.deepEqual([refused.status, refused.json.code], [503, 'unavailable'], name);
    assert.equal((await scan(service, '{"text":"small"}')).status, 200, name);
    for (const socket of stalled) socket.destroy();
    assert.equal((await waitForStatus(service, 200, headers)).status, 200, name);
    ran++;
  }
  assert.equal(ran, kinds.length);
  assert.deepEqual(service.logged, []);
});

test('a client whose large body exceeds the memory limit receives the reason', async (t) => {
  const service = await open(t);
  const stalled = await Promise.all([stall(service, chunked), stall(service, chunked)]);
  await waitForStatus(service, 503, { 'transfer-encoding': 'chunked' });
  const whole = [
    `${announced}}`,
    `${chunked}0\r\n\r\n`,
    `${HEAD}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(8)}0\r\n\r\n`,
  ];
  for (const sent of whole) {
    const socket = await stall(service, sent);
    const [heard] = await once(socket, 'data');
    socket.destroy();
    assert.match(String(heard), /^HTTP\/1\.1 503 /);
  }
  for (const socket of stalled) socket.destroy();
  assert.deepEqual(service.logged, []);
});

test('bodies that stopped coming give their place to one that comes', async (t) => {
  const service = await open(t);
  let ran = 0;
  for (const { name, sent, headers } of kinds) {
    const stalled = await Promise.all([stall(service, sent), stall(service, sent)]);
    // The stalled bodies stay incomplete; by then they have been silent for more than two seconds.
    const closed = Promise.all(stalled.map((socket) => once(socket, 'close')));
    for (let tries = 0; ; tries++) {
      const { status } = await scan(service, LARGE, headers);
      if (status === 200 && stalled.some((socket) => socket.closed)) break;
      assert.ok(tries < 600, name);
      await sleep(20);
    }
    for (const socket of stalled) socket.destroy();
    await closed;
    ran++;
  }
  assert.equal(ran, kinds.length);
});
