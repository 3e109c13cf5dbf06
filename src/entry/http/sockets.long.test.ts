import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve, type TestServer } from './testing/serve.ts';

/** A marker in everything that is sent; no answer may contain it. */
const MARKER = 'zqxMARKERxqz';
const LIMIT = 65_536;

const scratch = mkdtempSync(join(tmpdir(), 'sockets-'));
/** One server with short time limits, and one with the defaults. */
let hasty: TestServer;
let patient: TestServer;
before(async () => {
  const patience = { headers_ms: 200, request_ms: 400, idle_ms: 200, silent_ms: 60_000, look_ms: 50 };
  hasty = await serve({ state_dir: scratch, patience });
  patient = await serve({ state_dir: scratch, body_bytes_max: LIMIT });
});
after(async () => {
  await hasty.close();
  await patient.close();
  rmSync(scratch, { recursive: true, force: true });
});

/** Sends the bytes, and returns the answer until the server closes the connection. */
function talk({ port }: TestServer, sent: string): Promise<string> {
  return new Promise((done) => {
    let heard = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(sent));
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      heard += chunk;
    });
    socket.on('error', () => done(heard));
    socket.on('close', () => done(heard));
  });
}

const HEAD = 'POST /v1/scan/input HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

const cases: readonly { name: string; sent: string; status: number; code: string }[] = [
  { name: 'no HTTP', sent: `${MARKER}\r\n\r\n`, status: 400, code: 'invalid_request' },
  { name: 'no host', sent: 'GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n', status: 400, code: '' },
  {
    name: 'headers too large',
    sent: `GET / HTTP/1.1\r\nHost: x\r\nx-a: ${MARKER.repeat(2000)}\r\n\r\n`,
    status: 431,
    code: 'invalid_request',
  },
  {
    name: 'two lengths',
    sent: `${HEAD}Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345`,
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'a length and chunks',
    sent: `${HEAD}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    status: 400,
    code: 'invalid_request',
  },
  ...['Host: localhost', 'content-type: text/plain'].map((header) => ({
    name: `a second ${header}`,
    sent: `${HEAD}${header}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
    status: 400,
    code: 'invalid_request',
  })),
  {
    name: 'two credentials',
    sent: 'GET /v1/plugins HTTP/1.1\r\nHost: localhost\r\nAuthorization: a\r\nauthorization: b\r\nConnection: close\r\n\r\n',
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'an address of another host',
    sent: 'GET http://other.test/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
    status: 400,
    code: 'invalid_request',
  },
  {
    name: 'an expectation that nobody knows',
    sent: `${HEAD}Expect: ${MARKER}\r\nContent-Length: 2\r\n\r\n{}`,
    status: 417,
    code: 'invalid_request',
  },
  { name: 'headers that never end', sent: `${HEAD}x-slow: ${MARKER}`, status: 408, code: 'invalid_request' },
  {
    name: 'a body that never ends',
    sent: `${HEAD}Content-Length: 500\r\n\r\n{"text":"${MARKER}`,
    status: 408,
    code: 'invalid_request',
  },
];

test('what is no HTTP, or comes too slowly, gets an answer in the same shape, and the connection ends', async () => {
  let ran = 0;
  for (const { name, sent, status, code } of cases) {
    const heard = await talk(hasty, sent);
    assert.match(heard, new RegExp(`^HTTP/1\\.1 ${status} `), `${name}: ${heard}`);
    if (code !== '') assert.equal(JSON.parse(heard.slice(heard.indexOf('\r\n\r\n'))).code, code, name);
    assert.ok(!heard.includes(MARKER), name);
    ran++;
  }
  assert.equal(ran, cases.length);
  assert.deepEqual(hasty.logged, []);
});

test('a connection that asks nothing more is closed', async () => {
  const heard = await talk(hasty, 'GET /v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n');
  assert.match(heard, /^HTTP\/1\.1 200 /);
});

test('a connection that takes no answer is closed', async () => {
  const patience = { headers_ms: 60_000, request_ms: 60_000, idle_ms: 60_000, silent_ms: 500, look_ms: 50 };
  const service = await serve({ state_dir: scratch, patience });
  const body = JSON.stringify({ text: 'jane.doe@corp-mail.io '.repeat(9_000) });
  const socket = connect(service.port, '127.0.0.1').pause();
  socket.on('error', () => {});
  // More answers than the buffers on the way hold.
  socket.write(`${HEAD}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`.repeat(60));
  for (let looks = 0; service.events.length === 0; looks++) await waitForNextLook(looks);
  for (let looks = 0; (await service.connections()) > 0; looks++) await waitForNextLook(looks);
  assert.ok(service.events.length < 60);
  socket.destroy();
  await service.close();
});

/** Waits between two checks; fails after about a minute. */
async function waitForNextLook(looks: number): Promise<void> {
  assert.ok(looks < 1_200, 'it did not come');
  await sleep(50);
}

test('a request that comes while the server closes is answered, and is the last of its connection', async () => {
  const service = await serve({ state_dir: scratch, grace_ms: 5_000 });
  const heard: string[] = [];
  const socket = connect(service.port, '127.0.0.1').setEncoding('utf8');
  const ended = once(socket, 'close');
  const ask = () => socket.write('GET /v1/ready HTTP/1.1\r\nHost: localhost\r\n\r\n');
  ask();
  const [first] = await once(socket, 'data');
  assert.doesNotMatch(first, /connection: close/i);
  const closed = service.close();
  socket.on('data', (chunk: string) => heard.push(chunk));
  ask();
  await ended;
  await closed;
  assert.match(heard.join(''), /^HTTP\/1\.1 200 [\s\S]*connection: close/i);
});

test('an address in place of a path is taken where it is ours', async () => {
  const heard = await talk(
    hasty,
    'GET http://LOCALHOST/v1/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
  );
  assert.match(heard, /^HTTP\/1\.1 200 /);
});

test('several requests on one connection are answered in order', async () => {
  const scan = (text: string, last = '') => {
    const body = JSON.stringify({ text });
    return `${HEAD}${last}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  };
  const key = ['sk', 'ABCDEF1234567890'].join('-');
  const heard = await talk(patient, `${scan(key)}${scan('hello')}${scan(key, 'Connection: close\r\n')}`);
  const decisions = [...heard.matchAll(/"decision":"(\w+)"/g)].map((match) => match[1]);
  assert.deepEqual(decisions, ['block', 'allow', 'block']);
});

test('a client that sends far too much still learns why', async () => {
  const answer = await fetch(`http://127.0.0.1:${patient.port}/v1/scan/input`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'a'.repeat(LIMIT * 64) }),
  });
  assert.equal(answer.status, 413);
  assert.equal(((await answer.json()) as { code: string }).code, 'too_large');
});

test('a client that goes away in the middle leaves no fault behind', async () => {
  await new Promise<void>((done) => {
    const socket = connect(patient.port, '127.0.0.1', () => {
      socket.write(`${HEAD}Content-Length: 500\r\n\r\n{"text":"`, () => {
        socket.destroy();
        done();
      });
    });
  });
  const answer = await patient.ask({ path: '/v1/health' });
  assert.equal(answer.status, 200);
  assert.deepEqual(patient.logged, []);
});
