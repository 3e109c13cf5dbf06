/** Retries of an unreachable server, and sharing and closing of a connection. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { InMemoryTransport, Server } from '@modelcontextprotocol/server';
import { classifyFailure, ServerFailure, type ServerFailureCode } from './server-failure.ts';
import type { ServerTransport } from './transports.ts';
import { openUpstreamClient, type UpstreamClient } from './upstream-client.ts';

interface Ways {
  opened: number;
  left: number;
  closed: number;
}

/** An upstream in this process; `server` controls whether it is reachable. */
function openTestClient(
  isThere: () => boolean,
  waitMs = 0,
  nowMs = () => performance.now(),
  fault: () => Error = () => Object.assign(new Error('nobody is there'), { code: 'ECONNREFUSED' }),
): { upstream: UpstreamClient; ways: Ways } {
  const ways: Ways = { opened: 0, left: 0, closed: 0 };
  const openTransport = (): ServerTransport => {
    ways.opened += 1;
    const [mine, theirs] = InMemoryTransport.createLinkedPair();
    const server = new Server({ name: 'there', version: '1' }, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/list', () => ({ tools: [] }));
    if (isThere()) void server.connect(theirs);
    else
      mine.start = async () => {
        throw fault();
      };
    return {
      transport: mine as ServerTransport['transport'],
      reports_changes: true,
      endSession: async () => {
        ways.left += 1;
      },
      close: async () => {
        ways.closed += 1;
      },
    };
  };
  const upstream = openUpstreamClient({
    openTransport,
    version: '1',
    connect_ms: 5_000,
    wait_ms: waitMs,
    onChange: () => {},
    now_ms: nowMs,
  });
  return { upstream, ways };
}

const list = (upstream: UpstreamClient) => upstream.use((client) => client.request({ method: 'tools/list' }));
const outcome = (upstream: UpstreamClient) =>
  list(upstream).then(
    () => 'listed',
    (error: unknown) => classifyFailure(error).code,
  );

test('a server that cannot be reached is left alone for pauses that double up to 30 seconds', async () => {
  let clockMs = 0;
  const { upstream, ways } = openTestClient(
    () => false,
    0,
    () => clockMs,
  );
  assert.equal(await outcome(upstream), 'unreachable');
  const pauses = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
  for (const [at, pauseMs] of pauses.entries()) {
    clockMs += pauseMs - 1;
    assert.equal(await outcome(upstream), 'cooldown', `${pauseMs}`);
    assert.equal(ways.opened, at + 1);
    clockMs += 1;
    assert.equal(await outcome(upstream), 'unreachable', `${pauseMs}`);
  }
  assert.equal(ways.opened, pauses.length + 1);
  assert.equal(ways.closed, ways.opened);
});

const REASONS: readonly (readonly [ServerFailureCode, ServerFailureCode])[] = [
  ['metadata', 'metadata'],
  ['other_address', 'other_address'],
  ['redirected', 'redirected'],
  ['unauthorized', 'unauthorized'],
  ['too_long', 'too_long'],
  ['timeout', 'cooldown'],
  ['invalid_response', 'cooldown'],
  ['unreachable', 'cooldown'],
];

test('a server whose configuration is wrong says so during a pause too, until a try fails otherwise', async () => {
  let clockMs = 0;
  let code: ServerFailureCode = 'metadata';
  const { upstream, ways } = openTestClient(
    () => false,
    0,
    () => clockMs,
    () => new Error('it failed', { cause: new ServerFailure(code) }),
  );
  for (const [failure, during] of REASONS) {
    code = failure;
    clockMs += 30_000;
    assert.equal(await outcome(upstream), failure);
    assert.equal(await outcome(upstream), during, failure);
  }
  assert.equal(ways.opened, REASONS.length, 'nothing is tried during a pause');
});

test('callers that may wait are served by a server that came back', async () => {
  let isThere = false;
  const { upstream } = openTestClient(() => isThere, 10_000);
  assert.equal(await outcome(upstream), 'unreachable');
  isThere = true;
  assert.equal(await outcome(upstream), 'listed');
  await upstream.close();
});

test('all share one connection, which is left and closed once', async () => {
  const { upstream, ways } = openTestClient(() => true);
  assert.deepEqual(await Promise.all([outcome(upstream), outcome(upstream)]), ['listed', 'listed']);
  await upstream.close();
  assert.deepEqual(ways, { opened: 1, left: 1, closed: 1 });
  assert.notEqual(await outcome(upstream), 'listed');
  assert.equal(ways.opened, 1, 'nothing is opened after it was closed');
});

test('a server stays connected while a client subscribes to changes, and is reconnected after it ended', {
  timeout: 60_000,
}, async () => {
  let connection: { close: () => Promise<void> } | null = null;
  const { upstream, ways } = openTestClient(() => true, 10_000);
  upstream.attend(true);
  await upstream.use(async (client) => {
    connection = client;
  });
  assert.equal(ways.opened, 1);
  await connection!.close();
  // Ends as soon as the condition holds; else the test times out.
  while (ways.opened < 2) await sleep(20);
  await upstream.close();
});
